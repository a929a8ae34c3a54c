//! Forms about values of kinds: `is`, `unbox`, `box`, and `as`, which looks at several values and names what is in them.
//!
//! In: the words after the form's name, and the checked set of kinds. Out: a [`Typed`] tree, or an error. `as` becomes a conditional:
//! values that are computed are bound in order, the checks are its flag, and what is in the boxes is bound in the first of
//! its two ways.

use super::ast::{Kind, Typed};
use super::check::{Checked, Checker, fail, flag, wrong_count};
use super::control::one_of;
use super::kinds::{CheckedKind, USAGE};
use super::signs::{self, Sign};
use crate::place::{Error, Place};
use crate::sexpr::{Name, Sexpr};
use crate::words::did_you_mean;
use azulejo_core::vocab::{Op, Scalar};

/// The words of these forms.
pub(super) const FORMS: [&str; 5] = ["is", "unbox", "box", "as", "asv"];

/// A check of an `as`, and the name of what is in the box.
struct KindCheck<'a> {
    name: &'a Name,
    place: Place,
    kind: usize,
    /// The boxed value: a name, an operand or a constant.
    boxed: Typed,
    /// Whether the name was the boxed value's before.
    renames: bool,
}

impl<'a> Checker<'a> {
    /// Checks `(is kind value)`, `(unbox kind value)` or `(box kind value)`.
    pub(super) fn of_kind(
        &mut self,
        word: &str,
        head: Place,
        rest: &[Sexpr],
        place: Place,
    ) -> Checked<Typed> {
        self.needs_kinds(word, head)?;
        let [kind, value] = rest else { return wrong_count(place, word, "a kind and a value", rest) };
        let (number, checked) = self.kind(kind)?;
        let one_value = |has: &str| {
            let name = &checked.name;
            fail(kind.place(), format!("`{name}` has one value only, so {has}"))
        };
        match (word, checked.scalar) {
            ("is", _) => {
                let boxed = self.boxed(value)?;
                Ok(self.look(number, boxed, place))
            }
            ("unbox", None) => one_value("there is nothing in its box"),
            ("unbox", Some(scalar)) => {
                let boxed = self.boxed(value)?;
                Ok(self.node(Op::UNBOX, number, boxed, scalar, place))
            }
            (_, None) => one_value("it has no box but itself: write this value as a constant"),
            (_, Some(scalar)) => {
                let value = self.value(value, Some(scalar))?;
                let value = self.coerce(value, scalar)?;
                Ok(self.node(Op::BOX, number, value, self.kinds.boxed.unwrap_or(Scalar::U64), place))
            }
        }
    }

    /// Checks `(as (($name kind) ($name kind value) …) then otherwise)`; `asv` is for what has no value.
    pub(super) fn as_kinds(
        &mut self,
        word: &str,
        head: Place,
        rest: &[Sexpr],
        place: Place,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        self.needs_kinds(word, head)?;
        let [Sexpr::List(written, list), so, not] = rest else {
            let usage = "`(($name kind) …)`, what there is if all are of their kinds, and what otherwise";
            return wrong_count(place, word, usage, rest);
        };
        if written.is_empty() {
            return fail(*list, "here stands what is looked at: `(($name kind) …)`");
        }
        let outer = self.n_names();
        let (mut computed, mut looks) = (Vec::new(), Vec::<KindCheck<'_>>::new());
        for part in written {
            let look = self.part(part, &mut computed).map_err(|error| too_early(part, &looks, error))?;
            if looks.iter().any(|other| other.name == look.name) {
                return fail(look.place, format!("`${}` is looked at already", look.name.text));
            }
            looks.push(look);
        }
        let mut flags: Vec<Typed> =
            looks.iter().map(|look| self.look(look.kind, look.boxed.clone(), look.place)).collect();
        let condition = match flags.len() {
            1 => flags.remove(0),
            _ => flag(Kind::All(flags), *list),
        };
        let is_value = word == "as";
        let arms = self.arms(
            |checker| checker.with_names(&looks, so, is_value, expect),
            |checker| if is_value { checker.expression(not, expect) } else { checker.statement(not) },
        )?;
        let choice = match is_value {
            true => self.choice(word, condition, arms, place, expect)?,
            false => one_of(condition, arms, place),
        };
        self.forget(outer);
        Ok(within(computed, choice, place))
    }

    /// Checks one part of an `as`. A value that is computed is bound to a variable.
    fn part<'s>(&mut self, part: &'s Sexpr, computed: &mut Vec<(usize, Typed)>) -> Checked<KindCheck<'s>> {
        const FORM: &str = "what is looked at is `($name kind)`, or `($name kind value)` if it is computed";
        let (name, place, kind, value) = match part {
            Sexpr::List(parts, _) => match &parts[..] {
                [Sexpr::Operand(name, place), kind] => (name, *place, kind, None),
                [Sexpr::Operand(name, place), kind, value] => (name, *place, kind, Some(value)),
                _ => return fail(part.place(), FORM),
            },
            _ => return fail(part.place(), FORM),
        };
        let text = &name.text;
        if text.parse::<usize>().is_ok() {
            return fail(place, format!("`${text}` is an operand by its position, and no name"));
        }
        let (number, checked) = self.kind(kind)?;
        let Some(value) = value else {
            let boxed = self.boxed(&Sexpr::Operand(name.clone(), place))?;
            return Ok(KindCheck { name, place, kind: number, boxed, renames: true });
        };
        if checked.scalar.is_none() {
            let of = &checked.name;
            let message = format!(
                "`{of}` has one value only, so `${text}` would stand for nothing: `(is {of} …)` says whether it is one, \
                 and `(${text} {of})` does for a name that `let:` gave it"
            );
            return fail(place, message);
        }
        let mut boxed = self.boxed(value)?;
        if !matches!(boxed.kind, Kind::Read(_) | Kind::Variable(_) | Kind::Constant(_)) {
            // A name that nobody can write, since what is computed has none before it was looked at. An argument of a macro is
            // called `,name`.
            let hidden = Name { text: format!(";{text}"), ..name.clone() };
            let (variable, value) = self.declare(hidden, boxed.clone());
            computed.push((variable, value));
            boxed.kind = Kind::Variable(variable);
        }
        Ok(KindCheck { name, place, kind: number, boxed, renames: false })
    }

    /// Checks what an `as` does if all values are of their kinds, with the names of what is in the boxes.
    fn with_names(
        &mut self,
        looks: &[KindCheck<'_>],
        body: &Sexpr,
        is_value: bool,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        let outer = self.n_names();
        let mut bound = Vec::new();
        for look in looks {
            if let Some(scalar) = self.kinds.all[look.kind].scalar {
                let value = self.node(Op::UNBOX, look.kind, look.boxed.clone(), scalar, look.place);
                bound.push((self.declare(look.name.clone(), value), look));
            }
        }
        let place = body.place();
        let body = if is_value { self.expression(body, expect)? } else { self.statement(body)? };
        self.forget(outer);
        let is_unused = |((variable, _), look): &&((usize, Typed), &KindCheck<'_>)| {
            !look.renames && !self.variables[*variable].is_used
        };
        if let Some((_, look)) = bound.iter().find(is_unused) {
            let name = &look.name.text;
            return fail(
                look.place,
                format!("nothing uses `${name}`; `(is {} …)` only looks", self.kinds.all[look.kind].name),
            );
        }
        let used = bound.into_iter().map(|(bound, _)| bound);
        let used = used.filter(|(variable, _)| self.variables[*variable].is_used);
        Ok(within(used.collect(), body, place))
    }

    /// A value of the type of boxed values.
    fn boxed(&mut self, written: &Sexpr) -> Checked<Typed> {
        let scalar = self.kinds.boxed.unwrap_or(Scalar::U64);
        let value = self.value(written, Some(scalar))?;
        if value.ty != scalar.ty() && !value.is_loose {
            let message = format!(
                "this is {}, and a boxed value is {scalar}; `(box kind …)` makes one",
                signs::name(value.ty, value.sign)
            );
            return fail(value.place, message);
        }
        Ok(Typed { sign: Sign::of(scalar), ..self.coerce(value, scalar)? })
    }

    /// Whether a boxed value is of a kind.
    fn look(&self, kind: usize, boxed: Typed, place: Place) -> Typed {
        let formulas = self.kinds.all[kind].formulas.as_ref().expect("it was asked for");
        let (value, meaning) = (Box::new(boxed), Box::new(formulas.is.clone()));
        flag(Kind::OfKind { op: Op::IS, kind, value, meaning }, place)
    }

    /// What is in a box, or the box of a value.
    fn node(&self, op: Op, kind: usize, value: Typed, scalar: Scalar, place: Place) -> Typed {
        let formulas = self.kinds.all[kind].formulas.as_ref().expect("it was asked for");
        let meaning = if op == Op::UNBOX { &formulas.unbox } else { &formulas.make_box };
        let meaning = Box::new(meaning.clone().expect("a kind with a type has both"));
        let kind = Kind::OfKind { op, kind, value: Box::new(value), meaning };
        let (ty, sign) = (scalar.ty(), Sign::of(scalar));
        Typed { kind, ty, sign, leaves: false, is_loose: false, place }
    }

    /// Checks that there are kinds at all.
    fn needs_kinds(&self, word: &str, head: Place) -> Checked<()> {
        if self.argument.is_some() {
            return fail(head, "a formula of a kind is made of operators, and not of kinds");
        }
        match self.kinds.boxed {
            Some(_) => Ok(()),
            None => fail(
                head,
                format!("`{word}` is about kinds of values, and there are none: {USAGE} declares them"),
            ),
        }
    }

    /// Finds a kind by its name.
    fn kind(&mut self, written: &Sexpr) -> Checked<(usize, &'a CheckedKind)> {
        let all = &self.kinds.all;
        let Some(word) = written.word() else {
            let names: Vec<&str> = all.iter().map(|kind| kind.name.as_str()).collect();
            return fail(written.place(), format!("expected a kind: {}", names.join(" ")));
        };
        let Some(number) = all.iter().position(|kind| kind.name == word) else {
            let hint = did_you_mean(word, all.iter().map(|kind| kind.name.as_str()));
            return fail(written.place(), format!("there is no kind `{word}`{hint}"));
        };
        self.is_moot |= all[number].formulas.is_none();
        match self.is_moot {
            true => fail(written.place(), format!("`{word}` is wrong itself")),
            false => Ok((number, &all[number])),
        }
    }
}

/// The error in a value that is computed, if it is due to a name of what is in a box before that was looked at.
fn too_early(part: &Sexpr, looks: &[KindCheck<'_>], error: Error) -> Error {
    match name_at(part, error.place) {
        Some(name) if looks.iter().any(|look| !look.renames && look.name == name) => {
            let message = format!(
                "`${}` is not known yet: all that is computed is computed before anything is looked at; \
                 an `as` inside of this one knows it",
                name.text
            );
            Error::new(error.place, message)
        }
        _ => error,
    }
}

/// The name that stands at a place of an expression.
fn name_at(within: &Sexpr, place: Place) -> Option<&Name> {
    match within {
        Sexpr::Operand(name, at) if *at == place => Some(name),
        Sexpr::List(items, _) => items.iter().find_map(|item| name_at(item, place)),
        _ => None,
    }
}

/// An expression in which names stand for values.
fn within(bound: Vec<(usize, Typed)>, body: Typed, place: Place) -> Typed {
    if bound.is_empty() {
        return body;
    }
    let (ty, sign, leaves) = (body.ty, body.sign, body.leaves);
    Typed { kind: Kind::Let(bound, Box::new(body)), ty, sign, leaves, is_loose: false, place }
}
