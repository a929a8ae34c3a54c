//! The description of a machine that the passes see: its registers and conventions, as data.

use crate::ir::template::Convention;
use crate::vocab::Class;
use core::fmt;

/// A machine register: 0 to 31 are integer registers, 32 to 63 are float registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u8);

impl Reg {
    /// The number of registers that [`Reg`] can name.
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

    /// The register file that it is in.
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

    /// The set of the registers in a list.
    pub const fn of(regs: &[Reg]) -> RegSet {
        let mut bits = 0;
        let mut at = 0;
        while at < regs.len() {
            bits |= 1 << regs[at].0;
            at += 1;
        }
        RegSet(bits)
    }

    /// Whether `reg` is in the set.
    pub const fn contains(self, reg: Reg) -> bool {
        self.0 & (1 << reg.0) != 0
    }

    /// Adds a register.
    pub const fn insert(&mut self, reg: Reg) {
        self.0 |= 1 << reg.0;
    }

    /// Removes a register.
    pub const fn remove(&mut self, reg: Reg) {
        self.0 &= !(1 << reg.0);
    }

    /// The registers that are in either set.
    pub const fn union(self, other: RegSet) -> RegSet {
        RegSet(self.0 | other.0)
    }

    /// The registers of this set that are not in the other.
    pub const fn without(self, other: RegSet) -> RegSet {
        RegSet(self.0 & !other.0)
    }

    /// The registers that are in both sets.
    pub const fn intersection(self, other: RegSet) -> RegSet {
        RegSet(self.0 & other.0)
    }

    /// How many registers are in the set.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The registers in ascending order.
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
    /// The registers of the integer arguments, in order.
    pub int_args: &'static [Reg],
    /// The registers of the float arguments, in order.
    pub float_args: &'static [Reg],
    /// Whether the n-th argument uses the n-th register of its class (Windows), or the next free one (System V).
    pub by_position: bool,
    /// The size, in 8-byte units, of the area below the stack arguments that belongs to the callee (Windows' shadow space).
    pub shadow: u16,
    /// The register of an integer result.
    pub int_ret: Reg,
    /// The register of a float result.
    pub float_ret: Reg,
    /// The registers that a callee may change.
    pub caller_saved: RegSet,
}

/// A machine's registers.
#[derive(Clone, Copy, Debug)]
pub struct RegisterFile {
    /// The allocatable integer registers, the cheapest first.
    pub int: &'static [Reg],
    /// The allocatable float registers, the cheapest first.
    pub float: &'static [Reg],
    /// The registers that a function must restore before it returns.
    pub callee_saved: RegSet,
    /// Registers that hold one value each, from the entry on: none is given out, and no instruction changes them, calls neither.
    pub kept: RegSet,
    /// The names of registers in dumps.
    pub name: fn(Reg) -> &'static str,
    /// The calling conventions.
    pub abi: fn(Convention) -> &'static Abi,
}

impl RegisterFile {
    /// The allocatable registers of a class, the cheapest first.
    pub const fn of(&self, class: Class) -> &'static [Reg] {
        match class {
            Class::Int => self.int,
            Class::Float => self.float,
        }
    }

    /// All allocatable registers.
    pub const fn allocatable(&self) -> RegSet {
        RegSet::of(self.int).union(RegSet::of(self.float))
    }
}
