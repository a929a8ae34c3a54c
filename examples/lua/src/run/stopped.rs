//! Where a program was when it was stopped.
//!
//! In: the functions that ran, which the engine has noted from the inside out. Out: text, as `debug.traceback` makes of an error. Functions of
//! Rust are not in it.

use super::vm::Vm;
use crate::syntax::chunk_id;

/// So many functions are shown. Of calls that nest deep, the engine does not know the outermost.
const HEAD: usize = 22;

impl Vm {
    /// Why the program has ended, and where it was, if that is known.
    pub(crate) fn text_of_ending(&self) -> Vec<u8> {
        let places: Vec<(Vec<u8>, String)> = self
            .stopped_at
            .iter()
            .filter_map(|frame| {
                let prototype = self.prototypes.get(frame.function.number() as usize)?.as_ref()?;
                let line = prototype.lines.get(frame.at as usize)?;
                let place = [&chunk_id(&prototype.chunk)[..], format!(":{line}:").as_bytes()].concat();
                Some((place, prototype.title()))
            })
            .collect();
        let mut text = places.first().map_or(Vec::new(), |(place, _)| [&place[..], b" "].concat());
        text.extend_from_slice(self.ending.text().as_bytes());
        if !places.is_empty() {
            text.extend_from_slice(b"\nstack traceback:");
        }
        for (at, (place, title)) in places.iter().enumerate() {
            if at == HEAD {
                text.extend_from_slice(b"\n\t...");
                break;
            }
            text.extend_from_slice(&[b"\n\t", &place[..], b" in ", title.as_bytes()].concat());
        }
        text
    }
}
