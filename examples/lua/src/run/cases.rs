//! What sites learn: of fields, of what is called, and of operators that are metamethods.
//!
//! In: what slow paths have found out. Out: cases, which templates compare with what is there.

use azulejo::Cases;
use azulejo::prelude::*;

/// What a bytecode knows of a field.
#[derive(Fields, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(crate) struct FieldCase {
    /// The address of the shape of the tables that this is about; zero if it is about strings.
    pub shape: u64,
    /// The offset of the field among the slots.
    pub offset: u32,
    /// One of [`OWN`] to [`BY_FUNCTION`].
    pub kind: u32,
    /// The table that has the field, if it is inherited; the next shape, if it is added; the address of a metamethod's code.
    pub other: u64,
    /// The heap's epoch in which this is true, if it depends on what metatables say; [`NEVER`] if they say something else.
    pub epoch: u64,
}

/// What a call knows of a function that it has called: of all closures that are made from the same text, or of a function of the library.
#[derive(Fields, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(crate) struct CallCase {
    /// What such closures have as their code, and a function of Rust as its address.
    pub identity: u64,
    /// The address of the code that this call enters; of `setmetatable`, the shape that the table gets.
    pub code: u64,
    /// One of [`CLOSURE`] to [`PART`].
    pub kind: u32,
    /// Of what has a `__call`: the offset of that among the slots of the metatable, and what such closures have as their code. The identity is the
    /// metatable's shape.
    pub offset: u32,
    pub method: u64,
    /// Of `setmetatable`: the shape that the table has, and the address of the metatable.
    pub before: u64,
    pub meta: u64,
}

impl CallCase {
    /// What a call knows that enters code.
    pub(crate) fn new(kind: u32, identity: u64, code: u64) -> CallCase {
        CallCase { identity, code, kind, offset: 0, method: 0, before: 0, meta: 0 }
    }
}

/// What an operator knows of tables that have a metamethod for it, which is a closure.
#[derive(Fields, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(crate) struct OperatorCase {
    /// The address of the shape of such tables, which knows their metatable.
    pub shape: u64,
    /// The metatable.
    pub other: u64,
    /// The heap's epoch in which it has the closure, which is at this offset among its slots.
    pub epoch: u64,
    pub offset: u32,
    /// Which operand such a table is: [`FIRST`] or [`SECOND`]. Of elements: [`FIRST`] if tables of the shape may have names, else [`ALONE`].
    pub operand: u32,
    /// The address of the code of the closure.
    pub code: u64,
}

/// The first operand is such a table.
pub(crate) const FIRST: u32 = 0;
/// The second one is, and the first is a number.
pub(crate) const SECOND: u32 = 1;
/// The first is, and has no names.
pub(crate) const ALONE: u32 = 2;

/// What a bytecode has met beside elements in arrays of tables without metatables.
#[derive(Fields, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(crate) struct ElementCase {
    /// One of [`ELSEWHERE`] to [`CROWDED`].
    pub kind: u32,
    /// How often a site was full that had something to learn.
    pub times: u32,
}

impl ElementCase {
    pub(crate) fn new(kind: u32) -> ElementCase {
        ElementCase { kind, times: 0 }
    }
}

/// Notes a kind of elements, unless the site knows it.
pub(super) fn note_kind(cases: Cases<'_, ElementCase>, kind: u32) {
    if cases.iter().all(|known| known.kind != kind) {
        cases.add(ElementCase::new(kind));
    }
}

/// Elements that are in no array, and fields of more shapes than a site knows.
pub(crate) const ELSEWHERE: u32 = 1;
/// It has set an element of a table with a metatable.
pub(crate) const BESIDE_METATABLE: u32 = 2;
/// It sees more shapes than it may know.
pub(crate) const CROWDED: u32 = 3;

/// What is known of tables of a shape.
pub(crate) trait OfShape: Copy + PartialEq {
    fn shape(&self) -> u64;

    /// Whether another case is about the same, so that one of them is wrong.
    fn is_about_the_same(&self, other: &Self) -> bool;
}

impl OfShape for FieldCase {
    fn shape(&self) -> u64 {
        self.shape
    }

    fn is_about_the_same(&self, other: &Self) -> bool {
        self.shape == other.shape
    }
}

impl OfShape for OperatorCase {
    fn shape(&self) -> u64 {
        self.shape
    }

    fn is_about_the_same(&self, other: &Self) -> bool {
        (self.shape, self.operand) == (other.shape, other.operand)
    }
}

/// It is bytecode.
pub(crate) const CLOSURE: u32 = 0;
/// It is a quick function of the library, which only computes.
pub(crate) const COMPUTES: u32 = 1;
/// It is one that makes objects.
pub(crate) const ALLOCATES: u32 = 2;
/// It is `math.floor`, of one number.
pub(crate) const FLOOR: u32 = 3;
/// It is `math.sqrt`.
pub(crate) const SQUARE_ROOT: u32 = 4;
/// It is `math.abs`.
pub(crate) const ABSOLUTE: u32 = 5;
/// It is `math.ceil`.
pub(crate) const CEILING: u32 = 6;
/// It is `string.byte`, of a position. The code is that of the quick function, for other arguments than templates take.
pub(crate) const BYTE: u32 = 7;
/// It is `math.max`, of two numbers; with the code of the quick function.
pub(crate) const LARGER: u32 = 8;
/// It is `math.min`, of two numbers; with the code of the quick function.
pub(crate) const SMALLER: u32 = 9;

/// It is `select`, where nobody wants more than one result.
pub(crate) const SELECT: u32 = 10;
/// It is a table with a `__call`, which is a closure: it gets the table in front of the arguments.
pub(crate) const CALLABLE: u32 = 11;

/// It is `setmetatable`, of a table that has none.
pub(crate) const GIVES_METATABLE: u32 = 12;

/// It is `string.sub`, of two positions; with the code of the quick function, which makes objects.
pub(crate) const PART: u32 = 13;

/// The heap has never been in this epoch.
pub(crate) const NEVER: u64 = u64::MAX;

/// The table has the field, and no metatable.
pub(crate) const OWN: u32 = 0;
/// The table has the field, and a metatable, which is asked if the value is nil. In the epoch it has nothing to say.
pub(crate) const OWN_OR_META: u32 = 1;
/// Another table has the field, from which the table inherits.
pub(crate) const INHERITED: u32 = 2;
/// Nobody has the field, and the table has no metatable.
pub(crate) const NOWHERE: u32 = 3;
/// Nobody has the field, not even those from which the table inherits.
pub(crate) const NOT_INHERITED: u32 = 4;
/// The field is the next that the table gets.
pub(crate) const ADDED: u32 = 5;
/// The same, if the metatable says nothing else.
pub(crate) const ADDED_OR_META: u32 = 6;
/// The table does not have the field, and the metatable a function for that, at the offset among its slots.
pub(crate) const BY_FUNCTION: u32 = 7;
