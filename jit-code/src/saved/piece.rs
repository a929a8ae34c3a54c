//! The code of interpreted opcodes, as it is saved.
//!
//! In: an opcode's code, or that there can be none. Out: the same, from an earlier process.

use super::{CodeKey, KeyOf, Packer, Unpacker, read_field, write_field};
use crate::faults::Site;
use crate::interpreter::Piece;
use azulejo_core::ir::template::Template;

/// The key of the code of an opcode; `of` is that of all that the code of opcodes depends on.
pub(crate) fn key_of(of: &KeyOf<'_>, opcode: usize) -> Option<CodeKey> {
    of.clone().value(("interpreted", opcode)).key()
}

/// The code with this key, or that there can be none, if an earlier process has found out.
pub(crate) fn find(key: CodeKey) -> Option<Option<Piece>> {
    super::find(key, read)
}

/// Keeps the code of a template, or that there can be none, if that is the same in all processes.
pub(crate) fn keep(key: CodeKey, template: &Template, piece: Option<&Piece>) {
    if super::image().is_some_and(|image| image.holds_all_of(template)) {
        super::keep(key, |to| write(to, piece));
    }
}

fn write(to: &mut Packer<'_>, piece: Option<&Piece>) {
    to.flag(piece.is_some());
    let Some(Piece { bytes, end, addresses, exits, faults }) = piece else { return };
    to.run(bytes);
    to.word(*end);
    to.list(addresses, |to, &(place, address)| {
        to.word(place);
        to.address(address);
    });
    to.list(exits, |to, &(place, field, base)| {
        to.word(place);
        write_field(to, field);
        to.byte(base);
    });
    to.flag(faults.is_some());
    if let Some((leave, sites)) = faults {
        to.word(*leave);
        to.list(sites, |to, &Site { start, end, code, origin }| {
            [start, end, code, origin].into_iter().for_each(|word| to.word(word));
        });
    }
}

fn read(from: &mut Unpacker<'_>) -> Option<Option<Piece>> {
    if !from.flag()? {
        return Some(None);
    }
    Some(Some(Piece {
        bytes: from.run()?,
        end: from.word()?,
        addresses: from.list(|from| Some((from.word()?, from.address()?)))?,
        exits: from.list(|from| Some((from.word()?, read_field(from)?, from.byte()?)))?,
        faults: match from.flag()? {
            true => Some((from.word()?, from.list(read_site)?)),
            false => None,
        },
    }))
}

fn read_site(from: &mut Unpacker<'_>) -> Option<Site> {
    Some(Site { start: from.word()?, end: from.word()?, code: from.word()?, origin: from.word()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Field;
    use crate::saved::Image;

    #[test]
    fn code_is_read_as_it_was_written() {
        let image = Image::test(0x1000..0x2000);
        let site = Site { start: 1, end: 2, code: 3, origin: 4 };
        for faults in [None, Some((5, vec![site, site]))] {
            let piece = Piece {
                bytes: vec![1, 2, 3],
                end: 2,
                addresses: vec![(1, 0x1234), (2, 0x1fff)],
                exits: vec![(0, Field::WORD, 4)],
                faults,
            };
            let mut writer = Packer::new(&image);
            write(&mut writer, Some(&piece));
            assert_eq!(Unpacker::all(&writer.bytes, &image, read), Some(Some(piece)));
            for len in 0..writer.bytes.len() {
                assert_eq!(Unpacker::all(&writer.bytes[..len], &image, read), None, "{len}");
            }
        }
        let mut writer = Packer::new(&image);
        write(&mut writer, None);
        assert_eq!(Unpacker::all(&writer.bytes, &image, read), Some(None));
    }
}
