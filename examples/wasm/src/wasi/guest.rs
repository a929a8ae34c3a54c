//! A guest's memory. All accesses are bounds-checked: one out of bounds fails with [`Errno::Fault`].
//!
//! Addresses are 64 bits wide here, so that adding an offset to a guest's address cannot wrap around.

use super::Errno;

/// The maximum number of buffers in a scattered read or write, as on common systems.
const MOST_PARTS: u32 = 1024;

/// The memory of a guest during one call.
pub(super) struct Guest<'a> {
    memory: &'a mut [u8],
}

impl<'a> Guest<'a> {
    pub(super) fn new(memory: &'a mut [u8]) -> Guest<'a> {
        Guest { memory }
    }

    /// `length` bytes from an address on.
    pub(super) fn bytes(&self, at: u64, length: u64) -> Result<&[u8], Errno> {
        let end = at.checked_add(length).ok_or(Errno::Fault)?;
        let range = usize::try_from(at).ok().zip(usize::try_from(end).ok()).ok_or(Errno::Fault)?;
        self.memory.get(range.0..range.1).ok_or(Errno::Fault)
    }

    /// `length` bytes from an address on, mutably.
    pub(super) fn bytes_mut(&mut self, at: u64, length: u64) -> Result<&mut [u8], Errno> {
        let end = at.checked_add(length).ok_or(Errno::Fault)?;
        let range = usize::try_from(at).ok().zip(usize::try_from(end).ok()).ok_or(Errno::Fault)?;
        self.memory.get_mut(range.0..range.1).ok_or(Errno::Fault)
    }

    /// An array of bytes, to be decoded as a number.
    pub(super) fn get<const N: usize>(&self, at: u64) -> Result<[u8; N], Errno> {
        let bytes = self.bytes(at, N as u64)?;
        bytes.try_into().map_err(|_| Errno::Fault)
    }

    pub(super) fn get_u16(&self, at: u64) -> Result<u16, Errno> {
        self.get(at).map(u16::from_le_bytes)
    }

    pub(super) fn get_u32(&self, at: u64) -> Result<u32, Errno> {
        self.get(at).map(u32::from_le_bytes)
    }

    pub(super) fn get_u64(&self, at: u64) -> Result<u64, Errno> {
        self.get(at).map(u64::from_le_bytes)
    }

    /// Writes bytes.
    pub(super) fn put(&mut self, at: u64, bytes: &[u8]) -> Result<(), Errno> {
        self.bytes_mut(at, bytes.len() as u64)?.copy_from_slice(bytes);
        Ok(())
    }

    pub(super) fn put_u32(&mut self, at: u32, value: u32) -> Result<(), Errno> {
        self.put(at.into(), &value.to_le_bytes())
    }

    pub(super) fn put_u64(&mut self, at: u32, value: u64) -> Result<(), Errno> {
        self.put(at.into(), &value.to_le_bytes())
    }

    /// A string, which must be UTF-8.
    pub(super) fn text(&self, at: u32, length: u32) -> Result<&str, Errno> {
        std::str::from_utf8(self.bytes(at.into(), length.into())?).map_err(|_| Errno::IllegalBytes)
    }

    /// The buffers of a scattered read or write: addresses and lengths. All are in bounds, and together shorter than 4 GiB.
    pub(super) fn parts(&self, at: u32, count: u32) -> Result<Vec<(u64, u64)>, Errno> {
        if count > MOST_PARTS {
            return Err(Errno::Invalid);
        }
        let mut total = 0u64;
        let mut parts = Vec::with_capacity(count as usize);
        for part in 0..u64::from(count) {
            let place = u64::from(at) + part * 8;
            let (address, length) = (self.get_u32(place)?.into(), self.get_u32(place + 4)?.into());
            self.bytes(address, length)?;
            total += length;
            parts.push((address, length));
        }
        if total > u64::from(u32::MAX) { Err(Errno::Invalid) } else { Ok(parts) }
    }
}
