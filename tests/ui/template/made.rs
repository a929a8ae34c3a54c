use azulejo::prelude::*;

fn make() -> *mut u8 {
    std::ptr::null_mut()
}

fn make_number() -> u64 {
    0
}

fn try_to_make() -> Result<u64, Trap> {
    Ok(0)
}

fn change(_: *mut u8) {}

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<u64> },
    B { dst: Out<u64> },
    C { dst: Out<u64> },
    D { dst: Out<u64> },
    E { p: In<u64> },
    F { p: In<u64> },
    G { p: In<u64> },
    H { p: In<u64> },
    I { dst: Out<u64> },
    J { p: In<u64> },
    K { p: In<u64> },
    L { p: In<u64> },
    M { p: In<u64> },
    N { dst: Out<u64> },
}

template! {
    regions { fields, lengths }

    // no leaf
    Op::A => (call makes make (arglist) ptr)
    // no address
    Op::B => (call leaf makes make_number (arglist) u64)
    // nothing at all
    Op::C! => (dov (callv leaf makes make (arglist)) (set $dst 0))
    // it may fail
    Op::D => (call leaf throws makes try_to_make (arglist) u64)
    // not a leaf
    Op::E => (callv (changes fields) change (arglist (carg $p ptr)))
    // no such region
    Op::F => (callv leaf (changes field) change (arglist (carg $p ptr)))
    // no region
    Op::G => (callv leaf (changes) change (arglist (carg $p ptr)))
    Op::H => (callv leaf (changes 7) change (arglist (carg $p ptr)))
    // nothing is made
    Op::I => (flagval (kept) u64)
    // not unsafe
    Op::J => (holds fields $p 1 u64)
    // not a region
    Op::K => unsafe (holds pure $p 1 u64)
    Op::L => unsafe (holds field $p 1 u64)
    // not an access
    Op::M => unsafe (within (eq 1 1) 3 (holds fields $p 1 u64))
    // what is called is asked of
    Op::N => (flagval (kept make) u64)
}

fn main() {}
