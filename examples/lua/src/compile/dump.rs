//! Functions to bytes and back: what `string.dump` makes, and `loadstring` takes.
//!
//! In: a closure. Out: bytes, of which a closure is made again; its upvalues are new variables, which are nil. The bytes begin as those
//! of C's Lua do, with a number of this format behind it, and a checksum.
//!
//! They have the function's source, not its bytecode. Bytecode from outside would have to be proved to take nothing for a cell that is a
//! number, and no number for an address; source text cannot be wrong in such a way, whoever has written the bytes. It costs that the
//! source of a chunk stays as long as its functions, and that loading compiles.

use super::{Builder, CapturedVariable, TooComplex};
use crate::object::function::Closure;
use crate::object::heap::Gc;
use crate::object::value::{THREAD, Value};
use crate::run::vm::{Vm, prototype};
use crate::syntax::ast::{FunctionText, Name};
use crate::syntax::{self, Arena, SyntaxError};
use std::rc::Rc;

/// How dumps begin: C's signature, the version of the language, and the number of this format, where C's Lua has a zero.
const HEADER: &[u8] = b"\x1bLua\x51\xa1";

/// Whether a chunk is no text.
pub(super) fn is_dump(chunk: &[u8]) -> bool {
    chunk.first() == HEADER.first()
}

/// The checksum of bytes: 64 bits by the method of Fowler, Noll and Vo.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ *byte as u64).wrapping_mul(0x100_0000_01b3))
}

fn put_number(number: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_text(text: &[u8], out: &mut Vec<u8>) {
    put_number(u32::try_from(text.len()).expect("strings of Lua are shorter"), out);
    out.extend_from_slice(text);
}

/// Reads what was put.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], SyntaxError> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or_else(|| SyntaxError::of_binary("unexpected end"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, SyntaxError> {
        Ok(u32::from_le_bytes(self.bytes(4)?.try_into().expect("there are four")))
    }

    fn text(&mut self) -> Result<&'a [u8], SyntaxError> {
        let count = self.number()?;
        self.bytes(count as usize)
    }
}

impl Vm {
    /// A closure's function as bytes; `None` if it has no source.
    pub(crate) fn dump(&self, closure: Gc<Closure>) -> Option<Vec<u8>> {
        let prototype = prototype(closure);
        let (source, text) = prototype.text.as_ref()?;
        let mut out = Vec::new();
        put_text(&prototype.chunk, &mut out);
        put_number(prototype.span.0, &mut out);
        put_number(text.line, &mut out);
        put_number(text.is_method as u32, &mut out);
        put_number(prototype.upvalues.len() as u32, &mut out);
        prototype.upvalues.iter().for_each(|(name, _)| put_text(name, &mut out));
        put_text(&source[text.bytes.clone()], &mut out);
        Some([HEADER, &checksum(&out).to_le_bytes(), &out].concat())
    }

    /// Makes a closure of what [`Vm::dump`] has made.
    pub(super) fn undump(&mut self, dump: &[u8]) -> Result<Gc<Closure>, SyntaxError> {
        let wrong = SyntaxError::of_binary;
        let mut reader = Reader(dump);
        // C's Lua reads so many bytes before it looks at any.
        const C_HEADER: usize = 12;
        if dump.len() < C_HEADER {
            return Err(wrong("unexpected end"));
        }
        if reader.bytes(HEADER.len())? != HEADER {
            return Err(wrong("bad header"));
        }
        let sum = u64::from_le_bytes(reader.bytes(8)?.try_into().expect("there are eight"));
        let is_whole = checksum(reader.0) == sum;
        let chunk = reader.text()?;
        let [line, first_line, is_method, count] =
            [reader.number()?, reader.number()?, reader.number()?, reader.number()?];
        let names = (0..count).map(|_| reader.text().map(Name::from)).collect::<Result<Vec<Name>, _>>()?;
        let source = reader.text()?;
        if !is_whole || !reader.0.is_empty() {
            return Err(wrong("bad code"));
        }
        if line == 0 {
            return self.load_text(source, chunk);
        }
        let text = FunctionText { bytes: 0..source.len(), line: first_line, is_method: is_method != 0 };
        let arena = Arena::default();
        let parsed = syntax::parse_function(&arena, source, &text, &names, line)?;
        let (function, is_assigned) = parsed.ok_or_else(|| wrong("bad code"))?;
        let form = self.form_of(&function);
        let upvalues = is_assigned.iter().map(|is_assigned| (*is_assigned || form.shares_all, None));
        let captures = CapturedVariable::of_alone(upvalues);
        let draft = Builder::new(&mut self.heap, &function, &captures, form).finish();
        let draft = draft.map_err(|TooComplex { .. }| wrong("bad code"))?;
        let definition = self.define(draft, &Rc::from(chunk), &Rc::from(source));
        let upvalues: Vec<Value> = captures
            .iter()
            .map(|capture| match capture.is_shared {
                true => Value::object(THREAD, self.heap.cell(Value::NIL)),
                false => Value::NIL,
            })
            .collect();
        Ok(self.heap.closure(definition, self.globals, &upvalues))
    }
}

#[cfg(test)]
mod tests {
    use super::{HEADER, checksum};
    use crate::random::Random;
    use crate::run::vm::{Tiers, Vm};

    #[test]
    fn whatever_a_dump_was_made_is_refused_or_is_a_function() {
        let source = "local up, other = 1, 2
            return string.dump(function(a, ...)
                local t = { a, up, ... }
                other = function() return t, up end
                for i, v in ipairs(t) do if v then other = v .. i else return nil end end
                return other
            end)";
        let mut vm = Vm::new(Tiers::Interpreter);
        vm.open();
        let made = vm.load(source.as_bytes(), b"=test").expect("the source is right");
        let dump =
            vm.call(made, &[]).expect("it is dumped")[0].as_string().expect("it is text").bytes().to_vec();
        assert!(vm.load(&dump, &dump).is_ok());
        (0..dump.len())
            .for_each(|end| assert!(end == 0 || vm.load(&dump[..end], &dump).is_err(), "{end} bytes"));
        let mut random = Random::new(7);
        let mut below = |limit: usize| (random.fraction() * limit as f64) as usize;
        let (mut refused, mut loaded) = (0, 0);
        for _ in 0..20_000 {
            let mut changed = dump.clone();
            for _ in 0..1 + below(3) {
                let at = below(changed.len());
                changed[at] = below(256) as u8;
            }
            // A change that the checksum does not show is one by somebody who knows of it.
            let has_sum = below(2) == 0;
            if has_sum {
                let (sum, rest) = (HEADER.len(), HEADER.len() + 8);
                let right = checksum(&changed[rest..]);
                changed[sum..rest].copy_from_slice(&right.to_le_bytes());
            }
            match vm.load(&changed, &dump) {
                Ok(_) => loaded += 1,
                Err(_) => refused += 1,
            }
            assert!(has_sum || changed == dump || vm.load(&changed, &dump).is_err());
        }
        assert!(refused > 10_000 && loaded > 100, "{refused} were refused, {loaded} were loaded");
    }
}
