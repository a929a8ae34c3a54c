//! The seam to a machine: registers and conventions as data.

use crate::ir::template::Convention;
use crate::vocab::Class;
use core::fmt;

/// A machine register: 0 to 31 integer, 32 to 63 float.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u8);

impl Reg {
    /// How many registers there can be.
    pub const COUNT: usize = 64;

    /// The integer register with this hardware number.
    pub const fn int(number: u8) -> Reg {
        Reg(number)
    }

    /// The float register with this hardware number.
    pub const fn float(number: u8) -> Reg {
        Reg(32 + number)
    }

    /// The number that instructions encode.
    pub const fn number(self) -> u8 {
        self.0 & 31
    }

    /// Which register file it is in.
    pub const fn class(self) -> Class {
        if self.0 < 32 { Class::Int } else { Class::Float }
    }
}

impl fmt::Debug for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class() {
            Class::Int => write!(f, "x{}", self.number()),
            Class::Float => write!(f, "f{}", self.number()),
        }
    }
}

/// A set of registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RegSet(pub u64);

impl RegSet {
    /// No register.
    pub const EMPTY: RegSet = RegSet(0);

    /// The registers of a list.
    pub const fn of(regs: &[Reg]) -> RegSet {
        let mut bits = 0;
        let mut at = 0;
        while at < regs.len() {
            bits |= 1 << regs[at].0;
            at += 1;
        }
        RegSet(bits)
    }

    /// Whether `reg` is in it.
    pub const fn contains(self, reg: Reg) -> bool {
        self.0 & (1 << reg.0) != 0
    }

    /// Adds a register.
    pub const fn insert(&mut self, reg: Reg) {
        self.0 |= 1 << reg.0;
    }

    /// Takes a register out.
    pub const fn remove(&mut self, reg: Reg) {
        self.0 &= !(1 << reg.0);
    }

    /// The members of either.
    pub const fn union(self, other: RegSet) -> RegSet {
        RegSet(self.0 | other.0)
    }

    /// The members of this one that the other has not.
    pub const fn without(self, other: RegSet) -> RegSet {
        RegSet(self.0 & !other.0)
    }

    /// The members of both.
    pub const fn intersection(self, other: RegSet) -> RegSet {
        RegSet(self.0 & other.0)
    }

    /// How many there are.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members in order.
    pub fn iter(self) -> impl Iterator<Item = Reg> {
        let mut bits = self.0;
        core::iter::from_fn(move || {
            if bits == 0 {
                return None;
            }
            let reg = Reg(bits.trailing_zeros() as u8);
            bits &= bits - 1;
            Some(reg)
        })
    }
}

impl fmt::Debug for RegSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A calling convention as data.
#[derive(Clone, Copy, Debug)]
pub struct Abi {
    /// Where integer arguments go.
    pub int_args: &'static [Reg],
    /// Where float arguments go.
    pub float_args: &'static [Reg],
    /// Whether the n-th argument uses the n-th register of its class (Windows), or the next free one (System V).
    pub by_position: bool,
    /// 8-byte units below the stack arguments that belong to the callee.
    pub shadow: u16,
    /// Where an integer result comes.
    pub int_ret: Reg,
    /// Where a float result comes.
    pub float_ret: Reg,
    /// What a callee may change.
    pub caller_saved: RegSet,
}

/// A machine's registers.
#[derive(Clone, Copy, Debug)]
pub struct RegisterFile {
    /// The integer registers that may be given out, the cheapest first.
    pub int: &'static [Reg],
    /// The float registers that may be given out, the cheapest first.
    pub float: &'static [Reg],
    /// Those that a function must give back as it found them.
    pub callee_saved: RegSet,
    /// Names for dumps.
    pub name: fn(Reg) -> &'static str,
    /// The conventions.
    pub abi: fn(Convention) -> &'static Abi,
}

impl RegisterFile {
    /// The registers of a class that may be given out, the cheapest first.
    pub const fn of(&self, class: Class) -> &'static [Reg] {
        match class {
            Class::Int => self.int,
            Class::Float => self.float,
        }
    }

    /// All registers that may be given out.
    pub const fn allocatable(&self) -> RegSet {
        RegSet::of(self.int).union(RegSet::of(self.float))
    }
}
