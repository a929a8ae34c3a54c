mod unknown {
    azulejo::tile! { group unknown; load: (load.i64 mem) -> reg, 4 => |_, _| {} }
}
mod unknown_block {
    azulejo::tile! { group unknown_block; for mem { load: (load.i64 mem) -> reg, 4 => |_, _| {} } }
}
mod empty {
    azulejo::tile! { group empty; form mem {} }
}
mod recursive {
    azulejo::tile! { group recursive; form mem { base: reg => |t| t.reg(0), ofs: (addr mem $o) => |t| t.reg(0) } }
}
mod symbol {
    azulejo::tile! { group symbol; form reg { base: reg => |t| t.reg(0) } }
}
mod valueless {
    azulejo::tile! { group valueless; form mem { base: reg } }
}
mod wrong_pattern {
    azulejo::tile! { group wrong_pattern; form mem { base: rag => |t| t.reg(0) } }
}
mod operator {
    azulejo::tile! {
        group operator;
        form mem { base: reg => |t| t.reg(0) }
        load: (mem reg) -> reg, 4 => |_, _| {}
    }
}
mod result {
    azulejo::tile! {
        group result;
        form mem { base: reg => |t| t.reg(0) }
        load: (load.i64 reg) -> mem, 4 => |_, _| {}
    }
}
mod two {
    azulejo::tile! {
        group two;
        form mem { base: reg => |t| t.reg(0) }
        form value { reg_: reg => |t| t.reg(0) }
        store: (store.i64 mem value) -> void, 4 => |_, t| {}
    }
}
mod twice {
    azulejo::tile! {
        group twice;
        form mem { base: reg => |t| t.reg(0) }
        inc: (store.i64 mem (add (load.i64 mem) reg)) -> void, 4 => |_, t| {}
    }
}
mod tied {
    azulejo::tile! {
        group tied;
        form mem { base: reg => |t| t.reg(0) }
        add: (add.i64 reg (load.i64 mem)) -> reg, 4, tied(1) => |_, t| {}
    }
}
mod cost {
    azulejo::tile! {
        group cost;
        form mem { base: reg => |t| t.reg(0) }
        add: (add.i64 reg reg) -> reg, 4 + mem => |_, t| {}
    }
}
mod emitter {
    azulejo::tile! {
        group emitter;
        form mem { base: reg => |t| t.reg(0) }
        load: (load.i64 mem) -> reg, 4 => super::emit
    }
}
mod block {
    azulejo::tile! {
        group block;
        form mem { base: reg => |t| t.reg(0) }
        for mem { add: (add.i64 reg reg) -> reg, 4 => |_, t| {} }
    }
}
mod late {
    azulejo::tile! {
        group late;
        form mem { base: reg => |t| t.reg(0) }
        use azulejo::x64::tiles::address;
    }
}
mod again {
    azulejo::tile! {
        group again;
        use azulejo::x64::tiles::address;
        form mem { base: reg => |t| t.reg(0) }
    }
}
mod shared {
    azulejo::tile! {
        pub forms address;
        form mem { base: reg => |t| t.reg(0) }
        load: (load.i64 mem) -> reg, 4 => |_, t| {}
    }
}

fn main() {}
