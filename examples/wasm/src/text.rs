//! Modules that are written as text.
//!
//! In: what is in a file. Out: the bytes of a module, which nobody has validated yet. What functions are called in the text is in
//! the bytes, so traps and dumps name them so.

use crate::Error;
use std::borrow::Cow;
use std::path::Path;

/// How all modules begin that are not text.
const MAGIC: &[u8] = b"\0asm";

/// The module in a file: its bytes as they are, or what the text stands for. The file is only named in messages.
pub fn binary<'a>(file: &Path, content: &'a [u8]) -> Result<Cow<'a, [u8]>, Error> {
    let is_text = file.extension().is_some_and(|extension| extension == "wat");
    if content.starts_with(MAGIC) || !is_text {
        return Ok(content.into());
    }
    let text = std::str::from_utf8(content).map_err(|error| Error::Module(error.to_string()))?;
    encode(text).map(Cow::Owned).map_err(|mut error| {
        error.set_path(file);
        error.set_text(text);
        Error::Text(error.to_string())
    })
}

fn encode(text: &str) -> Result<Vec<u8>, wast::Error> {
    let buffer = wast::parser::ParseBuffer::new(text)?;
    wast::parser::parse::<wast::Wat<'_>>(&buffer)?.encode()
}
