mod a {
    azulejo::operators! {
        add: (same same) -> same, int, pure => |_, operands| Ok(operands[0]),
        twice: (same) -> same, int, pure => |_, operands| Ok(operands[0]),
        twice: (same) -> same, int, pure => |_, operands| Ok(operands[0]),
        typeless: (same) -> same, pure => |_, operands| Ok(operands[0]),
        typed: (ptr) -> flag, int, pure => |_, operands| Ok(operands[0]),
        both: (ptr) -> flag, pure, writes => |_, operands| Ok(operands[0]),
        turned: (same ptr) -> same, int, commutes => |_, operands| Ok(operands[0]),
        many: (same same same same same) -> same, int => |_, operands| Ok(operands[0]),
    }
}

mod b {
    azulejo::operators! {
        kind: (number) -> same, int => |_, operands| Ok(operands[0]),
    }
}

mod c {
    azulejo::operators! {
        result: (same) -> value, int => |_, operands| Ok(operands[0]),
    }
}

mod d {
    azulejo::operators! {
        constant: (same) [number] -> same, int => |_, operands| Ok(operands[0]),
    }
}

mod e {
    azulejo::operators! {
        property: (same) -> same, int, fast => |_, operands| Ok(operands[0]),
    }
}

mod f {
    azulejo::operators! {
        meaning: (same) -> same, int, pure,
    }
}

mod g {
    azulejo::operators! {
        types: (same) -> same, i32|i128, pure => |_, operands| Ok(operands[0]),
    }
}

fn main() {}
