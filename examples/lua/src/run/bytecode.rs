//! The bytecode. What each opcode means is in `templates`.
//!
//! A function's VM register 0 is its closure. The parameters follow, then, in a vararg function, a pack of the arguments behind them, then
//! local variables and temporaries. A variable that inner functions use and somebody assigns to is in a cell, whose address its register has.
//!
//! A call has one result in a VM register; those behind it, and their number, are in the context. Who wants one does not look.

use super::cases::{CallCase, ElementCase, FieldCase, OperatorCase};
use super::vm::Vm;
use crate::object::value::{NIL, TABLE};
use azulejo::prelude::*;
use azulejo::{Regs, RegsMut, Site};

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm, pinned(NIL, TABLE.wrapping_neg()))]
#[rustfmt::skip]
#[allow(missing_docs, reason = "operands are called what they are")]
pub(crate) enum Op {
    Const { dst: Out<u64>, value: Imm<u64> },
    Move { dst: Out<u64>, a: In<u64> },
    /// Nothing; but up to here the register has its value, for the collector and for the library `debug`.
    Keep { a: In<u64> },
    /// The value of a variable that nobody assigns to.
    GetUpvalue { dst: Out<u64>, closure: In<u64>, at: Imm<u16> },
    /// The value of a variable in a cell that the closure has.
    GetSharedUpvalue { dst: Out<u64>, closure: In<u64>, at: Imm<u16> },
    SetSharedUpvalue { closure: In<u64>, at: Imm<u16>, value: In<u64> },
    NewCell { dst: Out<u64>, value: In<u64> },
    GetCell { dst: Out<u64>, cell: In<u64> },
    SetCell { cell: In<u64>, value: In<u64> },
    GetGlobal { dst: Out<u64>, closure: In<u64>, key: Imm<u64>, cache: Site<FieldCase, 2>, seen: Site<ElementCase, 1> },
    SetGlobal { closure: In<u64>, key: Imm<u64>, value: In<u64>, cache: Site<FieldCase, 2>, seen: Site<ElementCase, 1> },
    GetField { dst: Out<u64>, object: In<u64>, key: Imm<u64>, cache: Site<FieldCase, 4>, seen: Site<ElementCase, 1> },
    /// As `GetField`, where a method is called: also of a string.
    GetMethod { dst: Out<u64>, object: In<u64>, key: Imm<u64>, cache: Site<FieldCase, 4>, seen: Site<ElementCase, 1> },
    SetField { object: In<u64>, key: Imm<u64>, value: In<u64>, cache: Site<FieldCase, 4>, seen: Site<ElementCase, 1> },
    GetIndex { dst: Out<u64>, object: In<u64>, key: In<u64>, seen: Site<ElementCase, 1>, by: Site<OperatorCase, 1> },
    SetIndex { object: In<u64>, key: In<u64>, value: In<u64>, seen: Site<ElementCase, 2>, by: Site<OperatorCase, 1> },
    NewTable { dst: Out<u64>, slots: Imm<u32>, elements: Imm<u32> },
    /// A table of a [`Layout`](crate::object::layout::Layout), with its shape, and how many elements and slots it has. Its values are put there
    /// at once. The collector works in front of this, and not again before they are there: so it need not be told of them.
    NewObject { dst: Out<u64>, layout: Imm<u64>, shape: Imm<u64>, counts: Imm<u64> },
    PutElement { object: In<u64>, value: In<u64>, at: Imm<u32> },
    PutField { object: In<u64>, value: In<u64>, at: Imm<u32> },
    /// Elements from a position on.
    SetList { table: In<u64>, first: Imm<u32>, values: Regs },
    SetListAndResults { table: In<u64>, first: Imm<u32>, values: Regs },
    SetListAndVarargs { table: In<u64>, first: Imm<u32>, values: Regs, pack: In<u64> },
    NewClosure { dst: Out<u64>, closure: In<u64>, definition: Imm<u64>, upvalues: Regs },
    Add { dst: Out<u64>, a: In<u64>, b: In<u64>, cache: Site<OperatorCase, 1> },
    Subtract { dst: Out<u64>, a: In<u64>, b: In<u64>, cache: Site<OperatorCase, 1> },
    Multiply { dst: Out<u64>, a: In<u64>, b: In<u64>, cache: Site<OperatorCase, 1> },
    Divide { dst: Out<u64>, a: In<u64>, b: In<u64>, cache: Site<OperatorCase, 1> },
    Modulo { dst: Out<u64>, a: In<u64>, b: In<u64>, cache: Site<OperatorCase, 1> },
    Power { dst: Out<u64>, a: In<u64>, b: In<u64>, cache: Site<OperatorCase, 1> },
    AddConst { dst: Out<u64>, a: In<u64>, k: Imm<f64>, cache: Site<OperatorCase, 1> },
    SubtractConst { dst: Out<u64>, a: In<u64>, k: Imm<f64>, cache: Site<OperatorCase, 1> },
    MultiplyConst { dst: Out<u64>, a: In<u64>, k: Imm<f64>, cache: Site<OperatorCase, 1> },
    DivideConst { dst: Out<u64>, a: In<u64>, k: Imm<f64>, cache: Site<OperatorCase, 1> },
    ModuloConst { dst: Out<u64>, a: In<u64>, k: Imm<f64>, cache: Site<OperatorCase, 1> },
    PowerConst { dst: Out<u64>, a: In<u64>, k: Imm<f64>, cache: Site<OperatorCase, 1> },
    ConstAdd { dst: Out<u64>, k: Imm<f64>, b: In<u64>, cache: Site<OperatorCase, 1> },
    ConstSubtract { dst: Out<u64>, k: Imm<f64>, b: In<u64>, cache: Site<OperatorCase, 1> },
    ConstMultiply { dst: Out<u64>, k: Imm<f64>, b: In<u64>, cache: Site<OperatorCase, 1> },
    ConstDivide { dst: Out<u64>, k: Imm<f64>, b: In<u64>, cache: Site<OperatorCase, 1> },
    Negate { dst: Out<u64>, a: In<u64>, cache: Site<OperatorCase, 1> },
    Not { dst: Out<u64>, a: In<u64> },
    Length { dst: Out<u64>, a: In<u64> },
    Concat { dst: Out<u64>, values: Regs },
    Jump { to: Label },
    JumpIfTrue { a: In<u64>, to: Label },
    JumpIfFalse { a: In<u64>, to: Label },
    JumpIfEqual { a: In<u64>, b: In<u64>, to: Label, cache: Site<OperatorCase, 1> },
    JumpIfNotEqual { a: In<u64>, b: In<u64>, to: Label, cache: Site<OperatorCase, 1> },
    JumpIfIs { a: In<u64>, value: Imm<u64>, to: Label },
    JumpIfIsNot { a: In<u64>, value: Imm<u64>, to: Label },
    JumpIfNumber { a: In<u64>, k: Imm<f64>, to: Label },
    JumpIfNotNumber { a: In<u64>, k: Imm<f64>, to: Label },
    JumpIfLess { a: In<u64>, b: In<u64>, to: Label, cache: Site<OperatorCase, 1> },
    JumpIfNotLess { a: In<u64>, b: In<u64>, to: Label, cache: Site<OperatorCase, 1> },
    JumpIfLessEqual { a: In<u64>, b: In<u64>, to: Label, cache: Site<OperatorCase, 1> },
    JumpIfNotLessEqual { a: In<u64>, b: In<u64>, to: Label, cache: Site<OperatorCase, 1> },
    JumpIfLessConst { a: In<u64>, k: Imm<f64>, to: Label },
    JumpIfNotLessConst { a: In<u64>, k: Imm<f64>, to: Label },
    JumpIfLessEqualConst { a: In<u64>, k: Imm<f64>, to: Label },
    JumpIfNotLessEqualConst { a: In<u64>, k: Imm<f64>, to: Label },
    JumpIfGreaterConst { a: In<u64>, k: Imm<f64>, to: Label },
    JumpIfNotGreaterConst { a: In<u64>, k: Imm<f64>, to: Label },
    JumpIfGreaterEqualConst { a: In<u64>, k: Imm<f64>, to: Label },
    JumpIfNotGreaterEqualConst { a: In<u64>, k: Imm<f64>, to: Label },
    /// Makes a number of what a loop starts with, or fails; says which it is.
    ForNumber { a: InOut<u64>, which: Imm<u32> },
    /// Goes to the end if there is no iteration. As C's Lua, it takes the step away and adds it again.
    ForPrepare { index: InOut<u64>, limit: In<u64>, step: In<u64>, end: Label },
    ForLoop { index: InOut<u64>, limit: In<u64>, step: In<u64>, to: Label },
    /// A loop whose step is a constant above zero.
    ForLoopUp { index: InOut<u64>, limit: In<u64>, step: Imm<f64>, to: Label },
    /// A loop whose step is a constant below zero.
    ForLoopDown { index: InOut<u64>, limit: In<u64>, step: Imm<f64>, to: Label },
    /// One iteration of a loop by `ipairs`, if it is one, and the next element is in the table's array or nowhere. The position is the index, as
    /// a whole number. At the end `index` is nil. Otherwise this does nothing, and a call of the function follows.
    ForEachIndex { function: In<u64>, state: In<u64>, control: InOut<u64>, position: InOut<u64>, index: Out<u64>, value: Out<u64>, to: Label, end: Label },
    /// Likewise of a loop by `pairs`: the position behind which it goes on is in a register. At the end `key` is nil.
    ForEachPair { function: In<u64>, state: In<u64>, control: InOut<u64>, position: InOut<u64>, key: Out<u64>, value: Out<u64>, to: Label, end: Label },
    /// Goes on with a loop by an iterator if the first variable is not nil: it controls the loop from now on.
    ForEach { first: In<u64>, control: Out<u64>, to: Label },
    Call0 { dst: Out<u64>, function: In<u64>, cache: Site<CallCase, 1> },
    Call1 { dst: Out<u64>, function: In<u64>, a: In<u64>, cache: Site<CallCase, 1> },
    Call2 { dst: Out<u64>, function: In<u64>, a: In<u64>, b: In<u64>, cache: Site<CallCase, 1> },
    Call3 { dst: Out<u64>, function: In<u64>, a: In<u64>, b: In<u64>, c: In<u64>, cache: Site<CallCase, 1> },
    /// A call with any number of arguments: the function, and those. The function is in the first of the registers.
    Call { dst: Out<u64>, function: In<u64>, call: Regs, cache: Site<CallCase, 1> },
    /// Goes on at the next bytecode if the last call has given one result. Then a call with all its results has as many arguments as registers.
    IfOneResult { otherwise: Label },
    /// As `Call`, with all results of the last call behind the other arguments.
    CallWithResults { dst: Out<u64>, call: Regs },
    /// As `Call`, with the values of `...` behind the other arguments.
    CallWithVarargs { dst: Out<u64>, call: Regs, pack: In<u64> },
    /// As `Call`, of what is `select` nearly always, by a number. Nobody wants more than the first result.
    SelectValue { dst: Out<u64>, function: In<u64>, which: In<u64>, call: Regs, cache: Site<CallCase, 1> },
    CountValues { dst: Out<u64>, function: In<u64>, call: Regs, cache: Site<CallCase, 1> },
    /// Ends the function with the call of a closure. If it is none that is called, this does nothing, and a call follows.
    TailCall0 { function: In<u64>, cache: Site<CallCase, 1> },
    TailCall1 { function: In<u64>, a: In<u64>, cache: Site<CallCase, 1> },
    TailCall2 { function: In<u64>, a: In<u64>, b: In<u64>, cache: Site<CallCase, 1> },
    TailCall3 { function: In<u64>, a: In<u64>, b: In<u64>, c: In<u64>, cache: Site<CallCase, 1> },
    TailCall { function: In<u64>, call: Regs, cache: Site<CallCase, 1> },
    TailCallWithResults { call: Regs },
    TailCallWithVarargs { call: Regs, pack: In<u64> },
    /// As many of the values of `...` as there are registers; nil for those that are missing.
    TakeVarargs { values: RegsMut, pack: In<u64> },
    /// As many of the last call's results as there are registers, the first of which is in its register already; nil for those that are missing.
    TakeResults { results: RegsMut },
    TakeTwo { a: InOut<u64>, b: Out<u64> },
    TakeThree { a: InOut<u64>, b: Out<u64>, c: Out<u64> },
    /// Lets the collector work: a call of a vararg function has made a pack.
    Collect,
    /// The table of the arguments behind the parameters.
    NewArg { dst: Out<u64>, pack: In<u64> },
    /// Lets a hook see where the program is, and keeps the values.
    Look { values: Regs, kind: Imm<u32>, callee: In<u64> },
    /// Leaves compiled code for what stands behind it if the number at this address, which other threads change, is not zero.
    SampleIfDue { due: Imm<u64>, past: Label },
    /// Takes a sample of where the program is.
    TakeSample,
    Return0,
    Return { a: In<u64> },
    ReturnTwo { a: In<u64>, b: In<u64> },
    ReturnThree { a: In<u64>, b: In<u64>, c: In<u64> },
    ReturnMany { values: Regs },
    /// Returns values and then all results of the last call.
    ReturnResults { values: Regs },
    /// Returns values and then those of `...`.
    ReturnVarargs { values: Regs, pack: In<u64> },
    /// `pcall`: calls the first of these with the others, and catches what fails.
    ProtectedCall { dst: Out<u64>, pack: In<u64> },
    /// `xpcall`: calls a function, and lets another one handle what fails.
    HandledCall { dst: Out<u64>, function: In<u64>, handler: In<u64> },
    /// As `ProtectedCall`, of a function and few arguments, some of which may be missing.
    ProtectedFew { dst: Out<u64>, function: In<u64>, a: In<u64>, b: In<u64> },
    /// `coroutine.yield`.
    Yield { dst: Out<u64>, pack: In<u64> },
    /// As `Yield`, of few values, some of which may be missing.
    YieldFew { dst: Out<u64>, a: In<u64>, b: In<u64>, c: In<u64> },
    /// Returns the first of the results that there are.
    ReturnGiven { a: In<u64> },
}
