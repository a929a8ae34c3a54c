//! `kinds u64 { name: type { is (…) unbox (…) box (…) } … }`: the kinds of values that boxed words may be of.
//!
//! In: tokens, of which [`WrittenKinds::read`] makes the set as it is written, and the vocabulary, with which [`Kinds::check`] checks
//! its formulas, once for all rows. Out: [`Kinds`], which the rows use, and the formulas as terms for the compilers.
//!
//! **Invariant:** a formula only computes, from its argument alone. Its tree has variable 0 for the argument.

use super::ast::{Constant, Enum, Kind, Opcode, Typed};
use super::check::{Checked, Checker, fail};
use super::signs::Sign;
use super::source::Source;
use super::{lower, steps};
use crate::place::{Error, Errors};
use crate::reader::Reader;
use crate::sexpr::{Name, Sexpr};
use crate::token::{Delimiter, Group, Leaf, Token};
use azulejo_core::vocab::{Op, Props, Scalar, Type, Vocabulary};

/// How a set is written, for errors.
pub(super) const USAGE: &str = "`kinds u64 { name: type { is (…) unbox (…) box (…) } … }`";

/// The number of kinds that a set may have.
const MAX_KINDS: usize = 31;

/// A set of kinds as it is written.
#[derive(Clone, Debug)]
pub struct WrittenKinds {
    /// The type of boxed values.
    boxed: Leaf,
    kinds: Vec<WrittenKind>,
}

#[derive(Clone, Debug)]
struct WrittenKind {
    name: Leaf,
    ty: Option<Leaf>,
    /// The formulas; `None` if they did not parse.
    formulas: Option<WrittenFormulas>,
}

#[derive(Clone, Debug, Default)]
struct WrittenFormulas {
    is: Option<Sexpr>,
    unbox: Option<Sexpr>,
    make_box: Option<Sexpr>,
}

/// Whether a set of kinds comes next, and not a path that starts with a module called `kinds`.
pub(super) fn comes_next(reader: &Reader) -> bool {
    reader.is_word("kinds") && !reader.has_puncts(1, "::")
}

impl WrittenKinds {
    /// Reads a set, which comes next. Errors inside the set are noted, and what is wrong counts as known.
    pub(super) fn read(reader: &mut Reader, errors: &mut Errors) -> Result<WrittenKinds, Error> {
        reader.next();
        let start = reader.last();
        let (Some(Token::Word(boxed)), Some(group)) = (reader.next(), reader.group(Delimiter::Brace)) else {
            return Err(Error::new(start, format!("kinds of values are {USAGE}")));
        };
        let mut set = WrittenKinds { boxed, kinds: Vec::new() };
        let mut inside = Reader::inside(group);
        while !inside.is_empty() {
            if inside.takes_punct(',') || inside.takes_punct(';') {
                errors.add(inside.last(), "nothing stands between kinds: leave this out");
                continue;
            }
            if let Err(error) = set.read_kind(&mut inside) {
                errors.0.push(error);
                inside.skip_until(|tokens| matches!(&tokens[0], Token::Word(_)));
            }
        }
        Ok(set)
    }

    fn read_kind(&mut self, reader: &mut Reader) -> Result<(), Error> {
        const FORM: &str = "a kind is `name: type { is (…) unbox (…) box (…) }`";
        let Some(Token::Word(name)) = reader.next() else { return Err(Error::new(reader.last(), FORM)) };
        let ty = match reader.takes_punct(':') {
            true => Some(reader.name("the type of what is in the box")?),
            false => None,
        };
        let body = reader.group(Delimiter::Brace);
        if self.kinds.iter().any(|known| known.name.text == name.text) {
            return Err(Error::new(name.place, format!("there is a kind `{}` already", name.text)));
        }
        if self.kinds.len() == MAX_KINDS {
            return Err(Error::new(name.place, format!("there can be {MAX_KINDS} kinds at most")));
        }
        let formulas = match body {
            Some(body) => read_formulas(body, &name, ty.is_some()),
            None => Err(Error::new(name.place, FORM)),
        };
        self.kinds.push(WrittenKind { name, ty, formulas: formulas.as_ref().ok().cloned() });
        formulas.map(|_| ())
    }
}

fn read_formulas(body: Group, name: &Leaf, has_values: bool) -> Result<WrittenFormulas, Error> {
    let mut reader = Reader::inside(body);
    let mut formulas = WrittenFormulas::default();
    while !reader.is_empty() {
        let word = reader.name("`is`, `unbox` or `box`")?;
        let formula = match word.text.as_str() {
            "is" => &mut formulas.is,
            "unbox" => &mut formulas.unbox,
            "box" => &mut formulas.make_box,
            other => {
                let message =
                    format!("`{other}` is no formula of a kind: `is (…)`, `unbox (…)` and `box (…)` are");
                return Err(Error::new(word.place, message));
            }
        };
        if formula.is_some() {
            return Err(Error::new(word.place, format!("`{}` has `{}` already", name.text, word.text)));
        }
        if word.text != "is" && !has_values {
            let message = format!(
                "`{0}` has no type, so it has one value only, and nothing is in its box; `{0}: type` would have more",
                name.text
            );
            return Err(Error::new(word.place, message));
        }
        *formula = Some(reader.sexpr()?);
    }
    let all = [("is", &formulas.is), ("unbox", &formulas.unbox), ("box", &formulas.make_box)];
    let missing =
        |(word, formula): &(&str, &Option<Sexpr>)| formula.is_none() && (has_values || *word == "is");
    let lacking = all.into_iter().find(missing).map(|(word, _)| word);
    match lacking {
        Some(word) => {
            let what = match word {
                "is" => "whether `$box` is one",
                "unbox" => "the value in `$box`",
                _ => "the box of `$value`",
            };
            Err(Error::new(name.place, format!("`{}` lacks `{word} (…)`: {what}", name.text)))
        }
        None => Ok(formulas),
    }
}

/// A set of kinds, checked.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    /// The type of boxed values, if there is a set.
    pub(super) boxed: Option<Scalar>,
    pub(super) all: Vec<CheckedKind>,
}

/// A kind, checked.
#[derive(Clone, Debug)]
pub(super) struct CheckedKind {
    pub(super) name: String,
    /// The type of its values outside of boxes; `None` if it has one value only.
    pub(super) scalar: Option<Scalar>,
    /// `None` if something in the kind is wrong, which was reported.
    pub(super) formulas: Option<Formulas>,
}

/// The formulas of a kind, over variable 0.
#[derive(Clone, Debug)]
pub(super) struct Formulas {
    pub(super) is: Typed,
    pub(super) unbox: Option<Typed>,
    pub(super) make_box: Option<Typed>,
}

impl Kinds {
    /// Checks the set of a `template!`, if it has one. Errors are noted.
    pub fn check(source: &Source, vocab: Vocabulary, errors: &mut Errors) -> Kinds {
        let Some(written) = &source.kinds else { return Kinds::default() };
        let WrittenKinds { boxed, kinds } = written;
        let scalar = scalar(boxed).and_then(|scalar| match scalar.ty() {
            Type::I64 => Ok(scalar),
            _ => fail(boxed.place, format!("boxed values are u64, i64 or ptr, and not {}", boxed.text)),
        });
        let mut set = Kinds { boxed: Some(*scalar.as_ref().unwrap_or(&Scalar::U64)), all: Vec::new() };
        let is_boxed = scalar.map_err(|error| errors.0.push(error)).is_ok();
        for kind in kinds {
            let checked = set.check_kind(kind, source, vocab, errors);
            set.all.push(CheckedKind { formulas: checked.formulas.filter(|_| is_boxed), ..checked });
        }
        set
    }

    fn check_kind(
        &self,
        written: &WrittenKind,
        source: &Source,
        vocab: Vocabulary,
        errors: &mut Errors,
    ) -> CheckedKind {
        let WrittenKind { name, ty, formulas } = written;
        let mut kind = CheckedKind { name: name.text.clone(), scalar: None, formulas: None };
        match ty.as_ref().map(scalar).transpose() {
            Ok(scalar) => kind.scalar = scalar,
            Err(error) => {
                errors.0.push(error);
                return kind;
            }
        }
        let Some(WrittenFormulas { is, unbox, make_box }) = formulas else { return kind };
        let boxed = self.boxed.expect("there is a set");
        let inside = kind.scalar.unwrap_or(boxed);
        let mut check = |written: &Option<Sexpr>, meant| {
            let formula = formula(written.as_ref()?, name, meant, (source, vocab));
            formula.map_err(|error| errors.0.push(error)).ok()
        };
        let checked_is = check(is, ("box", boxed, None));
        let checked_unbox = check(unbox, ("box", boxed, Some(inside)));
        let checked_box = check(make_box, ("value", inside, Some(boxed)));
        let is_whole =
            checked_unbox.is_some() == unbox.is_some() && checked_box.is_some() == make_box.is_some();
        kind.formulas = checked_is.filter(|_| is_whole).map(|is| Formulas {
            is,
            unbox: checked_unbox,
            make_box: checked_box,
        });
        kind
    }

    /// The formulas as terms; `None` if one of them is wrong.
    pub fn terms(&self) -> Option<Vec<steps::ValueKind>> {
        let terms = |kind: &CheckedKind| {
            let Formulas { is, unbox, make_box } = kind.formulas.as_ref()?;
            let or_none = |formula: &Option<Typed>| formula.as_ref().map_or(Vec::new(), lower::formula);
            Some(steps::ValueKind {
                name: kind.name.clone(),
                ty: kind.scalar.map_or(Type::Void, Scalar::ty),
                is: lower::formula(is),
                unbox: or_none(unbox),
                make_box: or_none(make_box),
            })
        };
        self.all.iter().map(terms).collect()
    }
}

/// The scalar type of this name.
fn scalar(name: &Leaf) -> Checked<Scalar> {
    let names = || Scalar::ALL.iter().map(|scalar| scalar.name()).collect::<Vec<_>>().join(" ");
    Scalar::from_name(&name.text)
        .map_or_else(|| fail(name.place, format!("expected a type: {}", names())), Ok)
}

/// The argument's name and type in a formula, and the type of the formula's result; `None` if that is a flag.
type Meant = (&'static str, Scalar, Option<Scalar>);

/// Checks one formula of a kind.
fn formula(
    written: &Sexpr,
    kind: &Leaf,
    meant: Meant,
    (source, vocab): (&Source, Vocabulary),
) -> Checked<Typed> {
    let opcode = Opcode { name: kind.text.clone(), place: kind.place, operands: Vec::new(), form_of: None };
    let none = Kinds::default();
    let mut checker = Checker::new(&opcode, Enum::default(), vocab, source, &none, true, true);
    checker.formula(written, meant).map_err(|error| checker.in_row(error, &kind.text))
}

impl Checker<'_> {
    fn formula(&mut self, written: &Sexpr, (argument, from, to): Meant) -> Checked<Typed> {
        let (ty, sign, place) = (from.ty(), Sign::of(from), written.place());
        // Only the type of this matters: the name stands for variable 0, whatever its value.
        let kind = Kind::Sequence(Vec::new());
        let value = Typed { kind, ty, sign, leaves: false, is_loose: false, place };
        self.declare(Name::written(argument), value);
        self.argument = Some(argument);
        let formula = match to {
            None => self.flag(written)?,
            Some(to) => {
                let value = self.value(written, Some(to))?;
                Typed { sign: Sign::of(to), ..self.coerce(value, to)? }
            }
        };
        computes(&formula, self.vocab)?;
        match self.variables[0].is_used {
            true => Ok(formula),
            false => {
                fail(written.place(), format!("a formula says something of `${argument}`, and this does not"))
            }
        }
    }
}

/// Checks that an expression does nothing but compute something of its variables.
fn computes(typed: &Typed, vocab: Vocabulary) -> Checked<()> {
    let all = |parts: &[Typed]| parts.iter().try_for_each(|part| computes(part, vocab));
    let problem = match &typed.kind {
        Kind::Op { op, args, checks, .. } => {
            let info = vocab.info(*op);
            // The meaning of a user's operator is not known here, but it has one.
            let has_meaning = info.reference.is_some() || op.0 >= Op::BUILTINS;
            if info.props.intersects(Props::READS | Props::WRITES) {
                "a formula touches no memory"
            } else if !checks.is_empty() {
                "a formula cannot trap, and this operator may"
            } else if !has_meaning || !info.props.contains(Props::PURE) {
                "a formula depends on nothing but the value that it is about"
            } else {
                return all(args);
            }
        }
        Kind::Constant(Constant::Tokens(_)) | Kind::Variable(_) => return Ok(()),
        Kind::Constant(_) => {
            "a formula has no addresses of statics: its constants are numbers that rustc knows"
        }
        Kind::Let(bound, body) => {
            bound.iter().try_for_each(|(_, value)| computes(value, vocab))?;
            return computes(body, vocab);
        }
        Kind::Not(inner) => return computes(inner, vocab),
        Kind::Call(_) | Kind::Invoke(_) | Kind::Try(_) | Kind::Tail(_) => "a formula calls nothing",
        _ => {
            "a formula has neither branches nor steps; `select` chooses, and `and` and `or` join flags that `flagval` \
             made numbers"
        }
    };
    fail(typed.place, problem)
}
