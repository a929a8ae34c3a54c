//! Modules in the text format.
//!
//! In: the contents of a file. Out: the bytes of a module, which are not validated yet. They include the names of functions
//! in the text, so traps and dumps show these names.

use crate::Error;
use std::borrow::Cow;
use std::path::Path;

/// The first bytes of every binary module.
const MAGIC: &[u8] = b"\0asm";

/// The binary of a module, which is converted if it is text. The file's name is used for messages, and its extension marks text.
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
