//! Forms of control flow: sequences, conditionals, and exits from the template.
//!
//! In: the words after the form's name. Out: a [`Typed`] tree, or an error. A mark belongs to the sequence that
//! contains it, so that the interpreter can be written with loops and needs no jump into the middle of an expression.

use super::ast::{Kind, Typed};
use super::check::{Checked, Checker, fail, flag, leaving, void, wrong_count};
use super::signs::Sign;
use crate::place::Place;
use crate::sexpr::{Name, Sexpr};
use crate::token::made;
use azulejo_core::ir::bytecode::OperandKind;
use azulejo_core::vocab::op::Cast;
use azulejo_core::vocab::{Scalar, Type};

/// A mark of a sequence that is being checked.
pub(super) struct Mark {
    name: Name,
    sequence: usize,
    number: usize,
    place: Place,
    is_used: bool,
    /// Whether control may come here behind an effect.
    has_effect: bool,
}

impl Checker<'_> {
    /// Checks a form of control flow. `None` if the word names none.
    pub(super) fn control(
        &mut self,
        word: &str,
        rest: &[Sexpr],
        place: Place,
        expect: Option<Scalar>,
    ) -> Option<Checked<Typed>> {
        Some(match word {
            "do" | "dov" => self.sequence(word, rest, place, expect),
            "if" => self.if_value(rest, place, expect),
            "when" | "ifv" => self.either(word, rest, place),
            "all" | "any" | "notf" | "likely" | "unlikely" => self.condition(word, rest, place),
            "cold" | "discard" => self.once(word, rest, place),
            "branch" => self.branch(rest, place),
            "mark" => fail(place, "a mark stands among the steps of a `do`, `dov` or `letv:`"),
            "label" => fail(place, "`(label name)` stands in a branch: `(branch (label name))`"),
            "exit" => self.exit(rest, place),
            "return" => self.give_back(rest, place),
            "tail" => self.tail(rest, place),
            "trap" => self.trap(rest, place),
            "switch" => self.switch(rest, place),
            "set" => self.set(rest, place),
            "quicken" => self.quicken(rest, place),
            "guard" => self.guard(rest, place),
            "slow" | "slowv" => self.slow(word, rest, place, expect),
            "outside" | "outsidev" => self.outside(word, rest, place, expect),
            "within" => self.within(rest, place, expect),
            _ => return None,
        })
    }

    fn either(&mut self, word: &str, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let (condition, so, not) = match (word, rest) {
            ("when", [condition, so]) => (condition, so, None),
            ("ifv", [condition, so, not]) => (condition, so, Some(not)),
            ("when", _) => return wrong_count(place, word, "a flag and what is done", rest),
            _ => return wrong_count(place, word, "a flag and two things to do", rest),
        };
        let condition = self.flag(condition)?;
        let [so, not] = self.arms(
            |checker| checker.statement(so),
            |checker| match not {
                Some(not) => checker.statement(not),
                None => Ok(void(Kind::Sequence(Vec::new()), place)),
            },
        )?;
        Ok(one_of(condition, [so, not], place))
    }

    /// Checks two ways of which one is taken. An effect of one has not occurred in the other, nor behind it if it leaves.
    pub(super) fn arms(
        &mut self,
        so: impl FnOnce(&mut Self) -> Checked<Typed>,
        not: impl FnOnce(&mut Self) -> Checked<Typed>,
    ) -> Checked<[Typed; 2]> {
        let before = self.has_effect;
        let so = self.perhaps(so)?;
        let of_so = std::mem::replace(&mut self.has_effect, before);
        let not = self.perhaps(not)?;
        let of_not = self.has_effect;
        self.has_effect = before || of_so && !so.leaves || of_not && !not.leaves;
        Ok([so, not])
    }

    fn condition(&mut self, word: &str, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        if matches!(word, "all" | "any") {
            if rest.is_empty() {
                return wrong_count(place, word, "flags", rest);
            }
            let flags = rest.iter().map(|part| self.perhaps(|checker| checker.flag(part)));
            let flags = flags.collect::<Checked<Vec<_>>>()?;
            return Ok(flag(if word == "all" { Kind::All(flags) } else { Kind::Any(flags) }, place));
        }
        let [operand] = rest else { return wrong_count(place, word, "a flag", rest) };
        let operand = Box::new(self.flag(operand)?);
        let kind = if word == "notf" { Kind::Not(operand) } else { Kind::Likely(operand, word == "likely") };
        Ok(flag(kind, place))
    }

    fn once(&mut self, word: &str, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        match (word, rest) {
            ("cold", [body]) => {
                let body = self.statement(body)?;
                Ok(Typed { leaves: body.leaves, ..void(Kind::Cold(Box::new(body)), place) })
            }
            ("discard", [value]) => {
                let value = self.value(value, None)?;
                Ok(void(Kind::Sequence(vec![value]), place))
            }
            ("cold", _) => wrong_count(place, word, "what is done", rest),
            _ => wrong_count(place, word, "a value", rest),
        }
    }

    fn branch(&mut self, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        if let [Sexpr::List(items, at)] = rest
            && let [head, name] = &items[..]
            && head.word() == Some("label")
        {
            let Sexpr::Word(_, name, _) = name else { return fail(*at, "a label is `(label name)`") };
            let Some(mark) = self.marks.iter_mut().rev().find(|mark| mark.name == *name) else {
                let own = self.marks.iter().filter(|mark| mark.name.writer == name.writer);
                let names: Vec<&str> = own.map(|mark| mark.name.text.as_str()).collect();
                let name = &name.text;
                let known = match names.is_empty() {
                    true => "there is none around this".to_string(),
                    false => format!("around this: {}", names.join(" ")),
                };
                return fail(*at, format!("there is no `(mark {name})` among the steps; {known}"));
            };
            mark.is_used = true;
            mark.has_effect |= self.has_effect;
            return Ok(leaving(Kind::GoTo(mark.sequence, mark.number), place));
        }
        if rest.len() != 1 {
            return wrong_count(place, "branch", "a `Label` operand or `(label name)`", rest);
        }
        let to = self.operand_of(
            rest.first(),
            &[OperandKind::Label],
            "a `Label` operand, or `(label name)`",
            place,
        )?;
        Ok(leaving(Kind::Goto(to), place))
    }

    fn exit(&mut self, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let to = match rest {
            [] => None,
            [_] => Some(self.operand_of(
                rest.first(),
                &[OperandKind::Label],
                "a `Label` operand, or nothing",
                place,
            )?),
            _ => return wrong_count(place, "exit", "a `Label` operand, or nothing", rest),
        };
        Ok(leaving(Kind::Exit(to), place))
    }

    fn trap(&mut self, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let [code] = rest else { return wrong_count(place, "trap", "a number from 0 to 65535", rest) };
        let tokens = self.number(code)?;
        Ok(leaving(Kind::Trap(tokens), place))
    }

    /// Checks that the template may store an output.
    fn stores(&self, place: Place) -> Checked<()> {
        if self.stores_itself {
            return Ok(());
        }
        let name = &self.opcode.name;
        fail(place, format!("only a template written `{name}! => …` stores its outputs itself"))
    }

    /// Checks `(place $output)`.
    pub(super) fn place(&mut self, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let [operand] = rest else {
            return wrong_count(place, "place", "an output", rest);
        };
        self.stores(place)?;
        let at = self.operand_of(
            Some(operand),
            &[OperandKind::Out, OperandKind::InOut],
            "an output in a VM register",
            place,
        )?;
        self.has_effect = true;
        self.stored.push(at);
        self.surely_stored.push(at);
        let (ty, sign) = (Type::I64, Sign::Unsigned);
        Ok(Typed { kind: Kind::Place(at), ty, sign, leaves: false, is_loose: false, place })
    }

    fn set(&mut self, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let [_, value] = rest else {
            return wrong_count(place, "set", "an output and its value", rest);
        };
        self.stores(place)?;
        let to = self.operand_of(
            rest.first(),
            &[OperandKind::Out, OperandKind::InOut, OperandKind::Push],
            "an output",
            place,
        )?;
        let scalar = self.scalar_of(to);
        let value = self.value(value, Some(scalar))?;
        let value = self.coerce(value, scalar)?;
        self.has_effect = true;
        self.stored.push(to);
        self.surely_stored.push(to);
        Ok(void(Kind::Set(to, Box::new(value)), place))
    }

    fn guard(&mut self, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let [condition, body] = rest else {
            return wrong_count(place, "guard", "a flag, and what the interpreter does without it", rest);
        };
        if self.has_effect {
            return fail(
                place,
                "a guard stands before all effects: if it fails, the interpreter runs the opcode from its start",
            );
        }
        let condition = self.flag(condition)?;
        let body = self.perhaps(|checker| checker.statement(body))?;
        Ok(void(Kind::Guard(Box::new(condition), Box::new(body)), place))
    }

    /// Checks `(slow body)`, and `(slow function (arglist …) type)`, which is `(slow (call throws function (arglist …) type))`.
    /// `slowv` is for what has no value.
    fn slow(&mut self, word: &str, rest: &[Sexpr], place: Place, expect: Option<Scalar>) -> Checked<Typed> {
        if rest.is_empty() {
            return wrong_count(place, word, "what is done, or a function and `(arglist …)`", rest);
        }
        self.stands_before_effects("a slow path", place)?;
        let is_within = std::mem::replace(&mut self.is_slow, true);
        let body = match (word, rest) {
            ("slow", [body]) => self.perhaps(|checker| checker.expression(body, expect)),
            ("slowv", [body]) => self.perhaps(|checker| checker.statement(body)),
            _ => {
                let throws = Sexpr::Word(made("throws"), Name::written("throws"), place);
                let call = [&[throws], rest].concat();
                self.perhaps(|checker| checker.call(word, &call, place))
            }
        };
        self.is_slow = is_within;
        let body = body?;
        let (ty, sign, leaves) = (body.ty, body.sign, body.leaves);
        if ty == Type::Flag {
            return fail(
                body.place,
                "a slow path has a number as its value, or none; `(flagval … u8)` makes one of a flag",
            );
        }
        Ok(Typed { kind: Kind::Slow(Box::new(body)), ty, sign, leaves, is_loose: false, place })
    }

    /// Refuses what compiled code may leave at, if the opcode has had an effect by then.
    pub(super) fn stands_before_effects(&self, what: &str, place: Place) -> Checked<()> {
        match self.has_effect {
            true => fail(
                place,
                format!(
                    "{what} stands before all effects: compiled code may leave there, and the opcode runs again from its start"
                ),
            ),
            false => Ok(()),
        }
    }

    pub(super) fn sequence(
        &mut self,
        word: &str,
        rest: &[Sexpr],
        place: Place,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        let Some(last) = rest.last() else {
            return wrong_count(place, word, "what is done", rest);
        };
        let outer = self.marks.len();
        let sequence = self.n_sequences;
        self.n_sequences += 1;
        for step in rest {
            if let Some((name, at)) = mark(step)? {
                if self.marks.iter().any(|known| known.name == *name) {
                    return fail(at, format!("there is a `(mark {})` already", name.text));
                }
                let number = self.marks.len() - outer + 1;
                let (name, is_used, has_effect) = (name.clone(), false, false);
                self.marks.push(Mark { name, sequence, number, place: at, is_used, has_effect });
            }
        }
        let stored_before = self.surely_stored.len();
        let mut runs: Vec<Vec<Typed>> = vec![Vec::new()];
        for (at, step) in rest.iter().enumerate() {
            if let Some((name, _)) = mark(step)? {
                let falls = runs.last().and_then(|run| run.last()).is_none_or(|before| !before.leaves);
                let known = self.marks[outer..].iter().find(|known| known.name == *name);
                // A jump back to the mark repeats the steps that follow it.
                let is_repeated = rest[at..].iter().any(|later| names_label(later, name));
                self.has_effect =
                    is_repeated || falls && self.has_effect || known.is_some_and(|known| known.has_effect);
                // A jump to the mark may come from a point where nothing was stored yet.
                self.surely_stored.truncate(stored_before);
                runs.push(Vec::new());
                continue;
            }
            let run = runs.last_mut().expect("there is a first");
            if let Some(before) = run.last().filter(|before| before.leaves) {
                return fail(before.place, "what follows this is never reached");
            }
            let is_value = word == "do" && core::ptr::eq(step, last);
            let step = if is_value { self.expression(step, expect)? } else { self.statement(step)? };
            runs.last_mut().expect("there is a first").push(step);
        }
        if let Some(mark) = self.marks[outer..].iter().find(|mark| !mark.is_used) {
            let message = format!("nothing goes to this mark: `(branch (label {}))` would", mark.name.text);
            return fail(mark.place, message);
        }
        self.marks.truncate(outer);
        let is_value = word == "do" && runs.last().is_some_and(Vec::is_empty);
        let (ty, sign, leaves) = match runs.last().and_then(|run| run.last()) {
            _ if is_value => return fail(last.place(), "a mark is no value: a `do` ends with one"),
            Some(last) => (last.ty, last.sign, last.leaves),
            None => (Type::Void, Sign::Unsigned, false),
        };
        let kind = match runs.len() {
            1 => Kind::Sequence(runs.pop().expect("there is one")),
            _ => Kind::Marked(sequence, runs),
        };
        Ok(Typed { kind, ty, sign, leaves, is_loose: false, place })
    }

    fn if_value(&mut self, rest: &[Sexpr], place: Place, expect: Option<Scalar>) -> Checked<Typed> {
        let [condition, so, not] = rest else {
            return wrong_count(place, "if", "a flag and two values", rest);
        };
        let condition = self.flag(condition)?;
        let arms =
            self.arms(|checker| checker.expression(so, expect), |checker| checker.expression(not, expect))?;
        self.choice("if", condition, arms, place, expect)
    }

    /// The value of one of two ways, as a flag says.
    pub(super) fn choice(
        &mut self,
        word: &str,
        condition: Typed,
        [so, not]: [Typed; 2],
        place: Place,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        let is_flag = |arm: &Typed| arm.leaves || arm.ty == Type::Flag;
        if is_flag(&so) && is_flag(&not) && !(so.leaves && not.leaves) {
            let kind = Kind::If(Box::new(condition), Box::new(so), Box::new(not));
            return Ok(flag(kind, place));
        }
        for arm in [&so, &not] {
            if !arm.leaves && arm.ty == Type::Flag {
                let message = format!("one way of this `{word}` has a flag, and the other one has not");
                return fail(arm.place, message);
            }
            if !arm.leaves && !arm.ty.is_value() {
                let article = if word.starts_with('c') { "a" } else { "an" };
                let message =
                    format!("both ways of {article} `{word}` have a value; `{word}v` is for what is done");
                return fail(arm.place, message);
            }
        }
        let (so, not) = match (so.leaves, not.leaves) {
            (false, false) => {
                let mut arms = self.agree(vec![so, not], Cast::Signed, expect, place)?;
                let not = arms.pop().expect("there are two");
                (arms.pop().expect("there are two"), not)
            }
            _ => (so, not),
        };
        let model = if so.leaves { &not } else { &so };
        let (ty, sign, leaves) = (model.ty, model.sign, so.leaves && not.leaves);
        let kind = Kind::If(Box::new(condition), Box::new(so), Box::new(not));
        Ok(Typed { kind, ty, sign, leaves, is_loose: false, place })
    }

    fn give_back(&mut self, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        match rest {
            [] => Ok(leaving(Kind::Return(None), place)),
            [value] => {
                let value = self.value(value, None)?;
                Ok(leaving(Kind::Return(Some(Box::new(value))), place))
            }
            _ => wrong_count(place, "return", "one value or none", rest),
        }
    }

    fn switch(&mut self, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let Some((value, labels)) = rest.split_first() else {
            return wrong_count(place, "switch", "a number and labels, the last for all others", rest);
        };
        if labels.is_empty() {
            return wrong_count(place, "switch", "a number and labels, the last for all others", rest);
        }
        let value = self.value(value, Some(Scalar::U64))?;
        let value = self.coerce(value, Scalar::U64)?;
        let mut operands = Vec::new();
        for label in labels {
            operands.push(self.operand_of(
                Some(label),
                &[OperandKind::Label, OperandKind::Labels],
                "a label",
                place,
            )?);
        }
        let lists =
            operands.iter().filter(|&&at| self.opcode.operands[at].kind == OperandKind::Labels).count();
        if lists > 0 && operands.len() > 1 {
            return fail(place, "a `Labels` operand is the whole list, the default included");
        }
        Ok(leaving(Kind::Switch(Box::new(value), operands), place))
    }
}

/// One of two things to do, as a flag says.
pub(super) fn one_of(condition: Typed, [so, not]: [Typed; 2], place: Place) -> Typed {
    let leaves = so.leaves && not.leaves;
    let kind = Kind::If(Box::new(condition), Box::new(so), Box::new(not));
    Typed { leaves, ..void(kind, place) }
}

/// The name of the mark, if a step is one.
fn mark(step: &Sexpr) -> Checked<Option<(&Name, Place)>> {
    let Sexpr::List(items, place) = step else { return Ok(None) };
    match &items[..] {
        [head, rest @ ..] if head.word() == Some("mark") => match rest {
            [Sexpr::Word(_, name, _)] if !name.text.contains(':') => Ok(Some((name, *place))),
            _ => fail(*place, "a mark is `(mark name)`"),
        },
        _ => Ok(None),
    }
}

/// Whether there is a `(label name)` in a step.
fn names_label(step: &Sexpr, name: &Name) -> bool {
    let Sexpr::List(items, _) = step else { return false };
    let is_its = match &items[..] {
        [head, Sexpr::Word(_, label, _)] => head.word() == Some("label") && label == name,
        _ => false,
    };
    is_its || items.iter().any(|item| names_label(item, name))
}
