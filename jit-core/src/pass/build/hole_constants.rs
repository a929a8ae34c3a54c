//! Constants of a bytecode, as holes in a stencil.
//!
//! In: a constant operand, or a value that was made of one. Out: a hole with the range of numbers that instructions may find in it, or the
//! placeholder of a distance in an address.

use super::cursor::Cursor;
use super::holes::HoleOperands;
use super::stencil::Constants;
use crate::ir::bytecode::OperandKind;
use crate::ir::index::Node;
use crate::ir::stencil::{HoleSource, HoleValue, Range};
use crate::vocab::{Op, Scalar, Sig, Type};

impl HoleOperands<'_> {
    /// The call cell of a function whose number is a constant operand.
    pub(super) fn cell(&mut self, cursor: &mut Cursor<'_>, number: Node) -> Option<Node> {
        // A narrow number is a truncated hole.
        let hole = match cursor.graph.node(number).op {
            Op::UCAST => cursor.graph.inputs(number)[0],
            _ => number,
        };
        if self.request.constants != Constants::Short {
            return None;
        }
        let operand = self.operand_of(cursor, hole)?;
        Some(self.hole(cursor, HoleSource::Cell(operand), Range::Any))
    }

    /// The operand that a value is the hole of.
    fn operand_of(&self, cursor: &Cursor<'_>, value: Node) -> Option<u8> {
        let data = cursor.graph.node(value);
        let (hole, 0) = self.holes.find(data.imm as i64).filter(|_| data.op == Op::HOLE)? else {
            return None;
        };
        match self.holes.list()[hole].source {
            HoleSource::Operand(operand) => Some(operand),
            _ => None,
        }
    }

    /// The range of a constant operand that is used as a 64-bit value.
    pub(super) fn range(&self, operand: u8) -> Range {
        let operand = &self.request.opcode.operands[operand as usize];
        match operand.scalar {
            // The address of its memory.
            _ if operand.kind == OperandKind::Site => Range::Any,
            _ if self.request.constants == Constants::Held => Range::Any,
            Some(Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 | Scalar::I32) => Range::Signed,
            Some(Scalar::F32 | Scalar::F64) => Range::Any,
            _ if self.request.constants != Constants::Short => Range::Any,
            _ => Range::Signed,
        }
    }

    pub(super) fn constant_hole(&mut self, cursor: &mut Cursor<'_>, operand: u8, ty: Type) -> Node {
        let source = HoleSource::Operand(operand);
        let range = match self.request.constants {
            _ if ty.bits() == 64 => self.range(operand),
            Constants::Held => Range::Any,
            _ => Range::Signed,
        };
        let whole = self.hole(cursor, source, range);
        Self::part_of(cursor, whole, ty)
    }

    /// The low bits of a hole, or all of them, as a value of this type.
    pub(super) fn part_of(cursor: &mut Cursor<'_>, hole: Node, ty: Type) -> Node {
        if ty.bits() == 64 {
            // A float is moved from an integer register. A memory operand after the code is no faster, even in loops of
            // nothing but additions and multiplications; and each bytecode with such an operand takes twice as long to
            // compile, and ten bytes more.
            return if ty.is_float() { cursor.bitcast(hole, ty) } else { hole };
        }
        let value = cursor.add(Op::UCAST, Sig { from: Type::I64, ty: Type::I32 }, &[hole], 0);
        match ty {
            Type::I32 => value,
            Type::F32 => cursor.bitcast(value, ty),
            narrow => cursor.add(Op::UCAST, Sig { from: Type::I32, ty: narrow }, &[value], 0),
        }
    }

    /// The placeholder of a field of a case, if this is one that can be the distance in an address.
    pub(super) fn distance(&self, cursor: &Cursor<'_>, value: Node) -> Option<u64> {
        let is_field = self.fields.iter().any(|(_, hole)| *hole == value);
        (is_field && self.request.constants != Constants::Held).then(|| cursor.graph.node(value).imm)
    }

    /// The placeholder of a constant operand times a scale, if the product is the distance in an address whatever the operand is.
    pub(super) fn small_index(&mut self, cursor: &Cursor<'_>, index: Node, scale: u64) -> Option<u64> {
        let (operand, scale) = (self.operand_of(cursor, index)?, u8::try_from(scale).ok()?);
        let scalar = self.request.opcode.operands[operand as usize].scalar?;
        let is_small =
            matches!(scalar, Scalar::U8 | Scalar::U16) && self.request.constants != Constants::Held;
        let source = HoleSource::Operand(operand);
        is_small.then(|| self.holes.placeholder(HoleValue { source, scale, range: Range::Signed }) as u64)
    }

    /// A constant operand converted to another integer type. If that is the operand's own value, or its low bits, it is a
    /// hole as well and needs no conversion.
    pub(super) fn converted(
        &mut self,
        cursor: &mut Cursor<'_>,
        op: Op,
        sig: Sig,
        input: Node,
    ) -> Option<Node> {
        if let Some((_, hole)) = self.fields.iter().find(|(field, _)| *field == input)
            && sig.ty == Type::I64
            && (op == Op::UCAST || sig.from == Type::I32)
        {
            // The hole is not negative as a number of 32 bits, but a narrower one may be.
            return Some(*hole);
        }
        let (_, operand) = *self.constants.iter().find(|(constant, _)| *constant == input)?;
        let scalar = self.request.opcode.operands[operand as usize].scalar?;
        let is_its_own = scalar.ty() == sig.from && scalar.is_signed() == (op == Op::SCAST);
        (is_its_own || sig.ty.bits() < sig.from.bits()).then(|| self.constant_hole(cursor, operand, sig.ty))
    }
}
