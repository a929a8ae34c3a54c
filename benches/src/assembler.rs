//! An assembler for the bytecode, with named registers and labels.
//!
//! It has a method for each opcode, of the same name. Labels are numbers until [`Assembler::finish`] resolves them.

use crate::op::Op;
use azulejo::prelude::*;

/// A VM register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reg(pub u32);

/// A jump target, whose position may not be known yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(u32);

/// A function under construction.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    ops: Vec<Op>,
    /// The position of each target.
    places: Vec<Option<u32>>,
    /// The targets of jump tables.
    tables: Vec<u32>,
    registers: u32,
}

/// A finished function.
#[derive(Clone, Debug)]
pub(crate) struct Assembled {
    /// Its code.
    pub ops: Vec<Op>,
    /// The targets of its switches.
    pub labels: Vec<u32>,
    /// The number of its VM registers.
    pub registers: u32,
}

/// Defines a method for each of these opcodes, with these operands.
macro_rules! opcodes {
    ($($method:ident $Opcode:ident $(($($field:ident $($what:ident)+),*))?;)*) => {$(
        #[doc = concat!("`", stringify!($Opcode), "`")]
        pub(crate) fn $method(&mut self $($(, $field: opcodes!(@type $($what)+))*)?) {
            self.ops.push(Op::$Opcode { $($($field: opcodes!(@value $field $($what)+)),*)? });
        }
    )*};
    (@type reg) => { Reg };
    (@type imm $ty:ident) => { $ty };
    (@type place) => { Place };
    (@type pop) => { () };
    (@value $field:ident reg) => { $field.0.into() };
    (@value $field:ident imm $ty:ident) => { Imm($field) };
    (@value $field:ident place) => { Label($field.0) };
}

#[allow(dead_code, reason = "as with the opcodes")]
impl Assembler {
    /// Allocates a register.
    pub(crate) fn reg(&mut self) -> Reg {
        self.registers += 1;
        Reg(self.registers - 1)
    }

    /// Allocates registers.
    pub(crate) fn regs<const N: usize>(&mut self) -> [Reg; N] {
        std::array::from_fn(|_| self.reg())
    }

    /// Creates a target to be bound later.
    pub(crate) fn place(&mut self) -> Place {
        self.places.push(None);
        Place(self.places.len() as u32 - 1)
    }

    /// Binds a target to the current position.
    pub(crate) fn bind(&mut self, place: Place) {
        self.places[place.0 as usize] = Some(self.ops.len() as u32);
    }

    /// Creates a target bound to the current position.
    pub(crate) fn here(&mut self) -> Place {
        let place = self.place();
        self.bind(place);
        place
    }

    /// The number of instructions so far.
    pub(crate) fn len(&self) -> usize {
        self.ops.len()
    }

    opcodes! {
        int Int(dst reg, value imm i64);
        float Float(dst reg, value imm f64);
        mov Move(dst reg, a reg);
        mov_float MoveFloat(dst reg, a reg);
        add Add(dst reg, a reg, b reg);
        sub Sub(dst reg, a reg, b reg);
        mul Mul(dst reg, a reg, b reg);
        and And(dst reg, a reg, b reg);
        or Or(dst reg, a reg, b reg);
        xor Xor(dst reg, a reg, b reg);
        shl Shl(dst reg, a reg, b reg);
        shr Shr(dst reg, a reg, b reg);
        sar Sar(dst reg, a reg, b reg);
        rem Rem(dst reg, a reg, b reg);
        less Less(dst reg, a reg, b reg);
        add_const AddConst(dst reg, a reg, k imm i32);
        mul_const MulConst(dst reg, a reg, k imm i32);
        and_const AndConst(dst reg, a reg, k imm i32);
        xor_const XorConst(dst reg, a reg, k imm i32);
        shl_const ShlConst(dst reg, a reg, k imm i32);
        shr_const ShrConst(dst reg, a reg, k imm i32);
        sar_const SarConst(dst reg, a reg, k imm i32);
        rotl_const RotlConst(dst reg, a reg, k imm i32);
        add32 Add32(dst reg, a reg, b reg);
        sub32 Sub32(dst reg, a reg, b reg);
        mul32 Mul32(dst reg, a reg, b reg);
        xor32 Xor32(dst reg, a reg, b reg);
        add_const32 AddConst32(dst reg, a reg, k imm i32);
        rotl_const32 RotlConst32(dst reg, a reg, k imm i32);
        add_float AddFloat(dst reg, a reg, b reg);
        sub_float SubFloat(dst reg, a reg, b reg);
        mul_float MulFloat(dst reg, a reg, b reg);
        div_float DivFloat(dst reg, a reg, b reg);
        sqrt_float SqrtFloat(dst reg, a reg);
        float_of ToFloat(dst reg, a reg);
        load_u8 LoadU8(dst reg, base reg, index reg);
        load_i32 LoadI32(dst reg, base reg, index reg);
        load_i64 LoadI64(dst reg, base reg, index reg);
        load_f64 LoadF64(dst reg, base reg, index reg);
        store_u8 StoreU8(base reg, index reg, a reg);
        store_i32 StoreI32(base reg, index reg, a reg);
        store_i64 StoreI64(base reg, index reg, a reg);
        store_f64 StoreF64(base reg, index reg, a reg);
        get_f64 GetF64(dst reg, base reg, offset imm i32);
        put_f64 PutF64(base reg, offset imm i32, a reg);
        jump Jump(to place);
        jump_eq JumpEq(a reg, b reg, to place);
        jump_ne JumpNe(a reg, b reg, to place);
        jump_lt JumpLt(a reg, b reg, to place);
        jump_le JumpLe(a reg, b reg, to place);
        jump_eq_const JumpEqConst(a reg, k imm i32, to place);
        jump_ne_const JumpNeConst(a reg, k imm i32, to place);
        jump_lt_const JumpLtConst(a reg, k imm i32, to place);
        jump_lt32 JumpLt32(a reg, b reg, to place);
        jump_lt_float JumpLtFloat(a reg, b reg, to place);
        jump_le_float JumpLeFloat(a reg, b reg, to place);
        call1 Call1(dst reg, a reg);
        invoke Invoke(dst reg, f imm u32, a reg);
        ret Return(a reg);
        ret_float ReturnFloat(a reg);
    }

    /// Emits `Switch` with these targets; the last is the default.
    pub(crate) fn switch(&mut self, a: Reg, to: &[Place]) {
        let first = self.tables.len() as u32;
        self.tables.extend(to.iter().map(|place| place.0));
        self.ops.push(Op::Switch { a: a.0.into(), to: Labels { first, count: to.len() as u32 } });
    }

    /// Emits pushes of the arguments, then `Call6`.
    pub(crate) fn call6(&mut self, dst: Reg, args: [Reg; 6]) {
        self.push_all(&args);
        let pop = Pop::new();
        self.ops.push(Op::Call6 { dst: dst.0.into(), a: pop, b: pop, c: pop, d: pop, e: pop, f: pop });
    }

    /// Emits pushes of the arguments, then `Call12`.
    pub(crate) fn call12(&mut self, dst: Reg, args: [Reg; 12]) {
        self.push_all(&args);
        let (dst, p) = (dst.0.into(), Pop::new());
        self.ops.push(Op::Call12 {
            dst,
            a: p,
            b: p,
            c: p,
            d: p,
            e: p,
            f: p,
            g: p,
            h: p,
            i: p,
            j: p,
            k: p,
            l: p,
        });
    }

    fn push_all(&mut self, args: &[Reg]) {
        for arg in args {
            self.ops.push(Op::Push { value: Push::new(), a: arg.0.into() });
        }
    }

    /// Resolves the targets, and returns the function.
    pub(crate) fn finish(mut self) -> Assembled {
        let at = |place: u32| self.places[place as usize].expect("every place is bound");
        for op in &mut self.ops {
            if let Op::Jump { to }
            | Op::JumpEq { to, .. }
            | Op::JumpNe { to, .. }
            | Op::JumpLt { to, .. }
            | Op::JumpLe { to, .. }
            | Op::JumpEqConst { to, .. }
            | Op::JumpNeConst { to, .. }
            | Op::JumpLtConst { to, .. }
            | Op::JumpLt32 { to, .. }
            | Op::JumpLtFloat { to, .. }
            | Op::JumpLeFloat { to, .. } = op
            {
                to.0 = at(to.0);
            }
        }
        let labels = self.tables.iter().map(|place| at(*place)).collect();
        Assembled { ops: self.ops, labels, registers: self.registers }
    }
}
