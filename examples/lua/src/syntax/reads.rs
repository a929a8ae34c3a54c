//! Which names a function reads.
//!
//! In: a function's tree. Out: each name whose value it, or a function in it, may read, as a variable or as a field. What only has such a name is
//! none: a string, a comment, a method that is called, a field or a variable that gets a value.

use super::ast::{Block, ConstructorItem, Expr, Function, Statement, StatementKind, Suffix, SuffixKind};
use crate::depth::StackEnd;

/// How a name is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Read {
    /// As `x.name` or `x["name"]`.
    Field,
    /// As a variable, which is called at once.
    Called,
    /// As a variable.
    Variable,
}

/// Visits the names that a function reads.
///
/// ```
/// use azulejo_lua::syntax::{Arena, Read, each_read, parse};
///
/// let mut reads = Vec::new();
/// let arena = Arena::default();
/// let chunk = parse(&arena, b"function a() b = c.d['e'] + g(\"h\") --[[i]] end")?;
/// each_read(&chunk, &mut |name, read| reads.push((name.to_vec(), read)));
/// let expected = [("c", Read::Variable), ("d", Read::Field), ("e", Read::Field), ("g", Read::Called)];
/// assert_eq!(reads, expected.map(|(name, read)| (name.as_bytes().to_vec(), read)));
/// # Ok::<(), azulejo_lua::syntax::SyntaxError>(())
/// ```
pub fn each_read(function: &Function<'_>, look: &mut dyn FnMut(&[u8], Read)) {
    Walk { function, look, stack: StackEnd::find() }.block(&function.body);
}

/// The walk through one function.
struct Walk<'a> {
    function: &'a Function<'a>,
    look: &'a mut dyn FnMut(&[u8], Read),
    /// Where the walk goes no deeper. Whoever compiles the function needs more of the stack, and refuses it.
    stack: StackEnd,
}

impl Walk<'_> {
    fn block(&mut self, block: &Block) {
        if !self.stack.is_near() {
            block.statements.iter().for_each(|statement| self.statement(statement));
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Local(_, values) | StatementKind::Return(values) => self.all(values),
            StatementKind::LocalFunction(_, function) => self.inner(function),
            StatementKind::Assign(targets, values, _) => {
                targets.iter().for_each(|target| self.target(target));
                self.all(values);
            }
            StatementKind::Call(call) => self.value(call),
            StatementKind::Do(block) => self.block(block),
            StatementKind::While(condition, block) | StatementKind::Repeat(block, condition) => {
                self.value(condition);
                self.block(block);
            }
            StatementKind::If(ways, otherwise) => {
                for (condition, block) in *ways {
                    self.value(condition);
                    self.block(block);
                }
                otherwise.iter().for_each(|block| self.block(block));
            }
            StatementKind::NumericFor(numeric) => {
                [&numeric.start, &numeric.limit]
                    .into_iter()
                    .chain(&numeric.step)
                    .for_each(|value| self.value(value));
                self.block(&numeric.body);
            }
            StatementKind::GenericFor(generic) => {
                self.all(generic.values);
                self.block(&generic.body);
            }
            StatementKind::Break => {}
        }
    }

    fn inner(&mut self, function: &Function) {
        Walk { function, look: self.look, stack: self.stack }.block(&function.body);
    }

    fn all(&mut self, values: &[Expr]) {
        values.iter().for_each(|value| self.value(value));
    }

    /// What is assigned to. The table whose field it is, if it is one, is read.
    fn target(&mut self, target: &Expr) {
        let Expr::Suffixed(object, suffixes) = target else { return };
        let Some((last, before)) = suffixes.split_last() else { return };
        self.suffixed(object, before);
        match &last.kind {
            SuffixKind::Index(key) => self.value(key),
            // The others are no targets.
            SuffixKind::Field(_) | SuffixKind::Call(_) | SuffixKind::Method(..) => {}
        }
    }

    fn value(&mut self, value: &Expr) {
        match value {
            _ if self.stack.is_near() => {}
            Expr::Nil | Expr::Bool(_) | Expr::Number(_) | Expr::String(_) | Expr::Vararg => {}
            Expr::Function(function) => self.inner(function),
            Expr::Local(_) | Expr::Upvalue(_) | Expr::Global(..) => self.variable(value, Read::Variable),
            Expr::Table(table) => {
                for item in table.items {
                    if let ConstructorItem::Keyed(key, _) = item {
                        self.value(key);
                    }
                    self.value(item.value());
                }
            }
            Expr::Suffixed(first, suffixes) => self.suffixed(first, suffixes),
            Expr::Unary(_, operand, _) | Expr::Paren(operand) => self.value(operand),
            Expr::Binary(first, rest) => {
                self.value(first);
                rest.iter().for_each(|operation| self.value(&operation.right));
            }
        }
    }

    fn suffixed(&mut self, first: &Expr, suffixes: &[Suffix]) {
        match (first, suffixes) {
            (
                Expr::Local(_) | Expr::Upvalue(_) | Expr::Global(..),
                [Suffix { kind: SuffixKind::Call(_), .. }, ..],
            ) => self.variable(first, Read::Called),
            _ => self.value(first),
        }
        for suffix in suffixes {
            match &suffix.kind {
                SuffixKind::Field(name) | SuffixKind::Index(Expr::String(name)) => {
                    (self.look)(name, Read::Field)
                }
                SuffixKind::Index(key) => self.value(key),
                SuffixKind::Call(arguments) | SuffixKind::Method(_, arguments) => self.all(arguments),
            }
        }
    }

    fn variable(&mut self, variable: &Expr, read: Read) {
        let name = match variable {
            Expr::Local(local) => &self.function.local(*local).name,
            Expr::Upvalue(at) => &self.function.upvalues[*at as usize].name,
            Expr::Global(name, _) => name,
            _ => return,
        };
        (self.look)(name, read);
    }
}
