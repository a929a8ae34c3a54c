//! What others want to know of functions. The library `debug`: where local variables are, and code that lets it look. A profile: code that lets
//! samples be taken.
//!
//! In: which of that a chunk may ask for. Out: the names of local variables with their registers, and opcodes that do nothing else.
//!
//! Code forgets a value that it does not need any more, and nobody stops it to call a hook. So what a chunk asks for by name has to be in its
//! code from the start ([`Wishes::of`]), and in that of all chunks that are loaded later; all other code pays nothing.

use super::Builder;
use super::call::Named;
use crate::run::bytecode::Op;
use crate::run::draft::{CALLEE, LocalName, Watch};
use crate::run::slow::{CALL, ITERATION, LINE, NATIVE_CALL, NATIVE_RETURN, RETURN};
use crate::syntax::ast::{Function, Line, Name};
use crate::syntax::{Read, each_read};
use azulejo::{Imm, Label, Regs};

/// What a chunk asks for, by the names of functions that it reads.
pub(super) struct Wishes {
    pub(super) watch: Watch,
    /// Whether it assigns to variables of functions that wait.
    pub(super) sets_locals: bool,
    /// Whether it assigns to variables of closures.
    pub(super) sets_upvalues: bool,
}

impl Wishes {
    /// What a function asks for, or one in it.
    pub(super) fn of(function: &Function) -> Wishes {
        let mut wishes = Wishes { watch: Watch::Nothing, sets_locals: false, sets_upvalues: false };
        each_read(function, &mut |name, read| {
            let watch = match name {
                b"sethook" | b"getlocal" | b"setlocal" => Watch::All,
                b"getinfo" | b"getfenv" | b"setfenv" => Watch::Closure,
                // Many variables are called so.
                b"module" if read == Read::Called => Watch::Closure,
                _ => Watch::Nothing,
            };
            wishes.watch = wishes.watch.max(watch);
            wishes.sets_locals |= name == b"setlocal";
            wishes.sets_upvalues |= name == b"setupvalue";
        });
        wishes
    }
}

impl Builder<'_> {
    /// Lets others look, if this is the place, before an opcode is emitted.
    pub(super) fn before_op(&mut self, op: &Op) {
        let is_return = matches!(
            op,
            Op::Return0
                | Op::Return { .. }
                | Op::ReturnTwo { .. }
                | Op::ReturnThree { .. }
                | Op::ReturnMany { .. }
                | Op::ReturnResults { .. }
                | Op::ReturnVarargs { .. }
                | Op::ReturnGiven { .. }
        );
        if is_return {
            self.sample();
        }
        match self.form.watch {
            Watch::Nothing => {}
            Watch::Closure => {
                if is_return {
                    self.append(Op::Keep { a: super::CLOSURE.into() });
                }
            }
            Watch::All => {
                self.look_at_line();
                if is_return {
                    self.look(RETURN, super::CLOSURE);
                }
            }
        }
    }

    /// Lets others look if a line begins.
    fn look_at_line(&mut self) {
        if self.looked != Some(self.line) {
            self.looked = Some(self.line);
            self.look(LINE, super::CLOSURE);
        }
    }

    /// Lets others look where each iteration of a `for` begins, as the loop jumps there.
    pub(super) fn look_at_iteration(&mut self) {
        if self.form.watch == Watch::All {
            self.looked = Some(self.line);
            self.look(ITERATION, super::CLOSURE);
        }
    }

    /// Lets a sample be taken: what it finds is the line that was done last.
    pub(super) fn sample(&mut self) {
        if let Some(due) = self.form.samples {
            let past = Label(self.code.len() as u32 + 2);
            self.append(Op::SampleIfDue { due: Imm(due), past });
            self.append(Op::TakeSample);
        }
    }

    /// Lets a sample be taken of a statement that is done. If a call was the last thing that it did, it was taken there.
    pub(super) fn sample_statement(&mut self, line: Line) {
        self.line = line;
        if !matches!(self.code.last(), Some(Op::TakeSample)) {
            self.sample();
        }
    }

    /// Variables at the start of a function have no value until one is assigned: that is no line.
    pub(super) fn look_past(&mut self) {
        let is_line = |op: &Op| matches!(op, Op::Look { kind: Imm(LINE), .. });
        if self.form.watch == Watch::All && !self.code.iter().any(is_line) {
            self.looked = Some(self.line);
        }
    }

    /// Lets others look where a function begins.
    pub(super) fn look_at_start(&mut self) {
        if self.form.watch == Watch::All {
            self.look(CALL, super::CLOSURE);
            // What arguments need is no line of the program.
            self.looked = Some(self.line);
        }
    }

    /// Code jumps back to what is emitted next, or begins there.
    pub(super) fn look_again(&mut self) {
        self.looked = None;
    }

    /// Emits a call, around which others may look, as functions of Rust do not say that they are called.
    pub(super) fn emit_call(&mut self, callee: &Named, op: Op) {
        let is_watched = self.form.watch == Watch::All;
        if is_watched {
            self.look_at_line();
            self.look(NATIVE_CALL, callee.0);
            self.name(CALLEE, callee.1.clone());
        }
        self.emit(op);
        self.name_callee(callee);
        if is_watched {
            self.look(NATIVE_RETURN, callee.0);
            self.name(CALLEE, callee.1.clone());
        }
        self.sample();
    }

    fn look(&mut self, kind: u32, callee: u32) {
        let values = Regs { first: 0, count: self.free };
        self.append(Op::Look { values, kind: Imm(kind), callee: callee.into() });
    }

    /// A local variable is in a register from the next bytecode on.
    pub(super) fn note_local(&mut self, name: Name, register: u32, is_cell: bool) {
        let from = self.code.len() as u32;
        self.open_locals.push(self.locals.len());
        self.locals.push(LocalName { name, register, is_cell, from, to: u32::MAX });
    }

    /// A variable that the program does not see, and C's Lua has a name for.
    pub(super) fn note_hidden(&mut self, names: [&str; 3], first: u32) {
        for (name, register) in names.into_iter().zip(first..) {
            self.note_local(name.as_bytes().into(), register, false);
        }
    }

    /// Local variables whose registers are free again are gone.
    pub(super) fn forget_locals(&mut self) {
        while let Some(local) = self.open_locals.pop_if(|local| self.locals[*local].register >= self.free) {
            self.locals[local].to = self.code.len() as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Arena, parse};

    fn wishes_of(source: &str) -> Wishes {
        Wishes::of(&parse(&Arena::default(), source.as_bytes()).expect("it is right"))
    }

    #[test]
    fn only_names_that_are_read_are_asked_for() {
        let watch = |source: &str| wishes_of(source).watch;
        for source in [
            "debug.sethook(f, 'l')",
            "local get = debug['getlocal']",
            "local d = debug; f(d . setlocal)",
            "function debug.sethook.x() end",
        ] {
            assert_eq!(watch(source), Watch::All, "{source}");
        }
        for source in
            ["setfenv(1, {})", "x.y[getfenv].z = 1", "module 'm'", "module(...)", "debug.getinfo(1)"]
        {
            assert_eq!(watch(source), Watch::Closure, "{source}");
        }
        for source in [
            "-- sethook",
            "return { 'sethook', setlocal = 1, ['getlocal'] = 2 }",
            "os.setlocale('C')",
            "local module = {} function module.getinfo() end return module",
            "log.module.x = 'debug.sethook'",
        ] {
            assert_eq!(watch(source), Watch::Nothing, "{source}");
        }
        let wishes = wishes_of("debug.setlocal(1, 1, debug.setupvalue)");
        assert!(wishes.sets_locals && wishes.sets_upvalues);
        let wishes = wishes_of("return 'setlocal', 'setupvalue'");
        assert!(!wishes.sets_locals && !wishes.sets_upvalues);
    }
}
