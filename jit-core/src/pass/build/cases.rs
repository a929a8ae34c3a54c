//! What stencils know of a case of a site.
//!
//! In: the variant of a template that knows a case. Out: a [`FirstCase`], the fields that it reads of it. Some of them it compares with
//! constants: these say of which *sort* the case is, and there is a stencil for each sort. The others are holes.
//!
//! Such a stencil looks at the case that it knows, and leaves all others to code that looks at those in memory. So what it knows need not be
//! what is in memory by now; it must only be true. A stencil that knows that there is no case goes on where none fits, which gives the same
//! for any value.

use crate::ir::sites::COUNT_OFFSET;
use crate::ir::template::{Ref, Step, StepImm, Template};
use crate::vocab::{Op, Type};

/// How many fields of a case may say of which sort it is.
pub const MARKS: usize = 2;

/// A field of a case of a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CaseField {
    /// The distance from the start of the site's memory, in bytes, if the case is the first.
    pub offset: u32,
    /// The type.
    pub ty: Type,
}

/// What a template reads of the case that it knows of a site, which is the first that the site has when code is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirstCase {
    /// The operand that is the site.
    pub operand: u8,
    /// Whether the site gets cases on the slow path only.
    pub learns_slowly: bool,
    /// The fields that say of which sort it is.
    pub marks: Vec<CaseField>,
    /// The other fields.
    pub others: Vec<CaseField>,
}

/// The sort of a case: what is in the fields that say so.
pub type Sort = [u64; MARKS];

/// What a stencil knows of the cases of a site.
#[derive(Clone, Copy, Debug, Default)]
pub enum KnownCases<'a> {
    /// It looks at those in memory.
    #[default]
    Nothing,
    /// The sites of these operands have no case. One bit stands for each operand.
    None(u16),
    /// The site has a first case.
    First(KnownCase<'a>),
    /// The site has a first case, and no other.
    Only(KnownCase<'a>),
}

/// A case of which the sort is known.
#[derive(Clone, Copy, Debug)]
pub struct KnownCase<'a> {
    /// What the template reads of it.
    pub first: &'a FirstCase,
    /// Its sort.
    pub sort: Sort,
}

impl FirstCase {
    /// What the variant of a template reads that knows a case; `None` if there is no such variant.
    pub fn of(template: &Template) -> Option<FirstCase> {
        let mut first = None;
        let (mut all, mut marks) = (Vec::new(), Vec::new());
        let (mut reads, mut constants) = (Vec::new(), Vec::new());
        let mut value = 0;
        for step in template.known?.steps {
            match *step {
                Step::KnownCase { operand, offset, ty } => {
                    first = Some(operand);
                    let field = CaseField { offset, ty };
                    reads.push((value, field));
                    if !all.contains(&field) {
                        all.push(field);
                    }
                }
                Step::Node { op: Op::CONST, imm: StepImm::Known(_), .. } => constants.push(value),
                Step::Node { op: Op::EQ | Op::NE | Op::ZR | Op::NZ, inputs, .. } => {
                    let is_constant = |value: &Ref| constants.contains(value);
                    let compared = match inputs[..] {
                        [a, b] => {
                            [(a, b), (b, a)].into_iter().find(|(_, other)| is_constant(other)).map(|(a, _)| a)
                        }
                        [a] => Some(a),
                        _ => None,
                    };
                    let field = compared.and_then(|one| reads.iter().find(|(value, _)| *value == one));
                    if let Some((_, field)) = field
                        && matches!(field.ty, Type::I8 | Type::I16 | Type::I32)
                        && !marks.contains(field)
                        && marks.len() < MARKS
                    {
                        marks.push(*field);
                    }
                }
                _ => {}
            }
            value += step.n_values() as Ref;
        }
        all.retain(|field| !marks.contains(field));
        let operand = first?;
        let learns_slowly = template.learns_slowly() & 1 << operand != 0;
        Some(FirstCase { operand, learns_slowly, marks, others: all })
    }
}

impl KnownCases<'_> {
    /// The value of a field, if that is a part of the sort of a case that is known.
    pub(super) fn mark(&self, field: CaseField) -> Option<u64> {
        let (KnownCases::First(case) | KnownCases::Only(case)) = self else { return None };
        let at = case.first.marks.iter().position(|mark| *mark == field)?;
        Some(case.sort[at])
    }

    /// What is in a site's memory, as far as it is known.
    pub(super) fn site_value(&self, of: u8, offset: u32) -> Option<u64> {
        let KnownCases::None(operands) = *self else { return None };
        (operands & 1 << of != 0 && offset as usize == COUNT_OFFSET).then_some(0)
    }

    /// Whether anything is known.
    pub(super) fn is_something(&self) -> bool {
        !matches!(self, KnownCases::Nothing)
    }
}
