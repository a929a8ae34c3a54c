//! Values as bytes.
//!
//! In: numbers, bytes, addresses of the program. Out: the same, in the same order. An address is written as its distance from the start of
//! the image, and read as where that is in this process. A reader that is asked for more than there is says so, and does not fail otherwise.

use super::Image;

/// Writes values.
#[derive(Debug)]
pub(crate) struct Packer<'a> {
    pub(super) bytes: Vec<u8>,
    image: &'a Image,
}

impl<'a> Packer<'a> {
    pub(super) fn new(image: &'a Image) -> Packer<'a> {
        Packer { bytes: Vec::new(), image }
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(crate) fn flag(&mut self, flag: bool) {
        self.byte(flag as u8);
    }

    pub(crate) fn word(&mut self, word: u32) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    pub(crate) fn long(&mut self, long: u64) {
        self.bytes.extend_from_slice(&long.to_le_bytes());
    }

    /// An address of the image.
    pub(crate) fn address(&mut self, address: u64) {
        self.word(self.image.offset(address).expect("only code with addresses of the image is saved"));
    }

    pub(crate) fn run(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u32);
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn list<T>(&mut self, list: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.word(list.len() as u32);
        list.iter().for_each(|one| write(self, one));
    }
}

/// Reads values.
#[derive(Debug)]
pub(crate) struct Unpacker<'a> {
    bytes: &'a [u8],
    image: &'a Image,
}

impl<'a> Unpacker<'a> {
    /// Reads something that takes all of these bytes.
    pub(super) fn all<T>(
        bytes: &'a [u8],
        image: &'a Image,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let mut reader = Unpacker { bytes, image };
        read(&mut reader).filter(|_| reader.bytes.is_empty())
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.bytes.split_at_checked(len)?;
        self.bytes = left;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        Some(self.byte()? != 0)
    }

    pub(crate) fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(*self.take(4)?.first_chunk()?))
    }

    pub(crate) fn long(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(*self.take(8)?.first_chunk()?))
    }

    pub(crate) fn address(&mut self) -> Option<u64> {
        let offset = self.word()?;
        self.image.address(offset)
    }

    pub(crate) fn run(&mut self) -> Option<Vec<u8>> {
        let len = self.word()? as usize;
        Some(self.take(len)?.to_vec())
    }

    pub(crate) fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let len = self.word()?;
        (0..len).map(|_| read(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_where_the_image_is() {
        let there = Image::test(0x5555_0000..0x5556_0000);
        let here = Image::test(0x7777_1000..0x7778_1000);
        let mut writer = Packer::new(&there);
        writer.byte(7);
        writer.flag(true);
        writer.word(0xdead_beef);
        writer.long(u64::MAX - 1);
        writer.address(0x5555_1234);
        writer.run(b"code");
        writer.list(&[1, 2, 3], |writer, one| writer.word(*one));
        let read = |reader: &mut Unpacker<'_>| {
            assert_eq!((reader.byte()?, reader.flag()?), (7, true));
            assert_eq!((reader.word()?, reader.long()?), (0xdead_beef, u64::MAX - 1));
            assert_eq!((reader.address()?, reader.run()?), (0x7777_2234, b"code".to_vec()));
            reader.list(|reader| reader.word())
        };
        let bytes = &writer.bytes;
        assert_eq!(Unpacker::all(bytes, &here, read), Some(vec![1, 2, 3]));
        // There is less, or more.
        assert_eq!(Unpacker::all(&bytes[..bytes.len() - 1], &here, read), None);
        assert_eq!(Unpacker::all(&[&bytes[..], &[0]].concat(), &here, read), None);
    }

    #[test]
    fn addresses_behind_the_image_are_not_read() {
        let image = Image::test(0x1000..0x2000);
        let bytes = 0x1000u32.to_le_bytes();
        assert_eq!(Unpacker::all(&bytes, &image, |reader| reader.address()), None);
    }
}
