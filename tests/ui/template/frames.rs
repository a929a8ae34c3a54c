use azulejo::Frames;
use azulejo::prelude::*;

fn count(frames: Frames<'_>) -> u64 {
    frames.iter().count() as u64
}

extern "C" fn count_directly(frames: Frames<'_>) -> u64 {
    frames.iter().count() as u64
}

fn fill(_: &mut f64, _: Frames<'_>) {}

mod forms {
    use super::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { dst: Out<u64> },
        B { dst: Out<u64> },
        C { dst: Out<u64> },
        D { dst: Out<u64> },
        E { dst: Out<u64> },
        F { dst: Out<f64> },
        G { dst: Out<u64> },
        H { dst: Out<u64> },
        I { dst: Out<u64> },
        J { dst: Out<u64> },
    }

    template! {
        // a call that does not observe
        Op::A => (call count (arglist (carg (frames) ptr)) u64)
        // one that only computes
        Op::B => (call pure count (arglist (carg (frames) ptr)) u64)
        // one with a convention
        Op::C => (call "C" observes count_directly (arglist (carg (frames) ptr)) u64)
        // as a value
        Op::D => (add (frames) 1)
        // as a number
        Op::E => (call observes count (arglist (carg (frames) u64)) u64)
        // beside an output, which is in a frame
        Op::F! => (callv observes fill (arglist (carg (place $dst) ptr) (carg (frames) ptr)))
        // of something
        Op::G => (call observes count (arglist (carg (frames 1) ptr)) u64)
        // one that calls no bytecode
        Op::H => (call leaf count (arglist (carg (frames) ptr)) u64)
        // one that calls none, and looks
        Op::I => (call leaf observes count (arglist (carg (frames) ptr)) u64)
        // one that computes, and looks
        Op::J => (call observes throws pure count (arglist (carg (frames) ptr)) u64)
    }
}

mod lifetimes {
    use super::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A,
        B { dst: Out<u64>, a: In<u64> },
        C,
    }

    fn keep(_: Frames<'static>) {}

    fn take_address(_: *const u8) {}

    template! {
        // a function that keeps the frames
        Op::A => (callv observes keep (arglist (carg (frames) ptr)))
        // an address in their place
        Op::B => (call observes count (arglist (carg $a ptr)) u64)
        // a function that takes an address
        Op::C => (callv observes take_address (arglist (carg (frames) ptr)))
    }
}

fn main() {}
