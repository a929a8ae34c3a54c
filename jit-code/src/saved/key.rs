//! By what code is found.
//!
//! In: all that the code depends on. Out: a [`CodeKey`], the same in each process of the program, or none if something is not in the program's
//! image.

use super::Image;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A number for all that a piece of code depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct CodeKey(pub(super) u64);

/// Collects what a key is of.
#[derive(Clone, Debug)]
pub(crate) struct KeyOf<'a> {
    hasher: DefaultHasher,
    image: &'a Image,
    is_inside: bool,
}

impl<'a> KeyOf<'a> {
    pub(crate) fn new(image: &'a Image) -> KeyOf<'a> {
        KeyOf { hasher: DefaultHasher::new(), image, is_inside: true }
    }

    /// Something that is the same number in each process of the program.
    pub(crate) fn value(mut self, value: impl Hash) -> Self {
        value.hash(&mut self.hasher);
        self
    }

    /// Something that is known by its address.
    pub(crate) fn address(mut self, address: u64) -> Self {
        let offset = self.image.offset(address);
        self.is_inside &= offset.is_some();
        self.value(offset)
    }

    /// Something that is known by its address, or nothing: that has the address zero.
    pub(crate) fn address_or_none(self, address: u64) -> Self {
        if address == 0 { self.value(0) } else { self.address(address) }
    }

    /// The key, unless something is outside of the image.
    pub(crate) fn key(self) -> Option<CodeKey> {
        self.is_inside.then(|| CodeKey(self.hasher.finish()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_same_wherever_the_image_is() {
        let images = [0x1000, 0x5555_0000].map(|start| Image::test(start..start + 0x1000));
        let key = |image: usize, offset: u64, value: u32| {
            let image = &images[image];
            KeyOf::new(image).address(image.ends()[0] + offset).value(value).key()
        };
        assert!(key(0, 8, 1).is_some() && key(0, 8, 1) == key(1, 8, 1));
        assert!(key(0, 8, 1) != key(0, 9, 1) && key(0, 8, 1) != key(0, 8, 2));
        assert_eq!(key(0, 0x1000, 1), None);
        let none = |at| KeyOf::new(&images[0]).address_or_none(at).key();
        assert!(none(0).is_some() && none(0) != none(0x1000) && none(1).is_none());
    }
}
