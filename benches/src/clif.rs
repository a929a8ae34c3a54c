//! Compiles the same bytecode with Cranelift, by a straightforward translation in which each VM register is a frontend variable.
//!
//! The compiled code has the semantics of azulejo's: the same entry convention, unchecked memory accesses, zero
//! extension of narrow results, and traps in the same places. A function that calls itself takes and returns
//! values in machine registers, as it would in a typical use of Cranelift.

use crate::op::{self, Op};
use crate::programs::Program;
use azulejo::prelude::Bytecode;
use azulejo_core::ir::bytecode::OperandKind;
use azulejo_core::vocab::Scalar;
use cranelift_codegen::Context;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    AbiParam, Block, BlockCall, FuncRef, InstBuilder, JumpTableData, MemFlagsData, Type, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};

/// Cranelift with given settings, and the module that it compiles into.
pub(crate) struct Cranelift {
    module: JITModule,
    context: Context,
    frontend: FunctionBuilderContext,
    callees: [FuncId; 3],
}

/// Machine code compiled by Cranelift.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    /// Its address.
    pub address: *const u8,
    /// Its size, including the constants after it.
    pub bytes: usize,
}

impl Cranelift {
    /// An empty module with these values of `opt_level` and `regalloc_algorithm`.
    pub(crate) fn new(opt_level: &str, allocator: &str) -> Cranelift {
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", opt_level),
            ("regalloc_algorithm", allocator),
            ("enable_verifier", "false"),
            ("unwind_info", "false"),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
        ] {
            flags.set(name, value).expect("Cranelift has this setting");
        }
        let isa = cranelift_native::builder()
            .expect("Cranelift compiles for this machine")
            .finish(settings::Flags::new(flags))
            .expect("the settings agree");
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        builder.symbol("one", op::one as *const u8);
        builder.symbol("six", op::six as *const u8);
        builder.symbol("twelve", op::twelve as *const u8);
        let mut module = JITModule::new(builder);
        let callees = [("one", 1), ("six", 6), ("twelve", 12)].map(|(name, count)| {
            let mut signature = module.make_signature();
            signature.params.extend(vec![AbiParam::new(types::I64); count]);
            signature.returns.push(AbiParam::new(types::I64));
            module.declare_function(name, Linkage::Import, &signature).expect("no other has this name")
        });
        let context = module.make_context();
        Cranelift { module, context, frontend: FunctionBuilderContext::new(), callees }
    }

    /// Translates, compiles and installs a function.
    pub(crate) fn compile(&mut self, program: &Program) -> Code {
        let signature = &mut self.context.func.signature;
        signature.call_conv = CallConv::SystemV;
        let word = AbiParam::new(types::I64);
        if program.calls_itself() {
            signature.params.extend(vec![word; program.args.len()]);
            signature.returns.push(word);
        } else {
            signature.params.extend([word; 3]);
            signature.returns.extend([word; 2]);
        }
        let id = self
            .module
            .declare_anonymous_function(&self.context.func.signature)
            .expect("modules take any number of functions");
        self.translate(program, id);
        self.module.define_function(id, &mut self.context).expect("the function is right");
        let bytes = self.context.compiled_code().expect("it was compiled").code_buffer().len();
        self.module.clear_context(&mut self.context);
        self.module.finalize_definitions().expect("every symbol is known");
        Code { address: self.module.get_finalized_function(id), bytes }
    }

    fn translate(&mut self, program: &Program, id: FuncId) {
        let callees = self.callees.map(|id| self.module.declare_func_in_func(id, &mut self.context.func));
        let own = self.module.declare_func_in_func(id, &mut self.context.func);
        let mut builder = FunctionBuilder::new(&mut self.context.func, &mut self.frontend);
        let registers = register_types(program).into_iter().map(|ty| builder.declare_var(ty)).collect();
        let blocks = blocks(program, &mut builder);
        let mut translator =
            Translator { builder, registers, blocks, pushed: Vec::new(), callees, own, program };
        translator.prologue();
        for (at, op) in program.code.ops.iter().enumerate() {
            translator.op(at, op);
        }
        let Translator { mut builder, .. } = translator;
        builder.seal_all_blocks();
        builder.finalize(self.module.target_config());
    }
}

/// The type of each VM register, which is either an integer or a float throughout a program.
fn register_types(program: &Program) -> Vec<Type> {
    let mut types = vec![types::I64; program.code.registers as usize];
    for op in &program.code.ops {
        let infos = Op::OPCODES[op.opcode()].operands;
        for (info, raw) in infos.iter().zip(op.operands()) {
            let is_register = matches!(info.kind, OperandKind::In | OperandKind::Out);
            if is_register && info.scalar == Some(Scalar::F64) {
                types[raw as usize] = types::F64;
            }
        }
    }
    types
}

/// Creates a block for each instruction that is a jump target or follows a jump.
fn blocks(program: &Program, builder: &mut FunctionBuilder<'_>) -> Vec<Option<Block>> {
    let code = &program.code;
    let mut starts = vec![false; code.ops.len() + 1];
    code.labels.iter().for_each(|to| starts[*to as usize] = true);
    for (at, op) in code.ops.iter().enumerate() {
        let infos = Op::OPCODES[op.opcode()].operands;
        for (info, raw) in infos.iter().zip(op.operands()) {
            if info.kind == OperandKind::Label {
                starts[raw as usize] = true;
                starts[at + 1] = true;
            }
        }
    }
    starts.into_iter().map(|starts| starts.then(|| builder.create_block())).collect()
}

struct Translator<'a> {
    builder: FunctionBuilder<'a>,
    registers: Vec<Variable>,
    /// The block that starts at an instruction.
    blocks: Vec<Option<Block>>,
    /// The arguments of the next call.
    pushed: Vec<Value>,
    callees: [FuncRef; 3],
    own: FuncRef,
    program: &'a Program,
}

/// Accesses are in bounds and aligned.
const TRUSTED: MemFlagsData = MemFlagsData::trusted();

impl Translator<'_> {
    fn prologue(&mut self) {
        let entry = self.builder.create_block();
        self.builder.append_block_params_for_function_params(entry);
        self.builder.switch_to_block(entry);
        for at in 0..self.program.args.len() {
            let value = if self.program.calls_itself() {
                self.builder.block_params(entry)[at]
            } else {
                let frame = self.builder.block_params(entry)[1];
                self.builder.ins().load(types::I64, TRUSTED, frame, 8 * at as i32)
            };
            self.builder.def_var(self.registers[at], value);
        }
        if let Some(first) = self.blocks[0] {
            self.builder.ins().jump(first, &[]);
        }
    }

    fn get(&mut self, register: u32) -> Value {
        self.builder.use_var(self.registers[register as usize])
    }

    fn get32(&mut self, register: u32) -> Value {
        let value = self.get(register);
        self.builder.ins().ireduce(types::I32, value)
    }

    fn set(&mut self, register: u32, value: Value) {
        self.builder.def_var(self.registers[register as usize], value);
    }

    fn set32(&mut self, register: u32, value: Value) {
        let value = self.builder.ins().uextend(types::I64, value);
        self.set(register, value);
    }

    fn constant(&mut self, value: i32) -> Value {
        self.builder.ins().iconst(types::I64, value as i64)
    }

    fn constant32(&mut self, value: i32) -> Value {
        self.builder.ins().iconst(types::I32, value as u32 as i64)
    }

    /// The address of an element.
    fn element(&mut self, base: u32, index: u32, log2: i64) -> Value {
        let (base, index) = (self.get(base), self.get(index));
        if log2 == 0 {
            return self.builder.ins().iadd(base, index);
        }
        let log2 = self.builder.ins().iconst(types::I64, log2);
        let offset = self.builder.ins().ishl(index, log2);
        self.builder.ins().iadd(base, offset)
    }

    fn block(&self, at: usize) -> Block {
        self.blocks[at].expect("what is jumped to starts a block")
    }

    fn branch(&mut self, at: usize, condition: Value, to: u32) {
        let (to, next) = (self.block(to as usize), self.block(at + 1));
        self.builder.ins().brif(condition, to, &[], next, &[]);
    }

    fn compare(&mut self, at: usize, code: IntCC, x: Value, y: Value, to: u32) {
        let condition = self.builder.ins().icmp(code, x, y);
        self.branch(at, condition, to);
    }

    fn call(&mut self, callee: FuncRef, args: &[Value], dst: u32) {
        let call = self.builder.ins().call(callee, args);
        let result = self.builder.inst_results(call)[0];
        self.set(dst, result);
    }

    fn call_pushed(&mut self, callee: usize, dst: u32) {
        let args = std::mem::take(&mut self.pushed);
        self.call(self.callees[callee], &args, dst);
    }

    fn ret(&mut self, value: Value) {
        if self.program.calls_itself() {
            self.builder.ins().return_(&[value]);
        } else {
            let status = self.builder.ins().iconst(types::I64, 0);
            self.builder.ins().return_(&[status, value]);
        }
    }

    fn remainder(&mut self, at: usize, x: Value, y: Value) -> Value {
        let (trap, next) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(trap);
        self.builder.ins().brif(y, next, &[], trap, &[]);
        self.builder.switch_to_block(trap);
        let status = self.builder.ins().iconst(types::I64, 2 << 32 | 1);
        let place = self.builder.ins().iconst(types::I64, at as i64);
        self.builder.ins().return_(&[status, place]);
        self.builder.switch_to_block(next);
        self.builder.ins().urem(x, y)
    }

    fn op(&mut self, at: usize, op: &Op) {
        if let Some(block) = self.blocks[at] {
            if at > 0 && !ends(&self.program.code.ops[at - 1]) {
                self.builder.ins().jump(block, &[]);
            }
            self.builder.switch_to_block(block);
        }
        macro_rules! two {
            ($get:ident $set:ident $op:ident $dst:ident $a:ident $b:ident) => {{
                let (x, y) = (self.$get($a.index), self.$get($b.index));
                let value = self.builder.ins().$op(x, y);
                self.$set($dst.index, value)
            }};
        }
        macro_rules! with_const {
            ($get:ident $set:ident $constant:ident $op:ident $dst:ident $a:ident $k:ident) => {{
                let (x, y) = (self.$get($a.index), self.$constant($k.0));
                let value = self.builder.ins().$op(x, y);
                self.$set($dst.index, value)
            }};
        }
        macro_rules! load {
            ($ty:ident $dst:ident $base:ident $index:ident $log2:literal) => {{
                let address = self.element($base.index, $index.index, $log2);
                let value = self.builder.ins().load(types::$ty, TRUSTED, address, 0);
                self.set($dst.index, value)
            }};
        }
        macro_rules! jump {
            ($code:ident $a:ident $b:ident $to:ident) => {{
                let (x, y) = (self.get($a.index), self.get($b.index));
                self.compare(at, IntCC::$code, x, y, $to.0)
            }};
            ($code:ident $a:ident const $k:ident $to:ident) => {{
                let (x, y) = (self.get($a.index), self.constant($k.0));
                self.compare(at, IntCC::$code, x, y, $to.0)
            }};
            (float $code:ident $a:ident $b:ident $to:ident) => {{
                let (x, y) = (self.get($a.index), self.get($b.index));
                let condition = self.builder.ins().fcmp(FloatCC::$code, x, y);
                self.branch(at, condition, $to.0)
            }};
        }
        match *op {
            Op::Int { dst, value } => {
                let value = self.builder.ins().iconst(types::I64, value.0);
                self.set(dst.index, value)
            }
            Op::Float { dst, value } => {
                let value = self.builder.ins().f64const(value.0);
                self.set(dst.index, value)
            }
            Op::Move { dst, a } => {
                let value = self.get(a.index);
                self.set(dst.index, value)
            }
            Op::MoveFloat { dst, a } => {
                let value = self.get(a.index);
                self.set(dst.index, value)
            }
            Op::Add { dst, a, b } => two!(get set iadd dst a b),
            Op::Sub { dst, a, b } => two!(get set isub dst a b),
            Op::Mul { dst, a, b } => two!(get set imul dst a b),
            Op::And { dst, a, b } => two!(get set band dst a b),
            Op::Or { dst, a, b } => two!(get set bor dst a b),
            Op::Xor { dst, a, b } => two!(get set bxor dst a b),
            Op::Shl { dst, a, b } => two!(get set ishl dst a b),
            Op::Shr { dst, a, b } => two!(get set ushr dst a b),
            Op::Sar { dst, a, b } => two!(get set sshr dst a b),
            Op::Rem { dst, a, b } => {
                let (x, y) = (self.get(a.index), self.get(b.index));
                let value = self.remainder(at, x, y);
                self.set(dst.index, value)
            }
            Op::Less { dst, a, b } => {
                let (x, y) = (self.get(a.index), self.get(b.index));
                let flag = self.builder.ins().icmp(IntCC::SignedLessThan, x, y);
                let value = self.builder.ins().uextend(types::I64, flag);
                self.set(dst.index, value)
            }
            Op::AddConst { dst, a, k } => with_const!(get set constant iadd dst a k),
            Op::MulConst { dst, a, k } => with_const!(get set constant imul dst a k),
            Op::AndConst { dst, a, k } => with_const!(get set constant band dst a k),
            Op::XorConst { dst, a, k } => with_const!(get set constant bxor dst a k),
            Op::ShlConst { dst, a, k } => with_const!(get set constant ishl dst a k),
            Op::ShrConst { dst, a, k } => with_const!(get set constant ushr dst a k),
            Op::SarConst { dst, a, k } => with_const!(get set constant sshr dst a k),
            Op::RotlConst { dst, a, k } => with_const!(get set constant rotl dst a k),
            Op::Add32 { dst, a, b } => two!(get32 set32 iadd dst a b),
            Op::Sub32 { dst, a, b } => two!(get32 set32 isub dst a b),
            Op::Mul32 { dst, a, b } => two!(get32 set32 imul dst a b),
            Op::Xor32 { dst, a, b } => two!(get32 set32 bxor dst a b),
            Op::AddConst32 { dst, a, k } => with_const!(get32 set32 constant32 iadd dst a k),
            Op::RotlConst32 { dst, a, k } => with_const!(get32 set32 constant32 rotl dst a k),
            Op::AddFloat { dst, a, b } => two!(get set fadd dst a b),
            Op::SubFloat { dst, a, b } => two!(get set fsub dst a b),
            Op::MulFloat { dst, a, b } => two!(get set fmul dst a b),
            Op::DivFloat { dst, a, b } => two!(get set fdiv dst a b),
            Op::SqrtFloat { dst, a } => {
                let x = self.get(a.index);
                let value = self.builder.ins().sqrt(x);
                self.set(dst.index, value)
            }
            Op::ToFloat { dst, a } => {
                let x = self.get(a.index);
                let value = self.builder.ins().fcvt_from_sint(types::F64, x);
                self.set(dst.index, value)
            }
            Op::LoadU8 { dst, base, index } => {
                let address = self.element(base.index, index.index, 0);
                let value = self.builder.ins().uload8(types::I64, TRUSTED, address, 0);
                self.set(dst.index, value)
            }
            Op::LoadI32 { dst, base, index } => {
                let address = self.element(base.index, index.index, 2);
                let value = self.builder.ins().uload32(TRUSTED, address, 0);
                self.set(dst.index, value)
            }
            Op::LoadI64 { dst, base, index } => load!(I64 dst base index 3),
            Op::LoadF64 { dst, base, index } => load!(F64 dst base index 3),
            Op::StoreU8 { base, index, a } => {
                let (address, value) = (self.element(base.index, index.index, 0), self.get(a.index));
                self.builder.ins().istore8(TRUSTED, value, address, 0);
            }
            Op::StoreI32 { base, index, a } => {
                let (address, value) = (self.element(base.index, index.index, 2), self.get(a.index));
                self.builder.ins().istore32(TRUSTED, value, address, 0);
            }
            Op::StoreI64 { base, index, a } => self.store(base.index, index.index, a.index),
            Op::StoreF64 { base, index, a } => self.store(base.index, index.index, a.index),
            Op::GetF64 { dst, base, offset } => {
                let base = self.get(base.index);
                let value = self.builder.ins().load(types::F64, TRUSTED, base, offset.0);
                self.set(dst.index, value)
            }
            Op::PutF64 { base, offset, a } => {
                let (base, value) = (self.get(base.index), self.get(a.index));
                self.builder.ins().store(TRUSTED, value, base, offset.0);
            }
            Op::Jump { to } => {
                let to = self.block(to.0 as usize);
                self.builder.ins().jump(to, &[]);
            }
            Op::JumpEq { a, b, to } => jump!(Equal a b to),
            Op::JumpNe { a, b, to } => jump!(NotEqual a b to),
            Op::JumpLt { a, b, to } => jump!(SignedLessThan a b to),
            Op::JumpLe { a, b, to } => jump!(SignedLessThanOrEqual a b to),
            Op::JumpEqConst { a, k, to } => jump!(Equal a const k to),
            Op::JumpNeConst { a, k, to } => jump!(NotEqual a const k to),
            Op::JumpLtConst { a, k, to } => jump!(SignedLessThan a const k to),
            Op::JumpLt32 { a, b, to } => {
                let (x, y) = (self.get32(a.index), self.get32(b.index));
                self.compare(at, IntCC::SignedLessThan, x, y, to.0)
            }
            Op::JumpLtFloat { a, b, to } => jump!(float LessThan a b to),
            Op::JumpLeFloat { a, b, to } => jump!(float LessThanOrEqual a b to),
            Op::Switch { a, to } => self.switch(a.index, to.first as usize, to.count as usize),
            Op::Push { a, .. } => {
                let value = self.get(a.index);
                self.pushed.push(value)
            }
            Op::Call1 { dst, a } => {
                let a = self.get(a.index);
                self.call(self.callees[0], &[a], dst.index)
            }
            Op::Call6 { dst, .. } => self.call_pushed(1, dst.index),
            Op::Call12 { dst, .. } => self.call_pushed(2, dst.index),
            Op::Invoke { dst, a, .. } => {
                let a = self.get(a.index);
                self.call(self.own, &[a], dst.index)
            }
            Op::Return { a } => {
                let value = self.get(a.index);
                self.ret(value)
            }
            Op::ReturnFloat { a } => {
                let value = self.get(a.index);
                let bits = self.builder.ins().bitcast(types::I64, MemFlagsData::new(), value);
                self.ret(bits)
            }
        }
    }

    fn store(&mut self, base: u32, index: u32, a: u32) {
        let (address, value) = (self.element(base, index, 3), self.get(a));
        self.builder.ins().store(TRUSTED, value, address, 0);
    }

    fn switch(&mut self, a: u32, first: usize, count: usize) {
        let value = self.get(a);
        // A jump table takes a 32-bit index, which covers all values that the programs switch on.
        let value = self.builder.ins().ireduce(types::I32, value);
        let labels = &self.program.code.labels[first..first + count];
        let places: Vec<Block> = labels.iter().map(|to| self.block(*to as usize)).collect();
        let pool = &mut self.builder.func.dfg.value_lists;
        let calls: Vec<BlockCall> =
            places.iter().map(|to| BlockCall::new(*to, std::iter::empty(), pool)).collect();
        let (last, cases) = calls.split_last().expect("a switch has labels");
        let table = self.builder.create_jump_table(JumpTableData::new(*last, cases));
        self.builder.ins().br_table(value, table);
    }
}

/// Whether an instruction becomes a terminator of its block.
fn ends(op: &Op) -> bool {
    let jumps = Op::OPCODES[op.opcode()].operands.iter().any(|info| info.kind == OperandKind::Label);
    jumps || matches!(op, Op::Switch { .. } | Op::Return { .. } | Op::ReturnFloat { .. })
}
