//! Which variable a name means.
//!
//! In: declarations, uses and assignments, in the order of the source. Out: local variables, upvalues and globals; of each local
//! variable whether inner functions use it, and whether it is assigned to after its declaration. So the compiler knows which
//! variables live in registers, which are copied into closures, and which need a cell that closures share.

use super::arena::Arena;
use super::ast::{Expr, Function, Line, Local, LocalId, Name, Upvalue, UpvalueSource};
use super::error::SyntaxError;

/// How many local variables of a function may be in scope at once.
const MAX_LOCALS: usize = 200;

/// How many variables of functions around it a function may use.
const MAX_UPVALUES: usize = 60;

/// The functions that are being parsed, from the chunk to the innermost.
#[derive(Debug, Default)]
pub(super) struct Scopes<'a> {
    functions: Vec<FunctionScope<'a>>,
    /// Memory of those that are done.
    spare: Vec<FunctionScope<'a>>,
}

/// A function that is being parsed.
#[derive(Debug, Default)]
struct FunctionScope<'a> {
    locals: Vec<Local<'a>>,
    /// The local variables that are in scope; those without a name that a program can use only count.
    active: Vec<Option<LocalId>>,
    /// For each block that is open, how many variables were in scope at its start.
    blocks: Vec<usize>,
    /// How many loops are open.
    loops: u32,
    upvalues: Vec<Upvalue<'a>>,
    is_vararg: bool,
    uses_dots: bool,
    /// The line of the word `function`; zero for the whole chunk.
    line: Line,
}

impl FunctionScope<'_> {
    /// The scope of a function that starts, in the memory of this one.
    fn reused(mut self, line: Line) -> Self {
        self.locals.clear();
        self.active.clear();
        self.blocks.clear();
        self.upvalues.clear();
        FunctionScope { loops: 0, is_vararg: false, uses_dots: false, line, ..self }
    }
}

/// What a scope knows of its function in the end.
pub(super) struct Finished<'a> {
    /// All local variables.
    pub(super) locals: &'a [Local<'a>],
    /// The upvalues.
    pub(super) upvalues: &'a [Upvalue<'a>],
    /// Whether `...` was used.
    pub(super) uses_dots: bool,
}

impl<'a> Scopes<'a> {
    /// Starts a function.
    pub(super) fn open_function(&mut self, line: Line) {
        let memory = self.spare.pop().unwrap_or_default();
        self.functions.push(memory.reused(line));
    }

    /// Ends the innermost function.
    pub(super) fn close_function(&mut self, arena: &'a Arena) -> Finished<'a> {
        let scope = self.functions.pop().expect("it was opened");
        let (locals, upvalues) = (arena.slice(&scope.locals), arena.slice(&scope.upvalues));
        let finished = Finished { locals, upvalues, uses_dots: scope.uses_dots };
        self.spare.push(scope);
        finished
    }

    fn function(&mut self) -> &mut FunctionScope<'a> {
        self.functions.last_mut().expect("a function is open")
    }

    /// The innermost function takes more arguments than its parameters.
    pub(super) fn set_vararg(&mut self) {
        self.function().is_vararg = true;
    }

    /// Notes a use of `...`; returns whether the function has it.
    pub(super) fn use_dots(&mut self) -> bool {
        let function = self.function();
        function.uses_dots = true;
        function.is_vararg
    }

    /// Starts a block.
    pub(super) fn open_block(&mut self) {
        let function = self.function();
        function.blocks.push(function.active.len());
    }

    /// Ends a block: its variables are out of scope.
    pub(super) fn close_block(&mut self) {
        let function = self.function();
        let start = function.blocks.pop().expect("it was opened");
        function.active.truncate(start);
    }

    /// Starts a loop, which `break` ends.
    pub(super) fn open_loop(&mut self) {
        self.function().loops += 1;
    }

    /// Ends a loop.
    pub(super) fn close_loop(&mut self) {
        self.function().loops -= 1;
    }

    /// Whether a loop is open in the innermost function.
    pub(super) fn is_in_loop(&self) -> bool {
        self.functions.last().is_some_and(|function| function.loops > 0)
    }

    /// Makes a local variable, which is not in scope yet.
    pub(super) fn make_local(&mut self, name: &'a Name) -> LocalId {
        let locals = &mut self.function().locals;
        locals.push(Local { name, is_used: false, is_captured: false, is_assigned: false });
        LocalId(locals.len() as u32 - 1)
    }

    /// Puts variables in scope. The error is about `line`, where parsing is.
    pub(super) fn activate(&mut self, locals: &[LocalId], line: Line) -> Result<(), SyntaxError> {
        self.function().active.extend(locals.iter().copied().map(Some));
        self.check_count(line)
    }

    /// Puts variables in scope that have no names.
    pub(super) fn activate_hidden(&mut self, count: usize, line: Line) -> Result<(), SyntaxError> {
        let active = &mut self.function().active;
        active.resize(active.len() + count, None);
        self.check_count(line)
    }

    /// Checks that so many more variables would not be too many.
    pub(super) fn check_room(&mut self, more: usize, line: Line) -> Result<(), SyntaxError> {
        match self.function().active.len() + more > MAX_LOCALS {
            true => Err(self.too_many(self.functions.len() - 1, MAX_LOCALS, "local variables", line)),
            false => Ok(()),
        }
    }

    fn check_count(&mut self, line: Line) -> Result<(), SyntaxError> {
        self.check_room(0, line)
    }

    fn too_many(&self, function: usize, limit: usize, what: &str, line: Line) -> SyntaxError {
        let text = match self.functions[function].line {
            0 => format!("main function has more than {limit} {what}"),
            start => format!("function at line {start} has more than {limit} {what}"),
        };
        SyntaxError::of_whole(text, line)
    }

    /// An error that says how many of something the innermost function may have.
    pub(super) fn limit(&self, limit: usize, what: &str, line: Line) -> SyntaxError {
        self.too_many(self.functions.len() - 1, limit, what, line)
    }

    /// The variable that a name means in the innermost function.
    pub(super) fn resolve(&mut self, name: &'a Name, line: Line) -> Result<Expr<'a>, SyntaxError> {
        let innermost = self.functions.len() - 1;
        if let Some(local) = self.local_of(innermost, name) {
            self.functions[innermost].locals[local.0 as usize].is_used = true;
            return Ok(Expr::Local(local));
        }
        Ok(match self.upvalue_of(innermost, name, line)? {
            Some(upvalue) => Expr::Upvalue(upvalue),
            None => Expr::Global(name, line),
        })
    }

    /// The local variable of a function that a name means.
    fn local_of(&self, function: usize, name: &Name) -> Option<LocalId> {
        let function = &self.functions[function];
        let mut active = function.active.iter().rev().flatten();
        active.find(|local| function.locals[local.0 as usize].name == name).copied()
    }

    /// The upvalue of a function that a name means, which is made if it is missing; `None` if no function around it has such a variable.
    fn upvalue_of(
        &mut self,
        function: usize,
        name: &'a Name,
        line: Line,
    ) -> Result<Option<u32>, SyntaxError> {
        // The first function from the inside out that has such a variable, as a local one or as an upvalue.
        let known = |scopes: &Self, function: usize| {
            scopes.functions[function].upvalues.iter().position(|upvalue| upvalue.name == name)
        };
        let mut owner = function;
        let mut source = loop {
            if let Some(upvalue) = known(self, owner) {
                break UpvalueSource::Upvalue(upvalue as u32);
            }
            if owner == 0 {
                return Ok(None);
            }
            owner -= 1;
            if let Some(local) = self.local_of(owner, name) {
                let local_data = &mut self.functions[owner].locals[local.0 as usize];
                (local_data.is_used, local_data.is_captured) = (true, true);
                break UpvalueSource::Local(local);
            }
        };
        for inner in owner + 1..=function {
            let upvalues = &mut self.functions[inner].upvalues;
            upvalues.push(Upvalue { name, source, is_assigned: false });
            let count = upvalues.len();
            if count > MAX_UPVALUES {
                return Err(self.too_many(inner, MAX_UPVALUES, "upvalues", line));
            }
            source = UpvalueSource::Upvalue(count as u32 - 1);
        }
        let UpvalueSource::Upvalue(upvalue) = source else { unreachable!("no local variable is here") };
        Ok(Some(upvalue))
    }

    /// Notes that the innermost function assigns to a variable.
    pub(super) fn assign(&mut self, target: &Expr) {
        let mut function = self.functions.len() - 1;
        let mut source = match target {
            Expr::Local(local) => UpvalueSource::Local(*local),
            Expr::Upvalue(upvalue) => UpvalueSource::Upvalue(*upvalue),
            _ => return,
        };
        loop {
            match source {
                UpvalueSource::Local(local) => {
                    self.functions[function].locals[local.0 as usize].is_assigned = true;
                    return;
                }
                UpvalueSource::Upvalue(upvalue) => {
                    let upvalue = &mut self.functions[function].upvalues[upvalue as usize];
                    upvalue.is_assigned = true;
                    source = upvalue.source;
                    function -= 1;
                }
            }
        }
    }
}

impl<'a> Function<'a> {
    /// The local variable with this number.
    pub fn local(&self, local: LocalId) -> &'a Local<'a> {
        &self.locals[local.0 as usize]
    }
}
