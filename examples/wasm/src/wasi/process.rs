//! The process and the machine: arguments, environment, clocks, random numbers, exit.

use super::guest::Guest;
use super::{Errno, Stop, Wasi};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The wall clock, counted from 1970.
const REALTIME: u32 = 0;
/// The monotonic clock.
const MONOTONIC: u32 = 1;

/// Both clocks have a resolution of one nanosecond.
const RESOLUTION: u64 = 1;

/// Writes strings consecutively, and a pointer to each.
fn put_strings(guest: &mut Guest<'_>, strings: &[Vec<u8>], pointers: u32, text: u32) -> Result<(), Stop> {
    let (mut pointers, mut text) = (u64::from(pointers), u64::from(text));
    for string in strings {
        let address = u32::try_from(text).map_err(|_| Errno::Fault)?;
        guest.put(pointers, &address.to_le_bytes())?;
        guest.put(text, string)?;
        pointers += 4;
        text += string.len() as u64;
    }
    Ok(())
}

/// Writes the number of strings and their total size in bytes.
fn put_sizes(guest: &mut Guest<'_>, strings: &[Vec<u8>], count: u32, size: u32) -> Result<(), Stop> {
    let total: usize = strings.iter().map(Vec::len).sum();
    guest.put_u32(count, u32::try_from(strings.len()).map_err(|_| Errno::Overflow)?)?;
    guest.put_u32(size, u32::try_from(total).map_err(|_| Errno::Overflow)?)?;
    Ok(())
}

impl Wasi {
    pub(super) fn args_get(&mut self, guest: &mut Guest<'_>, pointers: u32, text: u32) -> Result<(), Stop> {
        put_strings(guest, &self.arguments, pointers, text)
    }

    pub(super) fn args_sizes_get(
        &mut self,
        guest: &mut Guest<'_>,
        count: u32,
        size: u32,
    ) -> Result<(), Stop> {
        put_sizes(guest, &self.arguments, count, size)
    }

    pub(super) fn environ_get(
        &mut self,
        guest: &mut Guest<'_>,
        pointers: u32,
        text: u32,
    ) -> Result<(), Stop> {
        put_strings(guest, &self.environment, pointers, text)
    }

    pub(super) fn environ_sizes_get(
        &mut self,
        guest: &mut Guest<'_>,
        count: u32,
        size: u32,
    ) -> Result<(), Stop> {
        put_sizes(guest, &self.environment, count, size)
    }

    pub(super) fn clock_res_get(
        &mut self,
        guest: &mut Guest<'_>,
        clock: u32,
        result: u32,
    ) -> Result<(), Stop> {
        self.time(clock)?;
        Ok(guest.put_u64(result, RESOLUTION)?)
    }

    pub(super) fn clock_time_get(
        &mut self,
        guest: &mut Guest<'_>,
        clock: u32,
        _precision: u64,
        result: u32,
    ) -> Result<(), Stop> {
        let time = u64::try_from(self.time(clock)?.as_nanos()).map_err(|_| Errno::Overflow)?;
        Ok(guest.put_u64(result, time)?)
    }

    /// The time of a clock. CPU time clocks are not supported, which the interface permits.
    pub(super) fn time(&self, clock: u32) -> Result<Duration, Errno> {
        match clock {
            REALTIME => SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| Errno::Overflow),
            MONOTONIC => Ok(self.start.elapsed()),
            _ => Err(Errno::Invalid),
        }
    }

    pub(super) fn random_get(&mut self, guest: &mut Guest<'_>, buffer: u32, length: u32) -> Result<(), Stop> {
        getrandom::fill(guest.bytes_mut(buffer.into(), length.into())?).map_err(|_| Errno::Io)?;
        Ok(())
    }

    pub(super) fn sched_yield(&mut self, _guest: &mut Guest<'_>) -> Result<(), Stop> {
        std::thread::yield_now();
        Ok(())
    }

    pub(super) fn proc_exit(&mut self, _guest: &mut Guest<'_>, status: u32) -> Result<(), Stop> {
        Err(Stop::Exit(status))
    }
}
