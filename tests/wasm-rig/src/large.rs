//! Writes a module of more than a megabyte: thousands of functions with bodies like those that compilers make of ordinary
//! code.
//!
//! Each function takes a depth and a number and mixes the number with locals, globals and memory: nested expressions,
//! branches, counting loops, switches, and calls to other functions until the depth is used up, both direct and through the
//! table. Everything terminates, nothing traps, and the results are deterministic. The exported `run` enters one function.

use azulejo_core::random::Random;
use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, ElementSection, Elements, ExportKind, ExportSection, Function,
    FunctionSection, GlobalSection, GlobalType, InstructionSink, MemArg, MemArgTarget, MemorySection,
    MemoryType, Module, RefType, TableSection, TableType, TypeSection, ValType,
};

/// Parameters and locals of each function.
mod local {
    pub(super) const DEPTH: u32 = 0;
    pub(super) const NUMBER: u32 = 1;
    /// The loop counter.
    pub(super) const COUNT: u32 = 2;
    pub(super) const INTS: std::ops::Range<u32> = 3..8;
    pub(super) const LONGS: std::ops::Range<u32> = 8..11;
    pub(super) const FLOATS: std::ops::Range<u32> = 11..14;
}

/// The mask for addresses. The memory is one page, and a small offset is added.
const ADDRESSES: i32 = 0x7ff8;

/// The number of functions in the table, a power of two.
const TABLE: u32 = 64;

/// The recursion depth of `run`.
const DEPTH: i32 = 3;

/// A module with this many functions, of about four hundred bytes each.
pub fn module(n_functions: u32) -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32, ValType::I64], [ValType::I64]);
    types.ty().function([ValType::I32], [ValType::I64]);
    let mut functions = FunctionSection::new();
    functions.function(1);
    for _ in 0..n_functions {
        functions.function(0);
    }
    let mut tables = TableSection::new();
    let (minimum, maximum) = (u64::from(TABLE), Some(u64::from(TABLE)));
    tables.table(TableType {
        element_type: RefType::FUNCREF,
        minimum,
        maximum,
        table64: false,
        shared: false,
    });
    let mut memories = MemorySection::new();
    let page = MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None };
    memories.memory(page);
    let mut globals = GlobalSection::new();
    let counter = GlobalType { val_type: ValType::I64, mutable: true, shared: false };
    globals.global(counter, &ConstExpr::i64_const(1));
    let mut exports = ExportSection::new();
    exports.export("run", ExportKind::Func, 0).export("memory", ExportKind::Memory, 0);
    let mut random = Random::new(1);
    let mut elements = ElementSection::new();
    let in_table: Vec<u32> = (0..TABLE).map(|_| 1 + random.below(n_functions as usize) as u32).collect();
    elements.active(None, &ConstExpr::i32_const(0), Elements::Functions(in_table.into()));
    let mut code = CodeSection::new();
    let mut run = Function::new([]);
    run.instructions().i32_const(DEPTH).local_get(0).i64_extend_i32_u().call(1).end();
    code.function(&run);
    for _ in 0..n_functions {
        code.function(&Writer { n_functions, random: &mut random }.function());
    }
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&tables).section(&memories).section(&globals);
    module.section(&exports).section(&elements).section(&code);
    module.finish()
}

/// Writes one function.
struct Writer<'a> {
    n_functions: u32,
    random: &'a mut Random,
}

impl Writer<'_> {
    fn function(mut self) -> Function {
        let count = |locals: std::ops::Range<u32>| locals.len() as u32;
        let mut function = Function::new([
            (1 + count(local::INTS), ValType::I32),
            (count(local::LONGS), ValType::I64),
            (count(local::FLOATS), ValType::F64),
        ]);
        let mut sink = function.instructions();
        // Initialise all locals: compiled programs do not compute with the initial zeros.
        for int in local::INTS {
            sink.local_get(local::NUMBER).i64_const(i64::from(int)).i64_rotl().i32_wrap_i64().local_set(int);
        }
        for long in local::LONGS {
            sink.local_get(local::NUMBER).i64_const(i64::from(long)).i64_mul().local_set(long);
        }
        for float in local::FLOATS {
            sink.local_get(float - 3).f64_convert_i64_s().local_set(float);
        }
        for _ in 0..4 + self.random.below(8) {
            self.statement(&mut sink, 2);
        }
        // Mix all locals into the result.
        sink.local_get(local::NUMBER);
        for int in local::INTS {
            sink.local_get(int).i64_extend_i32_s().i64_add();
        }
        for long in local::LONGS {
            sink.local_get(long).i64_xor();
        }
        for float in local::FLOATS {
            sink.local_get(float).i64_trunc_sat_f64_s().i64_add();
        }
        sink.end();
        function
    }

    fn any(&mut self, locals: std::ops::Range<u32>) -> u32 {
        locals.start + self.random.below(locals.len()) as u32
    }

    fn at(&mut self, align: u32) -> MemArg {
        MemArg {
            offset: self.random.below(512) as u64 * 8,
            align,
            target: MemArgTarget::Memory(0),
            ordering: None,
        }
    }

    /// A statement, with nested ones while `nesting` allows.
    fn statement(&mut self, sink: &mut InstructionSink<'_>, nesting: u32) {
        match self.random.below(if nesting > 0 { 13 } else { 8 }) {
            0 | 1 => {
                self.int(sink, 3);
                sink.local_set(self.any(local::INTS));
            }
            2 => {
                self.long(sink, 3);
                sink.local_set(self.any(local::LONGS));
            }
            3 => {
                self.float(sink, 2);
                sink.local_set(self.any(local::FLOATS));
            }
            4 => {
                self.address(sink);
                self.int(sink, 2);
                match self.random.below(3) {
                    0 => sink.i32_store8(self.at(0)),
                    1 => sink.i32_store16(self.at(1)),
                    _ => sink.i32_store(self.at(2)),
                };
            }
            5 => {
                self.address(sink);
                self.long(sink, 2);
                sink.i64_store(self.at(3));
            }
            6 => {
                sink.global_get(0);
                self.long(sink, 1);
                sink.i64_add().global_set(0);
            }
            7 => self.call(sink),
            8 | 9 => {
                self.condition(sink);
                sink.if_(BlockType::Empty);
                self.statement(sink, nesting - 1);
                self.statement(sink, nesting - 1);
                if self.random.one_in(2) {
                    sink.else_();
                    self.statement(sink, nesting - 1);
                }
                sink.end();
            }
            10 | 11 => self.repeat(sink),
            _ => self.switch(sink, nesting - 1),
        }
    }

    /// A loop with a small trip count. Its body neither calls nor loops, so that it runs for a short time.
    fn repeat(&mut self, sink: &mut InstructionSink<'_>) {
        sink.i32_const(1 + self.random.below(4) as i32).local_set(local::COUNT);
        sink.loop_(BlockType::Empty);
        let int = self.any(local::INTS);
        self.int(sink, 2);
        sink.local_get(int).i32_add().local_set(int);
        self.address(sink);
        sink.local_get(int).i32_store(self.at(2));
        sink.local_get(local::COUNT).i32_const(1).i32_sub().local_tee(local::COUNT).br_if(0).end();
    }

    /// A switch of three cases and a default, each of which jumps to the end.
    fn switch(&mut self, sink: &mut InstructionSink<'_>, nesting: u32) {
        for _ in 0..4 {
            sink.block(BlockType::Empty);
        }
        sink.local_get(self.any(local::INTS)).i32_const(3).i32_and().br_table([0, 1, 2], 3).end();
        for out in [2, 1, 0] {
            self.statement(sink, nesting);
            sink.br(out).end();
        }
    }

    /// A call of some function, unless the depth is used up.
    fn call(&mut self, sink: &mut InstructionSink<'_>) {
        sink.local_get(local::DEPTH).if_(BlockType::Empty);
        sink.local_get(local::DEPTH).i32_const(1).i32_sub();
        self.long(sink, 1);
        if self.random.one_in(4) {
            sink.local_get(self.any(local::INTS)).i32_const(TABLE as i32 - 1).i32_and().call_indirect(0, 0);
        } else {
            sink.call(1 + self.random.below(self.n_functions as usize) as u32);
        }
        sink.local_set(self.any(local::LONGS)).end();
    }

    fn address(&mut self, sink: &mut InstructionSink<'_>) {
        sink.local_get(self.any(local::INTS)).i32_const(ADDRESSES).i32_and();
    }

    fn condition(&mut self, sink: &mut InstructionSink<'_>) {
        match self.random.below(4) {
            0 => {
                sink.local_get(self.any(local::INTS));
            }
            1 => {
                self.float(sink, 1);
                sink.local_get(self.any(local::FLOATS)).f64_lt();
            }
            2 => {
                self.long(sink, 1);
                sink.i64_eqz();
            }
            _ => {
                self.int(sink, 1);
                self.int(sink, 1);
                match self.random.below(3) {
                    0 => sink.i32_lt_s(),
                    1 => sink.i32_ge_u(),
                    _ => sink.i32_ne(),
                };
            }
        }
    }

    /// An `i32`.
    fn int(&mut self, sink: &mut InstructionSink<'_>, depth: u32) {
        if depth == 0 || self.random.one_in(4) {
            match self.random.below(4) {
                0 => sink.i32_const(self.random.number() as i32 >> self.random.below(32)),
                1 => sink.local_get(local::NUMBER).i32_wrap_i64(),
                _ => sink.local_get(self.any(local::INTS)),
            };
            return;
        }
        match self.random.below(10) {
            0 => {
                self.address(sink);
                match self.random.below(3) {
                    0 => sink.i32_load8_u(self.at(0)),
                    1 => sink.i32_load16_s(self.at(1)),
                    _ => sink.i32_load(self.at(2)),
                };
            }
            1 => {
                self.long(sink, depth - 1);
                sink.i32_wrap_i64();
            }
            2 => {
                self.int(sink, depth - 1);
                self.int(sink, depth - 1);
                self.condition(sink);
                sink.select();
            }
            3 => self.condition(sink),
            operation => {
                self.int(sink, depth - 1);
                self.int(sink, depth - 1);
                match operation {
                    4 => sink.i32_add(),
                    5 => sink.i32_sub(),
                    6 => sink.i32_mul(),
                    7 => sink.i32_xor(),
                    8 => sink.i32_shl(),
                    _ => sink.i32_shr_u(),
                };
            }
        }
    }

    /// An `i64`.
    fn long(&mut self, sink: &mut InstructionSink<'_>, depth: u32) {
        if depth == 0 || self.random.one_in(4) {
            match self.random.below(4) {
                0 => sink.i64_const(self.random.number() as i64 >> self.random.below(64)),
                1 => sink.local_get(local::NUMBER),
                _ => sink.local_get(self.any(local::LONGS)),
            };
            return;
        }
        match self.random.below(8) {
            0 => {
                self.address(sink);
                sink.i64_load(self.at(3));
            }
            1 => {
                self.int(sink, depth - 1);
                sink.i64_extend_i32_u();
            }
            2 => {
                // The divisor is odd.
                self.long(sink, depth - 1);
                self.long(sink, depth - 1);
                sink.i64_const(1).i64_or().i64_rem_u();
            }
            operation => {
                self.long(sink, depth - 1);
                self.long(sink, depth - 1);
                match operation {
                    3 => sink.i64_add(),
                    4 => sink.i64_sub(),
                    5 => sink.i64_mul(),
                    6 => sink.i64_xor(),
                    _ => sink.i64_rotl(),
                };
            }
        }
    }

    /// An `f64`. No code here distinguishes NaNs.
    fn float(&mut self, sink: &mut InstructionSink<'_>, depth: u32) {
        if depth == 0 || self.random.one_in(4) {
            match self.random.below(3) {
                0 => sink.f64_const((self.random.below(2000) as f64 / 16.0 - 50.0).into()),
                _ => sink.local_get(self.any(local::FLOATS)),
            };
            return;
        }
        match self.random.below(6) {
            0 => {
                self.int(sink, depth - 1);
                sink.f64_convert_i32_s();
            }
            1 => {
                self.float(sink, depth - 1);
                sink.f64_abs().f64_sqrt();
            }
            operation => {
                self.float(sink, depth - 1);
                self.float(sink, depth - 1);
                match operation {
                    2 => sink.f64_add(),
                    3 => sink.f64_sub(),
                    4 => sink.f64_mul(),
                    _ => sink.f64_div(),
                };
            }
        }
    }
}
