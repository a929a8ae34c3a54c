//! Sections of an encoded module: finds one, and adds an export.

use std::ops::Range;

/// The ids of sections.
pub(crate) const EXPORTS: u8 = 7;
pub(crate) const CODE: u8 = 10;

/// The kind of an export that is a global.
const GLOBAL: u8 = 3;

/// The range of the contents of the first section with this id, clamped to the module's end.
pub(crate) fn find(module: &[u8], section: u8) -> Option<Range<usize>> {
    let mut at = 8;
    loop {
        let id = *module.get(at)?;
        let (size, start) = number(module, at + 1)?;
        let end = start.saturating_add(size as usize).min(module.len());
        if id == section {
            return Some(start..end);
        }
        at = end;
    }
}

/// Exports a global by a name that is not in use. The module must have an export section.
pub(crate) fn export_global(module: &[u8], name: &str, global: u32) -> Option<Vec<u8>> {
    let section = find(module, EXPORTS)?;
    let (count, first) = number(module, section.start)?;
    let mut exports = Vec::new();
    put_number(&mut exports, count + 1);
    exports.extend_from_slice(&module[first..section.end]);
    put_number(&mut exports, name.len() as u32);
    exports.extend_from_slice(name.as_bytes());
    exports.push(GLOBAL);
    put_number(&mut exports, global);
    // The section's size stands between its id and its contents, and takes one to five bytes.
    let size = (0..5).map(|length| section.start - 1 - length).find(|at| {
        module[*at - 1] == EXPORTS && number(module, *at).is_some_and(|(_, end)| end == section.start)
    })?;
    let mut changed = module[..size].to_vec();
    put_number(&mut changed, exports.len() as u32);
    changed.extend_from_slice(&exports);
    changed.extend_from_slice(&module[section.end..]);
    Some(changed)
}

/// Decodes a number (LEB128); returns the number and its end.
fn number(bytes: &[u8], mut at: usize) -> Option<(u32, usize)> {
    let (mut number, mut shift) = (0u32, 0);
    loop {
        let byte = *bytes.get(at)?;
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        (at, shift) = (at + 1, shift + 7);
        if byte & 0x80 == 0 {
            return Some((number, at));
        }
    }
}

fn put_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
