//! Waiting until a clock reaches a time, or until a descriptor is ready. Files and streams always count as ready: a read of the
//! input may block, which a single-threaded program cannot distinguish from waiting.

use super::guest::Guest;
use super::{Errno, Stop, Wasi};
use std::time::Duration;

/// The sizes of a subscription and of an event, in bytes.
const SUBSCRIPTION: u64 = 48;
const EVENT: u64 = 32;

/// The flag of a subscription whose time is absolute instead of relative to now.
const ABSOLUTE: u16 = 1;

/// The condition of a subscription.
enum Awaited {
    /// A duration, from the start of the call.
    Time(Duration),
    /// A descriptor, which is ready, or the error for one that never will be.
    Descriptor(Errno),
}

/// The parts of a subscription that its event repeats.
struct Subscription {
    user: [u8; 8],
    kind: u8,
    awaited: Awaited,
}

impl Wasi {
    pub(super) fn poll_oneoff(
        &mut self,
        guest: &mut Guest<'_>,
        subscriptions: u32,
        events: u32,
        count: u32,
        result: u32,
    ) -> Result<(), Stop> {
        if count == 0 {
            return Err(Errno::Invalid.into());
        }
        // Both arrays are bounds-checked before space for the subscriptions is allocated.
        guest.bytes(subscriptions.into(), u64::from(count) * SUBSCRIPTION)?;
        guest.bytes(events.into(), u64::from(count) * EVENT)?;
        let awaited = (0..u64::from(count))
            .map(|at| self.subscription(guest, u64::from(subscriptions) + at * SUBSCRIPTION))
            .collect::<Result<Vec<_>, Errno>>()?;
        let times = awaited.iter().map(|it| match it.awaited {
            Awaited::Time(time) => time,
            Awaited::Descriptor(_) => Duration::ZERO,
        });
        let first = times.min().unwrap_or_default();
        std::thread::sleep(first);
        let mut n_events = 0;
        for subscription in awaited {
            let errno = match subscription.awaited {
                Awaited::Time(time) if time > first => continue,
                Awaited::Time(_) => Errno::Success,
                Awaited::Descriptor(errno) => errno,
            };
            let mut event = [0; EVENT as usize];
            event[..8].copy_from_slice(&subscription.user);
            event[8..10].copy_from_slice(&(errno as u16).to_le_bytes());
            event[10] = subscription.kind;
            guest.put(u64::from(events) + u64::from(n_events) * EVENT, &event)?;
            n_events += 1;
        }
        Ok(guest.put_u32(result, n_events)?)
    }

    fn subscription(&mut self, guest: &Guest<'_>, at: u64) -> Result<Subscription, Errno> {
        let user = guest.get(at)?;
        let [kind] = guest.get(at + 8)?;
        let awaited = match kind {
            0 => {
                let now = self.time(guest.get_u32(at + 16)?)?;
                let time = Duration::from_nanos(guest.get_u64(at + 24)?);
                let is_absolute = guest.get_u16(at + 40)? & ABSOLUTE != 0;
                Awaited::Time(if is_absolute { time.saturating_sub(now) } else { time })
            }
            1 | 2 => {
                let fd = guest.get_u32(at + 16)?;
                Awaited::Descriptor(self.descriptor(fd).err().unwrap_or(Errno::Success))
            }
            _ => return Err(Errno::Invalid),
        };
        Ok(Subscription { user, kind, awaited })
    }
}
