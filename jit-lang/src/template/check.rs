//! Resolves a template's expressions: operators, types, operands and names.
//!
//! In: an s-expression and the opcode it is for. Out: a [`Typed`] tree, or the first error, on the token
//! at fault. This file handles names, operands and constants, [`super::control`] the forms of control flow, and
//! [`super::values`] the operators.

use super::Source;
use super::ast::{Constant, Enum, Kind, Leads, Native, Opcode, Typed};
use super::calls::RUNS;
use super::control::Mark;
use super::fields::{self, Structs};
use super::kinds::Kinds;
use super::macros::Macro;
use super::made::RowMemory;
use super::signs::Sign;
use super::sites::CaseAtHand;
use crate::place::{Error, Place};
use crate::sexpr::{Name, Sexpr};
use crate::token::{Delimiter, Group, Token, made, text};
use azulejo_core::ir::bytecode::OperandKind;
use azulejo_core::vocab::{Scalar, Type, Vocabulary};
use std::collections::HashMap;

pub(super) type Checked<T> = Result<T, Error>;

/// The state of checking one template.
pub(super) struct Checker<'a> {
    pub(super) opcode: &'a Opcode,
    /// The enum that it belongs to.
    pub(super) of: Enum<'a>,
    pub(super) vocab: Vocabulary,
    pub(super) macros: &'a HashMap<String, Macro>,
    pub(super) structs: &'a Structs,
    /// The kinds of values.
    pub(super) kinds: &'a Kinds,
    /// The names of the regions of memory.
    pub(super) regions: &'a [String],
    /// If this is a formula of a kind, the name of its argument.
    pub(super) argument: Option<&'static str>,
    /// Whether an error is due to a kind that is wrong, which was reported.
    pub(super) is_moot: bool,
    /// Whether the body was marked `unsafe`.
    pub(super) is_unsafe: bool,
    /// Whether the template stores its own result.
    pub(super) stores_itself: bool,
    scopes: Vec<(Name, usize, Typed)>,
    pub(super) variables: Vec<Variable>,
    /// Operands that are popped before the body, since pushes reuse their slots: each operand, and the variable with its value.
    popped: Vec<(usize, usize)>,
    /// The outputs that are stored on some path.
    pub(super) stored: Vec<usize>,
    /// The outputs that are stored on every path to the current point.
    pub(super) surely_stored: Vec<usize>,
    /// The operands of the trapping operator whose checks are being read.
    pub(super) check_operands: Vec<Typed>,
    depth: usize,
    /// The number of macro expansions so far. The number of an expansion is the writer of its names.
    pub(super) n_expansions: u32,
    /// The macros under expansion.
    pub(super) expanding: Vec<String>,
    /// The marks of the enclosing sequences.
    pub(super) marks: Vec<Mark>,
    pub(super) n_sequences: usize,
    /// The variables with the codes of the traps that the enclosing `try`s have caught.
    pub(super) caught: Vec<usize>,
    /// The cases at hand: those of the enclosing `cached`s.
    pub(super) cases: Vec<CaseAtHand>,
    pub(super) n_cached: usize,
    /// The number of the next call that observes.
    pub(super) n_shown: u32,
    /// Whether bytecodes become others.
    pub(super) quickens: bool,
    /// Whether this is in a slow path.
    pub(super) is_slow: bool,
    /// The sites that are passed to functions outside of slow paths.
    pub(super) taught_anywhere: Vec<usize>,
    /// Whether an effect has occurred that a guard's exit would repeat.
    pub(super) has_effect: bool,
    pub(super) memory: RowMemory,
    /// The calls that are made through native functions.
    pub(super) natives: Vec<Native>,
}

/// A `let:` name, or a value that is computed once.
pub(super) struct Variable {
    pub(super) is_used: bool,
    pub(super) leads: Leads,
}

const MAX_DEPTH: usize = 64;

pub(super) fn fail<T>(place: Place, message: impl Into<String>) -> Checked<T> {
    Err(Error::new(place, message.into()))
}

impl<'a> Checker<'a> {
    pub(super) fn new(
        opcode: &'a Opcode,
        of: Enum<'a>,
        vocab: Vocabulary,
        source: &'a Source,
        kinds: &'a Kinds,
        is_unsafe: bool,
        stores_itself: bool,
    ) -> Self {
        Checker {
            opcode,
            of,
            vocab,
            macros: &source.macros,
            structs: &source.structs,
            kinds,
            regions: &source.regions,
            argument: None,
            is_moot: false,
            is_unsafe,
            stores_itself,
            scopes: Vec::new(),
            variables: Vec::new(),
            n_expansions: 0,
            expanding: Vec::new(),
            popped: Vec::new(),
            stored: Vec::new(),
            surely_stored: Vec::new(),
            check_operands: Vec::new(),
            depth: 0,
            marks: Vec::new(),
            n_sequences: 0,
            caught: Vec::new(),
            cases: Vec::new(),
            n_cached: 0,
            n_shown: 0,
            quickens: false,
            is_slow: false,
            taught_anywhere: Vec::new(),
            has_effect: false,
            memory: RowMemory::default(),
            natives: Vec::new(),
        }
    }

    /// Checks the body of a template. Its value is written to the output, if there is one that the body does not store itself.
    pub(super) fn template(&mut self, body: &Sexpr) -> Checked<Typed> {
        let outputs: Vec<usize> = (0..self.opcode.operands.len())
            .filter(|&at| {
                use OperandKind::{InOut, Out, Push};
                matches!(self.opcode.operands[at].kind, Out | InOut | Push)
            })
            .collect();
        let name = &self.opcode.name;
        if self.stores_itself || outputs.is_empty() {
            let body = self.expression(body, None)?;
            if outputs.is_empty() && body.ty != Type::Void && !body.leaves {
                return fail(
                    body.place,
                    format!("`{name}` has no output for this value; `(discard …)` drops it"),
                );
            }
            if self.stores_itself && body.ty != Type::Void && !body.leaves {
                let message = format!(
                    "`{name}!` stores its outputs itself, and nobody takes this value; `{name} => …` would"
                );
                return fail(body.place, message);
            }
            let is_forgotten = |at: &&usize| {
                self.opcode.operands[**at].kind != OperandKind::InOut
                    && !self.stored.contains(*at)
                    && !body.leaves
            };
            if let Some(&at) = outputs.iter().find(is_forgotten) {
                let operand = &self.opcode.operands[at].name;
                let message = format!("`{name}` never stores its output: `(set ${operand} value)`");
                return fail(self.opcode.place, message);
            }
            return Ok(self.popped_first(body));
        }
        let [output] = outputs[..] else {
            let message =
                format!("`{name}` has several outputs: write `{name}! => …` and `(set $output value)`");
            return fail(body.place(), message);
        };
        let scalar = self.scalar_of(output);
        let value = self.expression(body, Some(scalar))?;
        if value.leaves {
            return Ok(value);
        }
        if value.ty == Type::Void {
            let operand = &self.opcode.operands[output].name;
            let message = format!(
                "this has no value for the output `{operand}`; a template that stores it itself is written `{name}! => …`"
            );
            return fail(value.place, message);
        }
        let place = value.place;
        let value = self.coerce(value, scalar)?;
        Ok(void(Kind::Set(output, Box::new(value)), place))
    }

    /// Binds the popped operands to variables in front of the body.
    fn popped_first(&self, body: Typed) -> Typed {
        if self.popped.is_empty() {
            return body;
        }
        let bound = self.popped.iter().map(|&(at, variable)| (variable, self.read(at, body.place))).collect();
        Typed { kind: Kind::Let(bound, Box::new(body.clone())), ..body }
    }

    /// The value of a VM register, or of an entry of the operand stack.
    fn read(&self, at: usize, place: Place) -> Typed {
        let scalar = self.scalar_of(at);
        let (ty, sign) = (scalar.ty(), Sign::of(scalar));
        Typed { kind: Kind::Read(at), ty, sign, leaves: false, is_loose: false, place }
    }

    /// The variable that holds the value of a popped operand.
    fn popped(&mut self, at: usize) -> usize {
        let known = self.popped.iter().find(|(operand, _)| *operand == at);
        known.map(|(_, variable)| *variable).unwrap_or_else(|| {
            self.variables.push(Variable { is_used: true, leads: Leads::Elsewhere });
            self.popped.push((at, self.variables.len() - 1));
            self.variables.len() - 1
        })
    }

    pub(super) fn scalar_of(&self, operand: usize) -> Scalar {
        self.opcode.operands[operand].scalar.unwrap_or(Scalar::I64)
    }

    pub(super) fn expression(&mut self, expr: &Sexpr, expect: Option<Scalar>) -> Checked<Typed> {
        if self.depth >= MAX_DEPTH {
            return fail(expr.place(), "this is nested too deeply; does a macro use itself?");
        }
        self.depth += 1;
        let result = self.expression_inside(expr, expect);
        self.depth -= 1;
        result
    }

    fn expression_inside(&mut self, expr: &Sexpr, expect: Option<Scalar>) -> Checked<Typed> {
        match expr {
            Sexpr::Operand(name, place) => self.operand(name, *place),
            Sexpr::Literal(tokens, place) => literal(tokens, *place, expect),
            Sexpr::Constant(path, args, place) => {
                if let (true, Some(item)) = (text(path) == "static", args) {
                    let kind = Kind::Constant(Constant::Address(item.clone()));
                    return Ok(Typed { kind, ..constant(Vec::new(), Scalar::Ptr, *place) });
                }
                let scalar = expect.unwrap_or(Scalar::I64);
                Ok(constant(constant_tokens(path, args, *place)?, scalar, *place))
            }
            Sexpr::Macro(name, place) => self.expand(name, &[], *place, expect),
            Sexpr::Param(name, place) => fail(*place, format!("`,{name}` is no parameter of a macro here")),
            Sexpr::Word(_, name, place) => fail(*place, self.alone(name, *place)),
            Sexpr::List(items, place) => self.list(items, *place, expect),
        }
    }

    /// Why a word alone is no expression, and what may be meant.
    fn alone(&self, name: &Name, place: Place) -> String {
        let text = &name.text;
        let help = if self.find_operand(name, place).is_ok() {
            format!("the operand is `${text}`")
        } else if self.kinds.all.iter().any(|kind| kind.name == *text) {
            format!("`(is {text} value)` looks whether a value is of this kind")
        } else if is_spelled_as_constant(text) {
            format!("the constant is `&{text}`")
        } else {
            format!("write `({text} …)`")
        };
        format!("`{text}` alone is no expression; {help}")
    }

    fn operand(&mut self, name: &Name, place: Place) -> Checked<Typed> {
        // In the checks of an operator, numbers are the operator's operands and nothing else.
        if let (Ok(at), false) = (name.text.parse::<usize>(), self.check_operands.is_empty()) {
            return Ok(self.check_operands[at].clone());
        }
        if let Some((_, variable, value)) = self.scopes.iter().rev().find(|(known, ..)| known == name) {
            // A constant with a name still adopts the type of the operand beside it.
            let kind = if value.is_loose { value.kind.clone() } else { Kind::Variable(*variable) };
            self.variables[*variable].is_used = true;
            return Ok(Typed { kind, place, ..value.clone() });
        }
        let at = self.find_operand(name, place)?;
        let name = &name.text;
        let value = self.read(at, place);
        let operand = &self.opcode.operands[at];
        match operand.kind {
            OperandKind::Pop if self.stores_itself => {
                Ok(Typed { kind: Kind::Variable(self.popped(at)), ..value })
            }
            OperandKind::In | OperandKind::InOut | OperandKind::Pop => Ok(value),
            OperandKind::Imm => Ok(Typed { kind: Kind::Constant(Constant::Operand(at)), ..value }),
            OperandKind::Out | OperandKind::Push if self.surely_stored.contains(&at) => Ok(value),
            OperandKind::Out | OperandKind::Push => fail(
                place,
                format!("`${name}` is an output, and not surely stored before this on every way here"),
            ),
            OperandKind::Label | OperandKind::Labels => {
                fail(place, format!("`${name}` is a label, no value: `(branch ${name})` jumps there"))
            }
            OperandKind::Site => super::sites::no_value(name, place),
            _ => fail(place, format!("`${name}` is a run of registers: `(window ${name})` is its address")),
        }
    }

    /// Finds an operand of the opcode. Operands are visible to all macros.
    pub(super) fn find_operand(&self, name: &Name, place: Place) -> Checked<usize> {
        let operands = &self.opcode.operands;
        let Name { text: name, writer } = name;
        let found = operands
            .iter()
            .position(|operand| operand.name == *name)
            .or_else(|| name.parse().ok().filter(|at: &usize| *at < operands.len()));
        found.map_or_else(
            || {
                if self.scopes.iter().any(|(known, ..)| known.text == *name && known.writer != *writer) {
                    let message = format!(
                        "`${name}` is another's name: a macro sees its parameters, what it declares itself, and the \
                         opcode's operands; hand `${name}` on as an argument"
                    );
                    return fail(place, message);
                }
                if let Some(argument) = self.argument {
                    return fail(place, format!("the only name in this formula is `${argument}`"));
                }
                let names: Vec<String> =
                    operands.iter().map(|operand| format!("${}", operand.name)).collect();
                let opcode = &self.opcode.name;
                let known = match names.is_empty() {
                    true => "it has none".to_string(),
                    false => format!("there are {}", names.join(" ")),
                };
                fail(place, format!("`{opcode}` has no operand or name `${name}`; {known}"))
            },
            Ok,
        )
    }

    /// An operand that must be of one of the given kinds.
    pub(super) fn operand_of(
        &self,
        expr: Option<&Sexpr>,
        kinds: &[OperandKind],
        what: &str,
        place: Place,
    ) -> Checked<usize> {
        let Some(Sexpr::Operand(name, place)) = expr else {
            return fail(expr.map_or(place, Sexpr::place), format!("expected {what}"));
        };
        let at = self.find_operand(name, *place)?;
        if kinds.contains(&self.opcode.operands[at].kind) {
            return Ok(at);
        }
        let (kind, name) = (self.opcode.operands[at].kind, &name.text);
        fail(*place, format!("expected {what}, and `${name}` is `{}`", kind.name()))
    }

    fn list(&mut self, items: &[Sexpr], place: Place, expect: Option<Scalar>) -> Checked<Typed> {
        let Some((head, rest)) = items.split_first() else {
            return fail(place, "an empty list has no meaning");
        };
        if let Sexpr::Macro(name, place) = head {
            return self.expand(name, rest, *place, expect);
        }
        let Some(word) = head.word() else {
            return fail(head.place(), "a list starts with an operator");
        };
        match word {
            "let:" | "letv:" => self.bind(word, rest, place, expect),
            "call" | "callv" => self.call(word, rest, place),
            "invoke" | "invokev" => self.invoke(word, rest, place),
            "try" | "tryv" => self.attempt(word, rest, place),
            "trap_code" => self.trap_code(rest, place),
            "window" | "length" => {
                let at = self.operand_of(rest.first(), &RUNS, "a run of registers", place)?;
                let kind = if word == "window" { Kind::Window(at) } else { Kind::WindowLength(at) };
                Ok(Typed { kind, ty: Type::I64, sign: Sign::Unsigned, leaves: false, is_loose: false, place })
            }
            "place" => self.place(rest, place),
            "is" | "unbox" | "box" => self.of_kind(word, head.place(), rest, place),
            "as" | "asv" => self.as_kinds(word, head.place(), rest, place, expect),
            "cached" | "cachedv" => self.cached(word, rest, place, expect),
            "case" => self.case_field(rest, place),
            "full" => self.full(rest, place),
            "frames" => super::frames::no_value(place),
            _ => match self.control(word, rest, place, expect) {
                Some(checked) => checked,
                None => self.operator(word, head.place(), rest, place, expect),
            },
        }
    }

    pub(super) fn bind(
        &mut self,
        word: &str,
        rest: &[Sexpr],
        place: Place,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        let [Sexpr::List(names, _), body @ ..] = rest else {
            return fail(place, format!("`({word} (($name value) …) body)`"));
        };
        if body.is_empty() {
            return fail(place, format!("`({word} (($name value) …) body)`: the body is missing"));
        }
        let depth = self.scopes.len();
        let (mut bound, mut places) = (Vec::new(), Vec::new());
        for declared in names {
            let Sexpr::List(parts, place) = declared else {
                return fail(declared.place(), "a declaration is `($name value)`");
            };
            let [Sexpr::Operand(name, place), value] = &parts[..] else {
                return fail(*place, "a declaration is `($name value)`");
            };
            if name.text.parse::<usize>().is_ok() {
                return fail(*place, format!("`${}` is an operand by its position, and no name", name.text));
            }
            let value = self.value(value, None)?;
            bound.push(self.declare(name.clone(), value));
            places.push(*place);
        }
        let body = match (word, body) {
            ("let:", [body]) => self.expression(body, expect)?,
            ("letv:", _) => self.sequence("dov", body, place, None)?,
            _ => self.sequence("do", body, place, expect)?,
        };
        let declared = std::iter::zip(&self.scopes[depth..], places);
        let is_unused = |((_, at, _), _): &(&(Name, usize, Typed), Place)| !self.variables[*at].is_used;
        if let Some(((name, ..), place)) = declared.into_iter().find(is_unused) {
            let name = &name.text;
            return fail(
                place,
                format!("nothing uses `${name}`; `(discard …)` computes a value and drops it"),
            );
        }
        self.forget(depth);
        let (ty, sign, leaves) = (body.ty, body.sign, body.leaves);
        Ok(Typed { kind: Kind::Let(bound, Box::new(body)), ty, sign, leaves, is_loose: false, place })
    }

    /// Binds a name to a value. Returns the variable, with the value.
    pub(super) fn declare(&mut self, name: Name, value: Typed) -> (usize, Typed) {
        let variable = self.variables.len();
        self.variables.push(Variable { is_used: false, leads: self.leads(&value) });
        self.scopes.push((name, variable, value.clone()));
        (variable, value)
    }

    /// Checks an expression that is evaluated conditionally. Stores in it are not known to have happened after it.
    pub(super) fn perhaps<T>(&mut self, look: impl FnOnce(&mut Self) -> Checked<T>) -> Checked<T> {
        let before = self.surely_stored.len();
        let result = look(self);
        self.surely_stored.truncate(before);
        result
    }

    /// Whether a name stands for a value, and not for an operand.
    pub(super) fn is_declared(&self, name: &Name) -> bool {
        self.scopes.iter().any(|(known, ..)| known == name)
    }

    /// The number of names in scope.
    pub(super) fn n_names(&self) -> usize {
        self.scopes.len()
    }

    /// Drops all but the first `but` names from the scope.
    pub(super) fn forget(&mut self, but: usize) {
        self.scopes.truncate(but);
    }

    pub(super) fn needs_unsafe(&self, place: Place, what: &str) -> Checked<()> {
        if self.is_unsafe {
            return Ok(());
        }
        let name = &self.opcode.name;
        fail(
            place,
            format!("{what} is unsafe: write `{name} => unsafe (…)` and see to it that the address is right"),
        )
    }

    pub(super) fn flag(&mut self, expr: &Sexpr) -> Checked<Typed> {
        let typed = self.expression(expr, None)?;
        match typed.ty {
            Type::Flag => Ok(typed),
            _ => fail(typed.place, "expected a flag: a comparison, or `(nz value)`"),
        }
    }

    pub(super) fn statement(&mut self, expr: &Sexpr) -> Checked<Typed> {
        let typed = self.expression(expr, None)?;
        match typed.ty {
            Type::Void => Ok(typed),
            _ => fail(typed.place, "this has a value that nobody takes; `(discard …)` drops it"),
        }
    }

    pub(super) fn value(&mut self, expr: &Sexpr, expect: Option<Scalar>) -> Checked<Typed> {
        let typed = self.expression(expr, expect)?;
        match typed.ty {
            ty if ty.is_value() => Ok(typed),
            Type::Flag => fail(typed.place, "a flag is no value; `(flagval … i64)` makes it one or zero"),
            _ => fail(typed.place, "this has no value"),
        }
    }

    /// Parses a type parameter.
    pub(super) fn scalar(&self, written: &Sexpr) -> Checked<Scalar> {
        let found = written.word().and_then(Scalar::from_name);
        found.map_or_else(
            || {
                let names: Vec<&str> = Scalar::ALL.iter().map(|scalar| scalar.name()).collect();
                fail(written.place(), format!("expected a type: {}", names.join(" ")))
            },
            Ok,
        )
    }

    /// Parses a constant parameter.
    pub(super) fn number(&self, written: &Sexpr) -> Checked<Vec<Token>> {
        match written {
            Sexpr::Literal(tokens, _) => Ok(tokens.clone()),
            Sexpr::Constant(path, args, place) => constant_tokens(path, args, *place),
            other => fail(other.place(), "expected a constant: a number, or `(&…)`"),
        }
    }
}

pub(super) fn void(kind: Kind, place: Place) -> Typed {
    Typed { kind, ty: Type::Void, sign: Sign::Unsigned, leaves: false, is_loose: false, place }
}

pub(super) fn leaving(kind: Kind, place: Place) -> Typed {
    Typed { leaves: true, ..void(kind, place) }
}

pub(super) fn flag(kind: Kind, place: Place) -> Typed {
    Typed { ty: Type::Flag, ..void(kind, place) }
}

/// A constant without a type of its own.
fn constant(tokens: Vec<Token>, scalar: Scalar, place: Place) -> Typed {
    let kind = Kind::Constant(Constant::Tokens(tokens));
    Typed { kind, ty: scalar.ty(), sign: Sign::of(scalar), leaves: false, is_loose: true, place }
}

fn literal(tokens: &[Token], place: Place, expect: Option<Scalar>) -> Checked<Typed> {
    let text = text(tokens);
    let is_float = text.contains('.') || (text.contains('e') && !text.contains("0x"));
    if text.starts_with('"') {
        return fail(place, "text is no value");
    }
    let scalar = match expect {
        Some(scalar) if !is_float || scalar.ty().is_float() => scalar,
        Some(scalar) => return fail(place, format!("a float literal where {scalar} is wanted")),
        None if is_float => Scalar::F64,
        None => Scalar::I64,
    };
    Ok(constant(tokens.to_vec(), scalar, place))
}

pub(super) fn wrong_count<T>(place: Place, word: &str, usage: &str, rest: &[Sexpr]) -> Checked<T> {
    fail(place, format!("`{word}` takes {usage}; here are {}", rest.len()))
}

/// `(&sizeof T)`, `(&offset_of T, field)` and `(&path args…)` as Rust.
pub(super) fn constant_tokens(
    path: &[Token],
    args: &Option<Vec<Token>>,
    place: Place,
) -> Checked<Vec<Token>> {
    let Some(args) = args else { return Ok(path.to_vec()) };
    let text = text(path);
    let last = text.rsplit("::").next().unwrap_or("");
    if args.is_empty() && is_spelled_as_constant(last) {
        let message = format!(
            "`(&{text})` calls a function, and `{text}` is spelled like a constant: that is `&{text}`"
        );
        return fail(place, message);
    }
    let called = |before: &str, path: &[Token]| -> Vec<Token> {
        let args = Group::made(Delimiter::Parenthesis, args.clone());
        [&made(before)[..], path, &[Token::Group(args)]].concat()
    };
    Ok(match text.as_str() {
        "sizeof" => [&made("::core::mem::size_of::<")[..], args, &made(">()")].concat(),
        "offset_of" => called("::core::mem::offset_of!", &[]),
        "field" => return fields::misplaced(place),
        "static" => return fail(place, "the address of a static is a value, and no number that rustc knows"),
        _ => called("", path),
    })
}

/// Whether a name is spelled as those of constants are.
fn is_spelled_as_constant(name: &str) -> bool {
    name.contains(char::is_uppercase) && !name.contains(char::is_lowercase)
}
