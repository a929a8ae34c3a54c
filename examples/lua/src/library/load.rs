//! Chunks of programs: from strings, from files, and from functions that give them piece by piece.

use super::arguments;
use crate::object::function::Closure;
use crate::object::heap::Gc;
use crate::object::value::{FUNCTION, Value};
use crate::run::error::{Result, Thrown};
use crate::run::vm::Vm;
use crate::syntax::SyntaxError;
use crate::system_text::system_text;
use azulejo::Frames;
use std::io::Read;

/// What `load` and its like give: the function, or `nil` and a message.
fn loaded(vm: &mut Vm, source: &[u8], chunk: &[u8]) -> Value {
    let loaded = vm.load(source, chunk);
    function_or_message(vm, loaded, chunk)
}

fn function_or_message(
    vm: &mut Vm,
    loaded: std::result::Result<Gc<Closure>, SyntaxError>,
    chunk: &[u8],
) -> Value {
    match loaded {
        Ok(closure) => {
            vm.results.count = 1;
            Value::object(FUNCTION, closure)
        }
        Err(error) => {
            let message = vm.heap.string(&error.text(chunk));
            vm.give(&[Value::NIL, Value::string(message)])
        }
    }
}

pub(super) fn loadstring(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let text = arguments::string(vm, frames, args, 0)?;
    let chunk = match args.get(1) {
        None | Some(&Value::NIL) => text,
        Some(_) => arguments::string(vm, frames, args, 1)?,
    };
    Ok(loaded(vm, text.bytes(), chunk.bytes()))
}

pub(super) fn load(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let reader = arguments::function(vm, frames, args, 0)?;
    let chunk = match args.get(1) {
        None | Some(&Value::NIL) => b"=(load)".to_vec(),
        Some(_) => arguments::string(vm, frames, args, 1)?.bytes().to_vec(),
    };
    let mut thrown = None;
    let mut more = |vm: &mut Vm, source: &mut Vec<u8>| {
        let read = if thrown.is_none() { read_piece(vm, frames, reader, source) } else { Ok(false) };
        read.unwrap_or_else(|why| {
            thrown = Some(why);
            false
        })
    };
    let loaded = vm.load_pieces(&chunk, &mut more);
    match thrown {
        None => Ok(function_or_message(vm, loaded, &chunk)),
        Some(Thrown::Error) => {
            let error = vm.error;
            Ok(vm.give(&[Value::NIL, error]))
        }
        Some(Thrown::Ended) => Err(Thrown::Ended),
    }
}

/// Appends what a reader gives; returns whether that is anything.
fn read_piece(vm: &mut Vm, frames: &Frames<'_>, reader: Value, source: &mut Vec<u8>) -> Result<bool> {
    let piece = vm.call_value(frames, reader, &[])?;
    if piece.is_nil() || vm.results.count == 0 {
        return Ok(false);
    }
    match super::as_text(vm, piece) {
        Some(text) => {
            source.extend_from_slice(text.bytes());
            Ok(!text.bytes().is_empty())
        }
        None => vm.fail(frames, "reader function must return a string"),
    }
}

/// The text of a file, or of the standard input, and what its chunk is called; or else why it cannot be read.
pub(crate) fn read_file(path: Option<&[u8]>) -> std::result::Result<(Vec<u8>, Vec<u8>), Vec<u8>> {
    let mut source = Vec::new();
    let chunk = match path {
        Some(path) => {
            let cannot = |what: &[u8], error: &std::io::Error| {
                [b"cannot ", what, b" ", path, b": ", arguments::reason(error).as_bytes()].concat()
            };
            let mut file = std::fs::File::open(system_text(path)).map_err(|error| cannot(b"open", &error))?;
            file.read_to_end(&mut source).map_err(|error| cannot(b"read", &error))?;
            [b"@", path].concat()
        }
        None => {
            let _ = std::io::stdin().read_to_end(&mut source);
            b"=stdin".to_vec()
        }
    };
    // The first line may be for the shell. Its end stays, so that lines have their numbers; a dump has none.
    if source.first() == Some(&b'#') {
        let line = source.iter().position(|byte| *byte == b'\n').unwrap_or(source.len());
        let is_dump = source.get(line + 1) == Some(&b'\x1b');
        source.drain(..line + is_dump as usize);
    }
    Ok((source, chunk))
}

pub(super) fn loadfile(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let path = match args.first() {
        None | Some(&Value::NIL) => None,
        Some(_) => Some(arguments::string(vm, frames, args, 0)?.bytes().to_vec()),
    };
    Ok(loaded_file(vm, path.as_deref()))
}

/// The function of a file, or `nil` and a message.
pub(super) fn loaded_file(vm: &mut Vm, path: Option<&[u8]>) -> Value {
    match read_file(path) {
        Ok((source, chunk)) => loaded(vm, &source, &chunk),
        Err(message) => {
            let message = vm.heap.string(&message);
            vm.give(&[Value::NIL, Value::string(message)])
        }
    }
}

pub(super) fn dofile(vm: &mut Vm, frames: &Frames<'_>, args: &[Value]) -> Result<Value> {
    let function = loadfile(vm, frames, args)?;
    if function.is_nil() {
        let message = vm.results.behind()[0];
        return vm.throw(frames, message);
    }
    vm.call_value(frames, function, &[])
}
