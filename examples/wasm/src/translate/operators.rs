//! Translation of the instructions that are not plain: constants, locals, control, calls, and access to the module's other parts.
//!
//! In: instructions, one at a time, as method calls from `wasmparser`. The methods for plain
//! instructions are generated from the table, and the others are written here.

use super::Translator;
use super::stack::{ValuePlace, for_kind};
use crate::bytecode::{Kind, Op, compare, kind, plain};
use azulejo::prelude::*;
use wasmparser::{FrameKind, FrameStack, FuncType, HeapType, Ieee32, Ieee64, ValType, VisitOperator};

/// Calls the translator for each instruction.
pub(super) struct Visitor<'t, 'a>(pub(super) &'t mut Translator<'a>);

/// Makes the visitor call the translator's own method if it has one, and otherwise the one generated from the table: inherent
/// methods take precedence over trait methods.
macro_rules! visit {
    ($(@$proposal:ident $op:ident $({ $($operand:ident: $ty:ty),* })? => $visit:ident ($($arity:tt)*))*) => {
        #[allow(dead_code, unused_variables, reason = "not all instructions are plain")]
        trait Plain<'a> {
            $(fn $visit(&mut self $($(, $operand: $ty)*)?);)*
        }

        impl<'a> Plain<'a> for Translator<'_> {
            $(#[allow(unused_variables, reason = "what is not supported has operands too")]
            fn $visit(&mut self $($(, $operand: $ty)*)?) { plain!($op self ($($($operand)*)?)) })*
        }

        impl<'a> VisitOperator<'a> for Visitor<'_, '_> {
            type Output = ();

            $(fn $visit(&mut self $($(, $operand: $ty)*)?) {
                if self.0.is_reachable || self.0.follow(stringify!($op)) {
                    self.0.$visit($($($operand),*)?)
                }
            })*
        }
    };
}
wasmparser::for_each_visit_operator!(visit);

impl FrameStack for Visitor<'_, '_> {
    /// The body is known to be valid, so any instruction may follow, including an `else`.
    fn current_frame(&self) -> Option<FrameKind> {
        Some(FrameKind::If)
    }
}

impl Translator<'_> {
    /// Tracks unreachable frames. Returns whether the instruction must be translated.
    #[cold]
    fn follow(&mut self, instruction: &str) -> bool {
        match instruction {
            "Block" | "Loop" | "If" => self.skipped += 1,
            "End" if self.skipped > 0 => self.skipped -= 1,
            "End" => return true,
            "Else" => return self.skipped == 0,
            _ => {}
        }
        false
    }

    fn visit_unreachable(&mut self) {
        self.emit(Op::Unreachable {});
        self.stop();
    }

    fn visit_nop(&mut self) {}

    fn visit_drop(&mut self) {
        self.pop_value();
    }

    fn visit_select(&mut self) {
        let (flag, b) = (self.pop(), self.pop());
        let kind = self.stack.last().expect("the body is valid").kind;
        let a = self.pop();
        let dst = self.result(kind);
        self.emit(for_kind!(kind, SelectI32 SelectI64 SelectF32 SelectF64 { dst, a, b, flag }));
    }

    fn visit_typed_select(&mut self, _: ValType) {
        self.visit_select();
    }

    fn visit_i32_const(&mut self, value: i32) {
        self.push(Kind::I32, ValuePlace::Constant(value as u32 as u64));
    }

    fn visit_i64_const(&mut self, value: i64) {
        self.push(Kind::I64, ValuePlace::Constant(value as u64));
    }

    fn visit_f32_const(&mut self, value: Ieee32) {
        self.push(Kind::F32, ValuePlace::Constant(value.bits() as u64));
    }

    fn visit_f64_const(&mut self, value: Ieee64) {
        self.push(Kind::F64, ValuePlace::Constant(value.bits()));
    }

    fn visit_ref_null(&mut self, _: HeapType) {
        self.push(Kind::I64, ValuePlace::Constant(0));
    }

    fn visit_ref_func(&mut self, function: u32) {
        let reference = self.names.functions[function as usize] as u64 + 1;
        self.push(Kind::I64, ValuePlace::Constant(reference));
    }

    fn visit_local_get(&mut self, local: u32) {
        self.push(self.locals[local as usize], ValuePlace::Local(local));
    }

    fn visit_local_set(&mut self, local: u32) {
        self.set_local(local);
        self.pop_value();
    }

    fn visit_local_tee(&mut self, local: u32) {
        self.set_local(local);
    }

    fn visit_call(&mut self, function: u32) {
        let ty = self.names.parts.function_type(function);
        let function = Imm(self.names.functions[function as usize]);
        let op_for = |dst, args| Op::CallFor { dst, function, args };
        self.call(ty, |args| Op::Call { function, args }, op_for);
    }

    fn visit_call_indirect(&mut self, ty: u32, table: u32) {
        let function = self.callee(table, ty).into();
        let op_for = |dst, args| Op::CallAnyFor { dst, function, args };
        self.call(&self.names.parts.types[ty as usize], |args| Op::CallAny { function, args }, op_for);
    }

    fn visit_return_call(&mut self, function: u32) {
        let args = self.arguments(self.names.parts.function_type(function).params().len());
        let function = Imm(self.names.functions[function as usize]);
        self.emit(Op::TailCall { function, args });
        self.stop();
    }

    fn visit_return_call_indirect(&mut self, ty: u32, table: u32) {
        let function = self.callee(table, ty).into();
        let args = self.arguments(self.names.parts.types[ty as usize].params().len());
        self.emit(Op::TailCallAny { function, args });
        self.stop();
    }

    /// Emits a call with the topmost values as arguments.
    fn call(
        &mut self,
        ty: &FuncType,
        op: impl FnOnce(Regs) -> Op,
        op_for: impl FnOnce(Out<i64>, Regs) -> Op,
    ) {
        let args = self.arguments(ty.params().len());
        let Some((&first, others)) = ty.results().split_first() else { return self.emit(op(args)) };
        let dst = self.result(first.into()).into();
        self.emit(op_for(dst, args));
        for (index, &ty) in (1..).zip(others) {
            let dst = self.result(ty.into()).into();
            self.emit(Op::Take { dst, index: Imm(index) });
        }
    }

    /// The register that holds the number of the function in an element of a table.
    fn callee(&mut self, table: u32, ty: u32) -> u32 {
        let index = self.pop().into();
        // The register after the arguments, which held the index.
        let register = self.register(self.stack.len());
        let (table, ty) = (self.table(table), Imm(self.names.types[ty as usize]));
        self.emit(Op::Callee { dst: register.into(), index, table, ty });
        register
    }

    fn table(&self, table: u32) -> Imm<u64> {
        Imm(self.names.tables[table as usize].addr() as u64)
    }

    fn global(&self, global: u32) -> Imm<u64> {
        Imm(self.names.globals[global as usize].addr() as u64)
    }

    fn visit_global_get(&mut self, global: u32) {
        let ty = self.names.parts.globals[global as usize].content_type;
        let dst = self.result(ty.into()).into();
        self.emit(Op::GlobalGet { dst, global: self.global(global) });
    }

    fn visit_global_set(&mut self, global: u32) {
        let a = self.pop().into();
        self.emit(Op::GlobalSet { a, global: self.global(global) });
    }

    fn visit_table_get(&mut self, table: u32) {
        let (index, table) = (self.pop().into(), self.table(table));
        let dst = self.result(Kind::I64).into();
        self.emit(Op::TableGet { dst, index, table });
    }

    fn visit_table_set(&mut self, table: u32) {
        let (a, index, table) = (self.pop().into(), self.pop().into(), self.table(table));
        self.emit(Op::TableSet { index, a, table });
    }

    fn visit_table_size(&mut self, table: u32) {
        let dst = self.result(Kind::I32).into();
        self.emit(Op::TableSize { dst, table: self.table(table) });
    }

    fn visit_table_grow(&mut self, table: u32) {
        let (count, value, table) = (self.pop().into(), self.pop().into(), self.table(table));
        let dst = self.result(Kind::I32).into();
        self.emit(Op::TableGrow { dst, value, count, table });
    }

    fn visit_table_fill(&mut self, table: u32) {
        let (count, value, to) = (self.pop().into(), self.pop().into(), self.pop().into());
        self.emit(Op::TableFill { to, value, count, table: self.table(table) });
    }

    /// Pops the operands of an instruction on two ranges: both start indices and the count.
    fn ranges(&mut self) -> (In<u32>, In<u32>, In<u32>) {
        let (count, from, to) = (self.pop(), self.pop(), self.pop());
        (to.into(), from.into(), count.into())
    }

    fn visit_table_copy(&mut self, to_table: u32, from_table: u32) {
        let (to, from, count) = self.ranges();
        let tables = Imm((to_table as u64) << 32 | from_table as u64);
        self.emit(Op::TableCopy { to, from, count, tables });
    }

    fn visit_table_init(&mut self, segment: u32, table: u32) {
        let (to, from, count) = self.ranges();
        let which = Imm((table as u64) << 32 | segment as u64);
        self.emit(Op::TableInit { to, from, count, which });
    }

    fn visit_elem_drop(&mut self, segment: u32) {
        self.emit(Op::ElemDrop { segment: Imm(segment) });
    }

    fn visit_memory_size(&mut self, _: u32) {
        let dst = self.result(Kind::I32).into();
        self.emit(Op::MemorySize { dst });
    }

    fn visit_memory_grow(&mut self, _: u32) {
        let count = self.pop().into();
        let dst = self.result(Kind::I32).into();
        self.emit(Op::MemoryGrow { dst, count });
    }

    fn visit_memory_fill(&mut self, _: u32) {
        let (to, value, count) = self.ranges();
        self.emit(Op::MemoryFill { to, value, count });
    }

    fn visit_memory_copy(&mut self, _: u32, _: u32) {
        let (to, from, count) = self.ranges();
        self.emit(Op::MemoryCopy { to, from, count });
    }

    fn visit_memory_init(&mut self, segment: u32, _: u32) {
        let (to, from, count) = self.ranges();
        self.emit(Op::MemoryInit { to, from, count, segment: Imm(segment) });
    }

    fn visit_data_drop(&mut self, segment: u32) {
        self.emit(Op::DataDrop { segment: Imm(segment) });
    }
}
