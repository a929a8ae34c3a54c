use azulejo::prelude::*;

pub struct Vm {
    count: u32,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Stash,
    StashOption,
    StashDirect,
    StashConstant,
    StashField,
    Two { dst: Out<i64> },
    TwoByName { dst: Out<i64> },
    TwoDirect { dst: Out<i64> },
    Beside { dst: Out<i64> },
    Field { dst: Out<i64> },
    Any { a: In<u64> },
    Shared { dst: Out<i64> },
    Raw { dst: Out<i64> },
    Fields { dst: Out<i64> },
}

fn stash(_: &'static mut Vm) {}
fn stash_option(_: Option<&'static Vm>) {}
extern "C" fn stash_direct(_: &'static mut Vm) {}
const STASH: fn(&'static mut Vm) = stash;
fn stash_field(_: &'static u32) {}

fn two(a: &mut Vm, b: &mut Vm) -> i64 {
    a.count as i64 + b.count as i64
}
extern "C" fn two_direct(a: &mut Vm, b: &mut Vm) -> i64 {
    two(a, b)
}
fn beside(a: &mut Vm, b: &Vm) -> i64 {
    a.count as i64 + b.count as i64
}
fn field(a: &u32, b: &mut Vm) -> i64 {
    *a as i64 + b.count as i64
}
fn any(_: &Vm) {}
fn shared(a: &Vm, b: &Vm) -> i64 {
    a.count as i64 + b.count as i64
}
fn raw(a: &mut Vm, _: *mut Vm) -> i64 {
    a.count as i64
}
fn fields(a: &u32, b: &u32) -> i64 {
    *a as i64 + *b as i64
}

template! {
    // who is given the context may not keep it
    Op::Stash => (callv stash (arglist (carg (tc) ptr)))
    Op::StashOption => (callv stash_option (arglist (carg (tc) ptr)))
    Op::StashDirect => (callv "C" stash_direct (arglist (carg (tc) ptr)))
    Op::StashConstant => (callv STASH (arglist (carg (tc) ptr)))
    // nor a part of it, whatever the author vouches for
    Op::StashField => unsafe (callv stash_field (arglist (carg (addr (tc) (&offset_of Vm, count)) ptr)))
    // an exclusive reference is the only one
    Op::Two => (call two (arglist (carg (tc) ptr) (carg (tc) ptr)) i64)
    Op::TwoByName => (let: (($vm (tc))) (call two (arglist (carg $vm ptr) (carg $vm ptr)) i64))
    Op::TwoDirect => (call "C" two_direct (arglist (carg (tc) ptr) (carg (tc) ptr)) i64)
    Op::Beside => (call beside (arglist (carg (tc) ptr) (carg (tc) ptr)) i64)
    Op::Field => unsafe (call field (arglist (carg (addr (tc) (&offset_of Vm, count)) ptr) (carg (tc) ptr)) i64)
    // any address is not the context's
    Op::Any => (callv any (arglist (carg $a ptr)))
    // these are right
    Op::Shared => (call shared (arglist (carg (tc) ptr) (carg (tc) ptr)) i64)
    Op::Raw => (call raw (arglist (carg (tc) ptr) (carg (tc) ptr)) i64)
    Op::Fields => unsafe (let: (($count (addr (tc) (&offset_of Vm, count))))
        (call fields (arglist (carg $count ptr) (carg $count ptr)) i64))
}

fn main() {}
