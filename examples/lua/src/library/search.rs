//! `string`: the functions that look for patterns.
//!
//! In: a subject and a pattern. Out: places, captures, or a string with matches replaced. A pattern is compiled once, and remembered by
//! its text.

use super::{Arguments, as_text, rooted};
use crate::object::heap::{Gc, Heap};
use crate::object::string::Str;
use crate::object::value::{FUNCTION, Type, Value};
use crate::run::error::{Ending, Result};
use crate::run::vm::Vm;
use crate::strings::{
    Captured, Gsub, MAX_CAPTURES, Match, Pattern, PatternError, Patterns, find_plain, is_plain,
    put_replacement, transform,
};
use azulejo::Frames;

/// What matching gives.
type Matched<T> = std::result::Result<T, PatternError>;

fn value_of(heap: &mut Heap, captured: Captured<'_>) -> Matched<Value> {
    match captured {
        Captured::Text(text) => heap.try_string(text).map(Value::string).ok_or(PatternError::NoMemory),
        Captured::Position(position) => Ok(Value::number(position as f64)),
    }
}

/// Puts the values of captures from the first on into places for them.
fn put_captures(heap: &mut Heap, found: &Match, subject: &[u8], values: &mut [Value]) -> Matched<()> {
    for (number, value) in values.iter_mut().enumerate() {
        *value = value_of(heap, found.capture(number, subject)?)?;
    }
    Ok(())
}

pub(super) fn find(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let (subject, text) = (args.string(vm, 1)?, args.string(vm, 2)?);
    let start = transform::find_start(subject.len(), args.integer_or(vm, 3, 1)?);
    if !args.get(4).is_true() && !is_long_and_plain(text) {
        let pattern = vm.library.patterns.get_by(text.hash(), text.bytes());
        if !pattern.is_plain() {
            return search(vm, args, &pattern, (subject, start), true);
        }
    }
    let Some(at) = find_plain(subject.bytes(), text.bytes(), start) else { return Ok(Value::NIL) };
    let (first, last) = (at as f64 + 1.0, (at + text.len()) as f64);
    Ok(vm.give(&[Value::number(first), Value::number(last)]))
}

/// Whether a pattern is plain that would have to be compiled each time to find out.
fn is_long_and_plain(text: Gc<Str>) -> bool {
    text.len() > Patterns::MAX_LEN && is_plain(text.bytes())
}

pub(super) fn match_(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let (subject, text) = (args.string(vm, 1)?, args.string(vm, 2)?);
    let start = transform::find_start(subject.len(), args.integer_or(vm, 3, 1)?);
    let pattern = vm.library.patterns.get_by(text.hash(), text.bytes());
    search(vm, args, &pattern, (subject, start), false)
}

/// Gives the first match: its place, if that is wanted, and its captures.
#[inline(always)]
fn search(
    vm: &mut Vm,
    args: Arguments<'_>,
    pattern: &Pattern,
    (subject, start): (Gc<Str>, usize),
    with_place: bool,
) -> Result<Value> {
    match first_match(vm, pattern, subject.bytes(), start, with_place) {
        Ok(Some((first, _))) => Ok(first),
        Ok(None) => Ok(Value::NIL),
        Err(error) => refused(vm, args, error),
    }
}

/// A step back of the matcher is a part of an iteration.
const STEPS: u64 = 64;

impl Vm {
    /// A search begins, which may take what is left of the program's fuel. What the one before has taken is gone.
    fn begin_search(&mut self) {
        if let Some(fuel) = self.engine.fuel() {
            let left = fuel.saturating_sub(self.library.matcher.steps() / STEPS);
            self.engine.set_fuel(left);
            self.library.matcher.limit(left.saturating_mul(STEPS));
        }
    }
}

/// Fails as a search has.
fn refused<T>(vm: &mut Vm, args: Arguments<'_>, error: PatternError) -> Result<T> {
    match error {
        PatternError::Stopped => vm.stop(Ending::Interrupted),
        PatternError::NoMemory => vm.fail_for_memory(),
        PatternError::TooManySteps => {
            vm.engine.set_fuel(0);
            vm.stop(Ending::OutOfFuel)
        }
        error => args.fail(vm, error.to_string()),
    }
}

/// Gives the first match as the results of a call: its place, if that is wanted, and its values. Returns the first of
/// them, and where the next match may start. If there is no match the results stay as they are.
#[inline(always)]
fn first_match(
    vm: &mut Vm,
    pattern: &Pattern,
    subject: &[u8],
    start: usize,
    with_place: bool,
) -> Matched<Option<(Value, usize)>> {
    vm.begin_search();
    let Vm { heap, library, results, .. } = vm;
    let Some(found) = library.matcher.find(pattern, subject, start)? else { return Ok(None) };
    // The results before the captures.
    let places = [found.start() as f64 + 1.0, found.end() as f64].map(Value::number);
    let (places, n_captures) =
        if with_place { (&places[..], found.n_captures()) } else { (&[][..], found.n_values()) };
    let behind = places.len() + n_captures - 1;
    let (mut first, to) = (Value::NIL, results.room(behind));
    let mut put = |at: usize, value: Value| match at {
        0 => first = value,
        // SAFETY: there is room for so many.
        _ => unsafe { to.add(at - 1).write(value) },
    };
    places.iter().enumerate().for_each(|(at, place)| put(at, *place));
    for number in 0..n_captures {
        put(places.len() + number, value_of(heap, found.capture(number, subject)?)?);
    }
    results.count = 1 + behind as u32;
    Ok(Some((first, found.resume())))
}

pub(super) fn gmatch(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let (subject, text) = (args.string(vm, 1)?, args.string(vm, 2)?);
    let state = [Value::string(subject), Value::string(text), Value::number(0.0)];
    let iterator = vm.heap.native(("?", next_match as *const () as usize as u64), vm.globals, &state);
    Ok(Value::object(FUNCTION, iterator))
}

/// The function that `gmatch` gives. It keeps the subject, the pattern, and where to go on.
fn next_match(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let native = vm.native().expect("a function of Rust runs");
    let [subject, text, start] = native.upvalues() else { unreachable!("gmatch makes three") };
    let [subject, text] =
        [subject, text].map(|value| value.get().as_string().expect("gmatch makes two strings"));
    let at = start.get().as_number().expect("gmatch makes a number");
    let pattern = vm.library.patterns.get_unanchored_by(text.hash(), text.bytes());
    match first_match(vm, &pattern, subject.bytes(), at as usize, false) {
        Ok(Some((first, resume))) => {
            start.set(Value::number(resume as f64));
            Ok(first)
        }
        // Whoever asks again gets the same: the place stays where it is.
        Ok(None) => Ok(vm.give(&[])),
        Err(error) => refused(vm, args, error),
    }
}

/// What takes the place of matches.
#[derive(Clone, Copy)]
enum Replacement {
    Text(Gc<Str>),
    /// A table that has it, or a function that gives it.
    Looked(Value),
}

pub(super) fn gsub(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let (subject, text) = (args.string(vm, 1)?, args.string(vm, 2)?);
    let limit = if args.get(4).is_nil() { None } else { Some(args.int(vm, 4)?) };
    let replacement = args.get(3);
    let replacement = match replacement.type_of() {
        Type::String | Type::Number => Replacement::Text(as_text(vm, replacement).expect("it has a text")),
        Type::Table | Type::Function => Replacement::Looked(replacement),
        _ => return args.bad(vm, 3, "string/function/table expected"),
    };
    let pattern = vm.library.patterns.get_by(text.hash(), text.bytes());
    // Functions may change what the arguments are from.
    let kept = [Value::string(subject), args.get(3)];
    rooted(vm, &kept, |vm| {
        let (mut state, mut out) = (Gsub::new(limit), vm.library.take_buffer());
        while replace_next(vm, args, (&mut state, &mut out), (&pattern, subject), replacement)? {
            // A text that has become longer than it may be is made no longer.
            vm.make_room(&mut out, 0)?;
        }
        let result = match state.count() {
            0 => Value::string(subject),
            _ => {
                state.finish(subject.bytes(), &mut out).or_else(|error| refused(vm, args, error))?;
                vm.new_string(&out)?
            }
        };
        vm.library.bring_back(out);
        Ok(vm.give(&[result, Value::number(state.count() as f64)]))
    })
}

/// Replaces the next match. Returns whether there was one.
fn replace_next(
    vm: &mut Vm,
    args: Arguments<'_>,
    (state, out): (&mut Gsub, &mut Vec<u8>),
    (pattern, subject): (&Pattern, Gc<Str>),
    replacement: Replacement,
) -> Result<bool> {
    let subject = subject.bytes();
    vm.begin_search();
    let found = match state.next(&mut vm.library.matcher, pattern, subject, out) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(false),
        Err(error) => return refused(vm, args, error),
    };
    let callee = match replacement {
        Replacement::Text(text) => {
            return match put_replacement(found, subject, text.bytes(), out) {
                Ok(()) => Ok(true),
                Err(error) => refused(vm, args, error),
            };
        }
        Replacement::Looked(callee) => callee,
    };
    let whole = found.start()..found.end();
    let is_function = callee.type_of() == Type::Function;
    let count = if is_function { found.n_values() } else { 1 };
    let mut captures = [Value::NIL; MAX_CAPTURES];
    let captures = &mut captures[..count];
    if let Err(error) = put_captures(&mut vm.heap, found, subject, captures) {
        return refused(vm, args, error);
    }
    let value = match is_function {
        true => args.call(vm, callee, captures)?,
        false => vm.get(args.frames(), callee, captures[0])?,
    };
    match as_text(vm, value) {
        Some(text) => {
            vm.make_room(out, text.len())?;
            text.append_to(out);
        }
        None if !value.is_true() => {
            vm.make_room(out, whole.len())?;
            out.extend_from_slice(&subject[whole]);
        }
        None => {
            let message = format!("invalid replacement value (a {})", value.type_of().name());
            return args.fail(vm, message);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{check, check_error};

    #[test]
    fn places_and_captures() {
        check("('hello'):find('l'), ('hello'):find('l', 1, true)", "3 3 3");
        check("('hello'):find('(l)(l)()')", "3 4 'l' 'l' 5");
        check("('a.b'):find('.', 2, true), ('abc'):find('', 10), ('abc'):find('x')", "2 4 nil");
        check("('key = value'):match('^(%w+)%s*=%s*(%w+)$')", "'key' 'value'");
        check("('abc'):match('b'), ('abc'):match('()c'), ('abc'):match('z')", "'b' 3 nil");
    }

    #[test]
    fn matches_one_after_the_other() {
        check(
            "(function() local t = {} for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do t[#t + 1] = k .. v end \
             return unpack_(t) end)()",
            "'a1' 'b2'",
        );
        check(
            "(function() local f = ('ab'):gmatch('') return f(), f(), f(), f(), f() end)()",
            "'' '' '' nil",
        );
        check("string.gmatch('^a', '^a')()", "'^a'");
    }

    #[test]
    fn replacements() {
        check("('hello world'):gsub('o', '0')", "'hell0 w0rld' 2");
        check("('hello'):gsub('l', {l = 7}, 1)", "'he7lo' 1");
        check("('abc'):gsub('%w', function(c) if c ~= 'b' then return c .. c end end)", "'aabcc' 3");
        check("('abc'):gsub('(b)()', function(c, at) return c .. at end)", "'ab3c' 1");
        check(
            "('$x'):gsub('%$(%w+)', setmetatable({}, {__index = function(_, k) return k .. '!' end}))",
            "'x!' 1",
        );
        check("('abc'):gsub('b', 12), ('a'):gsub('x', {})", "'a12c' 'a' 0");
        check(
            "('ab'):gsub('.', function(c) return (('x'):gsub('x', function() return c .. c end)) end)",
            "'aabb' 2",
        );
    }

    #[test]
    fn errors() {
        check_error("('a'):find('[a')", "malformed pattern (missing ']')");
        check_error(
            "string.gsub('a', 'a', true)",
            "bad argument #3 to 'gsub' (string/function/table expected)",
        );
        check_error("string.gsub('a', 'a', function() return {} end)", "invalid replacement value (a table)");
        check_error("string.gmatch('a', '%')()", "malformed pattern (ends with '%')");
        check_error("string.gsub('a', '(a', '%1')", "unfinished capture");
    }
}
