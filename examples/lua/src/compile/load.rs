//! Source text to functions.

use super::watch::Wishes;
use super::{Form, TooComplex, compile};
use crate::object::function::Closure;
use crate::object::heap::Gc;
use crate::run::vm::Vm;
use crate::syntax::ast::Function;
use crate::syntax::{self, Arena, Bounds, SyntaxError};
use std::rc::Rc;

impl Vm {
    /// Compiles a chunk: source text, or what [`Vm::dump`] has made.
    pub fn load(&mut self, source: &[u8], chunk: &[u8]) -> Result<Gc<Closure>, SyntaxError> {
        if super::dump::is_dump(source) {
            return self.undump(source);
        }
        self.load_text(source, chunk)
    }

    /// Likewise, of a chunk that comes in pieces. No more of them are asked for than it takes to see what is wrong; but all, if it is a dump.
    pub(crate) fn load_pieces(
        &mut self,
        chunk: &[u8],
        more: &mut dyn FnMut(&mut Vm, &mut Vec<u8>) -> bool,
    ) -> Result<Gc<Closure>, SyntaxError> {
        let mut source = Vec::new();
        while source.is_empty() && more(self, &mut source) {}
        if super::dump::is_dump(&source) {
            while more(self, &mut source) {}
            return self.undump(&source);
        }
        let arena = self.arena();
        let (tree, source) = syntax::parse_pieces(&arena, &source, &mut |text| more(self, text))?;
        self.load_tree(&tree, &source, chunk)
    }

    /// Where the tree of a text is that may be any: it takes no more memory than the program's objects may, and is not made to its end if the
    /// program is to stop.
    fn arena(&self) -> Arena {
        Arena::within(Bounds { bytes: self.heap.limit(), stop: self.library.stop.clone() })
    }

    /// Compiles source text.
    pub(super) fn load_text(&mut self, source: &[u8], chunk: &[u8]) -> Result<Gc<Closure>, SyntaxError> {
        let start = self.clocks.begin();
        let arena = self.arena();
        let tree = syntax::parse(&arena, source)?;
        self.clocks.read(start);
        self.load_tree(&tree, source, chunk)
    }

    /// Compiles a chunk that was parsed.
    fn load_tree(
        &mut self,
        tree: &Function,
        source: &[u8],
        chunk: &[u8],
    ) -> Result<Gc<Closure>, SyntaxError> {
        let start = self.clocks.begin();
        let form = self.form_of(tree);
        let draft = compile(&mut self.heap, tree, form).map_err(|TooComplex { line }| {
            SyntaxError::of_whole("function or expression too complex".into(), line)
        })?;
        let definition = self.define(draft, &Rc::from(chunk), &Rc::from(source));
        self.clocks.compiled(start);
        Ok(self.heap.closure(definition, self.globals(), &[]))
    }

    /// In which form a chunk's function is compiled. From the first one on that reads a function which assigns to variables of others, all
    /// variables that inner functions use are in cells, or code expects that variables change while it waits for a call.
    pub(super) fn form_of(&mut self, function: &Function) -> Form {
        let wishes = Wishes::of(function);
        self.shares_all |= wishes.sets_upvalues;
        if wishes.sets_locals {
            self.engine.let_registers_be_written();
        }
        self.watch = self.watch.max(wishes.watch);
        let samples = self.profile.as_ref().map(|profile| profile.address());
        Form { watch: self.watch, shares_all: self.shares_all, samples }
    }
}
