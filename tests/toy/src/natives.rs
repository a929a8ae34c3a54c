//! Functions of the host that code calls, and how the simulator calls them.
//!
//! In: the signature of each function that code may call, and a call's arguments by this machine's convention. Out: the result.
//! Code of a real machine calls these functions by their own conventions; the simulator must be told their signatures.

use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::template::{Callee, Convention, NativeCall, Signature, Step};
use azulejo_core::native::Attempt;
use azulejo_core::vocab::Type;
use std::collections::HashMap;
use std::sync::{LazyLock, RwLock};

/// A function of the host.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Native {
    /// A function with this signature.
    Function(Signature),
    /// A function with these arguments that may fail.
    Fallible(Signature),
    /// The callback that resumes a function and returns an outcome.
    Resume,
}

static KNOWN: LazyLock<RwLock<HashMap<usize, Native>>> = LazyLock::new(Default::default);

/// The function at an address, if it is known.
pub(crate) fn find(address: usize) -> Option<Native> {
    KNOWN.read().expect("nobody panics with it").get(&address).copied()
}

pub(crate) fn learn(address: usize, native: Native) {
    KNOWN.write().expect("nobody panics with it").insert(address, native);
}

/// Tells the simulator the signature of the function at an address.
pub fn learn_function(address: *const (), signature: Signature) {
    learn(address.addr(), Native::Function(signature));
}

/// Tells the simulator the signatures of all functions that a bytecode's templates name.
pub fn learn_templates<B: Bytecode>() {
    let templates = B::templates().iter().chain(B::guarded_templates());
    for (template, step) in
        templates.flat_map(|template| template.steps.iter().map(move |step| (template, step)))
    {
        if let Step::Call { call, throws, .. } = *step
            && let NativeCall { callee: Callee::Known(address), signature, .. } =
                template.calls[call as usize]
        {
            let native = if throws { Native::Fallible(signature) } else { Native::Function(signature) };
            learn(address.0.addr(), native);
        }
    }
}

/// The most arguments of a function of the host.
const MOST: usize = 32;

/// Arguments, sorted as the host's conventions pass them.
struct Passed {
    ints: Vec<u64>,
    floats: Vec<f64>,
    rest: [u64; MOST],
}

impl Passed {
    /// Integers and floats are counted separately; this many of each are in registers.
    #[allow(dead_code, reason = "not every host has such a convention")]
    fn apart(args: &[(Type, u64)], most_ints: usize, most_floats: usize) -> Passed {
        let mut passed = Passed { ints: Vec::new(), floats: Vec::new(), rest: [0; MOST] };
        let mut n_rest = 0;
        for (ty, bits) in args {
            match ty.is_float() {
                false if passed.ints.len() < most_ints => passed.ints.push(*bits),
                true if passed.floats.len() < most_floats => passed.floats.push(f64::from_bits(*bits)),
                _ => {
                    passed.rest[n_rest] = *bits;
                    n_rest += 1;
                }
            }
        }
        passed.ints.resize(most_ints, 0);
        passed.floats.resize(most_floats, 0.0);
        passed
    }
}

/// Calls a function of a convention with these first arguments, and with the largest number of words on the stack.
macro_rules! call_with {
    ($abi:literal, $address:expr, $rest:expr, $ret:ty, [$($value:expr => $ty:ty),* $(,)?]) => {
        call_with!(@words $abi, $address, $rest, $ret, [$($value => $ty),*]
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23)
    };
    (@words $abi:literal, $address:expr, $rest:expr, $ret:ty, [$($value:expr => $ty:ty),*] $($at:literal)*) => {{
        let function: unsafe extern $abi fn($($ty,)* $(call_with!(@word $at)),*) -> $ret =
            core::mem::transmute($address);
        function($($value,)* $($rest[$at]),*)
    }};
    (@word $at:literal) => { u64 };
}

/// Calls a function of the host; returns the bits of its result.
///
/// # Safety
///
/// The address must be that of a function with this signature, and the arguments must be valid for it.
pub(crate) unsafe fn call(address: usize, signature: &Signature, args: &[u64]) -> u64 {
    let args = typed(signature, args);
    let address = core::ptr::with_exposed_provenance::<()>(address);
    let is_windows =
        signature.convention == Convention::Win64 || signature.convention == Convention::C && cfg!(windows);
    // SAFETY: the caller guarantees it. A float of 32 bits is the lower half of the register in which it is returned.
    let bits = unsafe {
        match (is_windows, signature.ret.is_float()) {
            (true, _) => by_position(address, signature.ret, &args),
            (false, true) => apart::<f64>(address, &args).to_bits(),
            (false, false) => apart::<u64>(address, &args),
        }
    };
    signature.ret.truncate(bits)
}

/// Calls a function of the host that may fail.
///
/// # Safety
///
/// The requirements of [`call`].
pub(crate) unsafe fn attempt(address: usize, signature: &Signature, args: &[u64]) -> Attempt {
    let address = core::ptr::with_exposed_provenance::<()>(address);
    // SAFETY: the caller guarantees it.
    unsafe { apart(address, &typed(signature, args)) }
}

fn typed(signature: &Signature, args: &[u64]) -> Vec<(Type, u64)> {
    std::iter::zip(signature.args.iter().copied(), args.iter().copied()).collect()
}

#[cfg(target_arch = "x86_64")]
unsafe fn apart<R>(address: *const (), args: &[(Type, u64)]) -> R {
    let Passed { ints: i, floats: f, rest } = Passed::apart(args, 6, 8);
    // SAFETY: the caller guarantees it. A float of 32 bits is the lower half of the register in which it is passed.
    unsafe {
        call_with!("sysv64-unwind", address, rest, R, [
            i[0] => u64, i[1] => u64, i[2] => u64, i[3] => u64, i[4] => u64, i[5] => u64,
            f[0] => f64, f[1] => f64, f[2] => f64, f[3] => f64, f[4] => f64, f[5] => f64, f[6] => f64, f[7] => f64,
        ])
    }
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn apart<R>(address: *const (), args: &[(Type, u64)]) -> R {
    let Passed { ints: i, floats: f, rest } = Passed::apart(args, 8, 8);
    // SAFETY: the caller guarantees it. A float of 32 bits is the lower half of the register in which it is passed.
    unsafe {
        call_with!("C-unwind", address, rest, R, [
            i[0] => u64, i[1] => u64, i[2] => u64, i[3] => u64, i[4] => u64, i[5] => u64, i[6] => u64, i[7] => u64,
            f[0] => f64, f[1] => f64, f[2] => f64, f[3] => f64, f[4] => f64, f[5] => f64, f[6] => f64, f[7] => f64,
        ])
    }
}

/// The n-th argument is in the n-th register of its class.
#[cfg(target_arch = "x86_64")]
unsafe fn by_position(address: *const (), ret: Type, args: &[(Type, u64)]) -> u64 {
    let mut first = [(false, 0); 4];
    let mut rest = [0; MOST];
    for (at, (ty, bits)) in args.iter().enumerate() {
        match at.checked_sub(4) {
            None => first[at] = (ty.is_float(), *bits),
            Some(at) => rest[at] = *bits,
        }
    }
    let [a, b, c, d] = first;
    macro_rules! go {
        ($ret:ty, [$($done:tt)*]) => { call_with!("win64-unwind", address, rest, $ret, [$($done)*]) };
        ($ret:ty, [$($done:tt)*] $next:ident $($others:ident)*) => {
            match $next {
                (true, bits) => go!($ret, [$($done)* f64::from_bits(bits) => f64,] $($others)*),
                (false, bits) => go!($ret, [$($done)* bits => u64,] $($others)*),
            }
        };
    }
    // SAFETY: as above.
    unsafe { if ret.is_float() { go!(f64, [] a b c d).to_bits() } else { go!(u64, [] a b c d) } }
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn by_position(_: *const (), _: Type, _: &[(Type, u64)]) -> u64 {
    unreachable!("no function on this host has such a convention")
}
