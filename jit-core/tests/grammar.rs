//! Tile sets: flattening, exact costs, determinism, and refusals.

// Miri takes minutes to build tables, which need no unsafe code.
#![cfg(not(miri))]

use azulejo_core::grammar::explain::{self, Explained};
use azulejo_core::grammar::flatten::ANY;
use azulejo_core::grammar::pattern::{Concrete, concrete};
use azulejo_core::grammar::states::{LEAVES, NEVER};
use azulejo_core::grammar::{Grammar, Predicate, Problem, Refusal, Symbol, Tables, build, text};
use azulejo_core::random::Random;
use azulejo_core::vocab::{Op, Sig, Type, Vocabulary};

fn grammar(tiles: &str) -> Grammar {
    let rules = text::rules(tiles).expect("the test's tiles can be read");
    let features = vec!["wide".to_string(), "fast".to_string()];
    Grammar { vocab: Vocabulary::BUILTIN, features, own: rules.len(), rules, complete: false }
}

fn tables(tiles: &str) -> Tables {
    build(&grammar(tiles)).unwrap_or_else(|refusals| panic!("{}", lines(&refusals)))
}

fn refused(tiles: &str) -> Vec<Refusal> {
    build(&grammar(tiles)).expect_err("this set is to be refused")
}

fn lines(refusals: &[Refusal]) -> String {
    refusals.iter().map(|refusal| format!("{:?} {:?}: {refusal}\n", refusal.rule, refusal.part)).collect()
}

const FOUR: &str = "
    load:  (load.i64 (addr reg $ofs)) -> reg, 4
    store: (store.i64 (addr reg $ofs) reg) -> void, 4
    addi:  (add.i64 reg (const $c:imm32)) -> reg, 2
    addm:  (add.i64 reg (load.i64 (addr reg $ofs))) -> reg, 5
";

#[test]
fn the_four_patterns_flatten_to_shared_symbols() {
    let tables = tables(FOUR);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/flatten.txt");
    let found = Explained(&tables).to_string();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &found).expect("the golden file can be written");
    }
    assert_eq!(found, std::fs::read_to_string(&path).expect("the golden file can be read"));
    let addresses = tables.flat.symbols.iter().filter(|symbol| symbol.op == Op::ADDR).count();
    assert_eq!(addresses, 1, "the address of all three is one symbol");
}

#[test]
fn equal_subpatterns_end_in_equal_states() {
    let tables = tables(FOUR);
    let set = tables.leak(&|_| unreachable!("no register is named"));
    let head = |op, from, ty| set.head(op, Sig { from, ty }).expect("the form has a tile");
    let table =
        |head: &azulejo_core::grammar::set::Head| &set.ops[set.variants[head.variants as usize] as usize];
    let reg = LEAVES[0].0;
    let address = set.state(table(head(Op::ADDR, Type::Void, Type::I64)), [reg, 0, 0]);
    let loaded = set.state(table(head(Op::LOAD, Type::Void, Type::I64)), [address, 0, 0]);
    let sum = set.state(table(head(Op::ADD, Type::Void, Type::I64)), [reg, loaded, 0]);
    let swapped = set.state(table(head(Op::ADD, Type::Void, Type::I64)), [loaded, reg, 0]);
    let name = |state, symbol| set.tiles[set.rules[set.rule(state, symbol) as usize].tile as usize].name;
    assert_eq!(name(sum, Symbol::Reg as u16), "addm");
    assert_eq!(name(swapped, Symbol::Reg as u16), "addm");
    assert_eq!(name(loaded, Symbol::Reg as u16), "load");
}

#[test]
fn tables_are_the_same_bytes_each_time() {
    let print = || format!("{:?}", tables(MACHINE).leak(&|_| azulejo_core::target::Reg(1)));
    let first = print();
    for _ in 0..4 {
        assert_eq!(print(), first);
    }
    assert_eq!(Explained(&tables(MACHINE)).to_string(), Explained(&tables(MACHINE)).to_string());
}

/// The tiles overlap so much that a greedy choice is often wrong.
const MACHINE: &str = "
    const:   (const.$t:int $c) -> reg, 3
    constz:  (const.$t:int $c:zero) -> reg, 1
    lea:     (addr reg $o) -> reg, 2
    lea2:    (addr (add.i64 reg reg) $o) -> reg, 2
    leai:    (addr (idx reg reg $s) $o) -> reg, 3
    idx:     (idx reg reg $s) -> reg, 2
    load:    (load.$t:int reg) -> reg, 5
    loado:   (load.$t:int (addr reg $o)) -> reg, 5
    loadi:   (load.$t:int (addr (idx reg reg $s) $o)) -> reg, 6
    loadx:   (load.$t:int (idx reg reg $s)) -> reg, 5, needs(wide)
    add:     (add.$t:int reg reg) -> reg, 3, tied(0)
    addi:    (add.$t:int reg (const $c:imm8)) -> reg, 2, tied(0)
    inc:     (add.$t:int reg (const $c:one)) -> reg, 1, tied(0)
    addm:    (add.$t:int reg (load.$t reg)) -> reg, 7, tied(0)
    addmo:   (add.$t:int reg (load.$t (addr reg $o))) -> reg, 6, tied(0)
    lea3:    (add.i32|i64 (add reg reg) (const $c:imm32)) -> reg, 3
    sub:     (sub.$t:int reg reg) -> reg, 3, tied(0)
    subm:    (sub.$t:int reg (load.$t (addr reg $o))) -> reg, 5, tied(0)
    neg:     (neg.$t:int reg) -> reg, 2, tied(0)
    negadd:  (sub.$t:int (const $c:zero) (add.$t reg reg)) -> reg, 4
    mul:     (mul.$t:int reg reg) -> reg, 9
    mulneg:  (neg.$t:int (mul.$t reg reg)) -> reg, 9, needs(fast)
    muladd:  (add.$t:int (mul.$t reg reg) reg) -> reg, 10, needs(fast)
    widen:   (scast.i32.i64 reg) -> reg, 2
    widenm:  (scast.i32.i64 (load reg)) -> reg, 5
    lt:      (lt.$t:int reg reg) -> flag, 2
    lti:     (lt.$t:int reg (const $c:imm8)) -> flag, 1
    ltm:     (lt.$t:int (load.$t reg) reg) -> flag, 6
    nz:      (nz.$t:int reg) -> flag, 1
    test:    (nz.$t:int (and.$t reg reg)) -> flag, 2
    and:     (and.$t:int reg reg) -> reg, 3
    select:  (select.$t:int flag reg reg) -> reg, 4
    flagval: (flagval.$t:int flag) -> reg, 3
    store:   (store.$t:int (addr reg $o) reg) -> void, 5
    storer:  (store.$t:int reg reg) -> void, 6
    storei:  (store.$t:int (addr reg $o) (const $c:imm32)) -> void, 4
";

/// An operator tree whose leaves are values in registers.
enum Tree {
    Leaf,
    Node { op: Op, sig: Sig, value: u64, children: Vec<Tree> },
}

const VALUES: [u64; 6] = [0, 1, 7, 0x1234, 0x1234_5678_9abc, u64::MAX];

fn random_tree(random: &mut Random, ty: Type, depth: usize) -> Tree {
    if depth == 0 || random.below(8) == 0 {
        return Tree::Leaf;
    }
    let unary = Sig { from: Type::Void, ty };
    let node = |op, sig, value, children| Tree::Node { op, sig, value, children };
    let below = depth - 1;
    match random.below(12) {
        0 | 1 => node(Op::CONST, unary, ty.truncate(VALUES[random.below(VALUES.len())]), Vec::new()),
        2 | 3 => node(Op::LOAD, unary, 0, vec![random_tree(random, Type::I64, below)]),
        4 if ty == Type::I64 => {
            let address = random_tree(random, Type::I64, below);
            node(Op::ADDR, Sig { from: Type::Void, ty: Type::I64 }, 8, vec![address])
        }
        5 if ty == Type::I64 => {
            let children = vec![random_tree(random, Type::I64, below), random_tree(random, Type::I64, below)];
            node(Op::IDX, Sig { from: Type::Void, ty: Type::I64 }, 4, children)
        }
        6 => node(Op::NEG, unary, 0, vec![random_tree(random, ty, below)]),
        7 if ty == Type::I64 => {
            let sig = Sig { from: Type::I32, ty };
            node(Op::SCAST, sig, 0, vec![random_tree(random, Type::I32, below)])
        }
        8 => node(Op::FLAGVAL, unary, 0, vec![random_flag(random, ty, below)]),
        9 => {
            let flag = random_flag(random, ty, below);
            let children = vec![flag, random_tree(random, ty, below), random_tree(random, ty, below)];
            node(Op::SELECT, unary, 0, children)
        }
        choice => {
            let op = [Op::ADD, Op::SUB, Op::MUL, Op::AND, Op::ADD][choice % 5];
            node(op, unary, 0, vec![random_tree(random, ty, below), random_tree(random, ty, below)])
        }
    }
}

fn random_flag(random: &mut Random, ty: Type, depth: usize) -> Tree {
    let sig = Sig { from: ty, ty: Type::Flag };
    let one = random_tree(random, ty, depth);
    if random.below(2) == 0 {
        return Tree::Node { op: Op::NZ, sig, value: 0, children: vec![one] };
    }
    Tree::Node { op: Op::LT, sig, value: 0, children: vec![one, random_tree(random, ty, depth)] }
}

/// The least cost of deriving `symbol` from a tree, found by trying all choices of tiles.
fn brute_force(trees: &[(u16, Symbol, u32, Concrete)], tree: &Tree, symbol: Symbol, has: u32) -> Option<u32> {
    let Tree::Node { .. } = tree else { return (symbol == Symbol::Reg).then_some(0) };
    let fitting = trees.iter().filter(|(_, result, needs, _)| *result == symbol && needs & !has == 0);
    fitting.filter_map(|(cost, .., pattern)| Some(*cost as u32 + cover(trees, tree, pattern, has)?)).min()
}

fn cover(trees: &[(u16, Symbol, u32, Concrete)], tree: &Tree, pattern: &Concrete, has: u32) -> Option<u32> {
    let (wanted_op, wanted_sig, parts, predicate) = match pattern {
        Concrete::Symbol(symbol) => return brute_force(trees, tree, *symbol, has),
        Concrete::Same(_) => unreachable!("not in this machine"),
        Concrete::Node { op, sig, children, predicate } => (op, sig, children, predicate),
    };
    let Tree::Node { op, sig, value, children } = tree else { return None };
    let holds = |predicate: &Predicate| Predicate::mask(sig.ty, *value) >> *predicate as u8 & 1 != 0;
    if op != wanted_op || sig != wanted_sig || !predicate.as_ref().is_none_or(holds) {
        return None;
    }
    let sum = |order: &[usize]| {
        let costs = parts.iter().zip(order).map(|((_, part), at)| cover(trees, &children[*at], part, has));
        costs.sum::<Option<u32>>()
    };
    let commutes = matches!(*op, Op::ADD | Op::MUL | Op::AND);
    let straight = sum(&[0, 1, 2]);
    let swapped = if commutes { sum(&[1, 0]) } else { None };
    straight.into_iter().chain(swapped).min()
}

/// The cost of the tiles that the tables select, summed tile by tile.
fn table_cost(set: &azulejo_core::grammar::TileSet, tree: &Tree, features: u32) -> (u16, Vec<StateTree>) {
    let Tree::Node { op, sig, value, children } = tree else { return (LEAVES[0].0, Vec::new()) };
    let below: Vec<StateTree> = children
        .iter()
        .map(|child| {
            let (state, children) = table_cost(set, child, features);
            StateTree { state, children }
        })
        .collect();
    if *op == Op::CONST {
        return (set.constant(sig.ty, *value), below);
    }
    let head = set.head(*op, *sig).expect("every form of the test has a tile");
    let table = &set.ops[set.variants[head.variant(features) as usize] as usize];
    let mut states = [0; 3];
    below.iter().enumerate().for_each(|(at, child)| states[at] = child.state);
    (set.state(table, states), below)
}

struct StateTree {
    state: u16,
    children: Vec<StateTree>,
}

fn reduce(set: &azulejo_core::grammar::TileSet, tree: &StateTree, symbol: u16) -> u32 {
    if LEAVES.iter().any(|(state, leaf)| tree.state == *state && *leaf as u16 == symbol) || symbol == ANY {
        return 0;
    }
    let rule = &set.rules[set.rule(tree.state, symbol) as usize];
    assert_eq!(rule.result, symbol, "the rule makes what it was chosen for");
    let below = tree.children.iter().zip(&rule.children[..rule.arity as usize]);
    rule.cost as u32 + below.map(|(child, symbol)| reduce(set, child, *symbol)).sum::<u32>()
}

#[test]
fn table_tiling_costs_what_brute_force_finds() {
    let grammar = grammar(MACHINE);
    let set = tables(MACHINE).leak(&|_| unreachable!("no register is named"));
    let mut trees = Vec::new();
    for (at, rule) in grammar.rules.iter().enumerate() {
        let needs = rule.clauses.iter().map(|clause| match clause {
            azulejo_core::grammar::Clause::Needs(name) if name == "wide" => 1,
            azulejo_core::grammar::Clause::Needs(_) => 2,
            _ => 0,
        });
        let needs = needs.sum::<u32>();
        let all = concrete(&grammar, at).expect("the machine is sound");
        trees.extend(all.into_iter().map(|(_, tree)| (rule.cost, rule.result, needs, tree)));
    }
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    for round in 0..4000 {
        let ty = Type::INTS[random.below(4)];
        let depth = 1 + round % 5;
        let tree = random_tree(&mut random, ty, depth);
        let features = random.below(4) as u32;
        let (state, children) = table_cost(&set, &tree, features);
        let found = reduce(&set, &StateTree { state, children }, Symbol::Reg as u16);
        let least = brute_force(&trees, &tree, Symbol::Reg, features).expect("every tree has a cover");
        assert_eq!(found, least, "round {round}");
    }
}

#[test]
fn a_tile_that_never_wins_names_what_beats_it() {
    let refusals = refused(
        "add: (add.i64 reg reg) -> reg, 2
         other: (add.i64 reg reg) -> reg, 2
         const: (const.i64 $c) -> reg, 1
         addi: (add.i64 reg (const $c:imm8)) -> reg, 3",
    );
    assert_eq!(
        lines(&refusals),
        "Some(1) Name: this tile can never be selected; at the same or a lower cost there is always `add`\n\
         Some(3) Name: this tile can never be selected; at the same or a lower cost there is always `add`\n"
    );
}

#[test]
fn forms_without_a_tile_are_refused() {
    let mut grammar =
        grammar("add: (add.$t:int reg reg) -> reg, 2\nshl: (shl.i32 reg reg) -> reg, 1, needs(wide)");
    grammar.complete = true;
    let refusals = build(&grammar).expect_err("most forms have no tile");
    let text = lines(&refusals);
    assert!(text.contains("no tile covers `(add.f64 num num)`"), "{text}");
    assert!(text.contains("no tile covers `(shl.i32 reg reg)` on a CPU without wide"), "{text}");
    assert!(text.contains("no tile covers `(call.f32 reg)`"), "{text}");
    assert!(!text.contains("`(add.i32"), "{text}");
    assert!(!text.contains("`(param"), "{text}");
}

#[test]
fn mistakes_name_the_rule_and_the_part() {
    let found = |tiles: &str| {
        let refusals = refused(tiles);
        assert_eq!(refusals.len(), 1, "{}", lines(&refusals));
        lines(&refusals).trim_end().to_string()
    };
    let cases = [
        ("a: (addd.i64 reg reg) -> reg, 1", "Some(0) Pattern(0): there is no operator `addd`"),
        ("a: (add.i64 reg) -> reg, 1", "Some(0) Pattern(0): `add` has 2 operands, the pattern gives 1"),
        (
            "a: (add.i64 reg (neg num)) -> reg, 1",
            "Some(0) Pattern(0): no choice of types fits all operators and symbols of this pattern",
        ),
        (
            "a: (when flag reg) -> reg, 1",
            "Some(0) Pattern(0): `when` is lowered before tiles are chosen, so no tile can match it",
        ),
        ("a: (add.i32.i64 reg reg) -> reg, 1", "Some(0) Pattern(0): `add` takes one type: `add.i64`"),
        (
            "a: (scast.i64 reg) -> reg, 1",
            "Some(0) Pattern(0): `scast` takes the type it converts from and the one it converts to: `scast.from.to`",
        ),
        ("a: (addr.i64 reg $o) -> reg, 1", "Some(0) Pattern(0): `addr` takes no type"),
        ("a: (add.i64 reg reg $c) -> reg, 1", "Some(0) Pattern(0): `add` has no constant to name"),
        ("a: (add.i64 reg reg) -> num, 1", "Some(0) Pattern(0): this pattern does not yield a `num`"),
        (
            "a: (add.i64 reg (load $p)) -> reg, 1",
            "Some(0) Pattern(2): `load` has 1 operand, the pattern gives 0",
        ),
        (
            "a: (add.i64 reg reg) -> reg, 1, tied(2)",
            "Some(0) Clause(0): there is no operand 2: the pattern has 2 in registers, counted from 0",
        ),
        (
            "a: (add.i64 reg reg) -> reg, 1, tied(0), late(0)",
            "Some(0) Clause(0): an operand that is read late cannot share its register with the result",
        ),
        (
            "a: (add.i64 reg reg) -> reg, 1, fixed(0 = rax), fixed(0 = rcx)",
            "Some(0) Clause(1): an earlier clause says already where this has to be",
        ),
        (
            "a: (stof.i64.f64 reg) -> num, 1, tied(0)",
            "Some(0) Clause(0): the result and the operand it is tied to are in different register files",
        ),
        ("a: (lt.i64 reg reg) -> flag, 1, early", "Some(0) Clause(0): the tile has no result in a register"),
        (
            "a: (add.i64 reg reg) -> reg, 1, needs(magic)",
            "Some(0) Clause(0): the machine has no feature `magic`",
        ),
        (
            "a: (add.i64 reg reg) -> reg, 1, entry",
            "Some(0) Clause(0): what is there at entry cannot have operands",
        ),
        (
            "a: (tc) -> reg, 1, entry",
            "Some(0) Clause(0): say in which register it is there at entry: `fixed(out = …)`",
        ),
        ("a: (add.i64 void reg) -> reg, 1", "Some(0) Pattern(1): `void` cannot be an operand"),
    ];
    for (tiles, expected) in cases {
        assert_eq!(found(tiles), expected, "{tiles}");
    }
}

#[test]
fn two_tiles_of_one_name_are_refused() {
    let refusals = refused("a: (neg.i64 reg) -> reg, 1\na: (neg.i32 reg) -> reg, 1");
    assert_eq!(refusals.len(), 1);
    assert_eq!(refusals[0].problem, Problem::SameName("a".to_string()));
}

#[test]
fn a_constant_has_the_state_its_value_asks_for() {
    let tables = tables(
        "any: (const.i32 $c) -> reg, 4\nsmall: (const.i32 $c:imm8) -> reg, 2\nzero: (const.i32 $c:zero) -> reg, 1",
    );
    let set = tables.leak(&|_| unreachable!("no register is named"));
    let name = |bits| {
        let state = set.constant(Type::I32, bits);
        set.tiles[set.rules[set.rule(state, Symbol::Reg as u16) as usize].tile as usize].name
    };
    assert_eq!(
        [name(0), name(5), name(0xffff_ff80), name(0xffff_ff7f), name(0x80)],
        ["zero", "small", "small", "any", "any"]
    );
    assert!(tables.states.states.iter().all(|state| state.costs.len() == tables.flat.symbol_count()));
    assert!(tables.states.states[0].costs.iter().all(|cost| *cost == NEVER));
}

#[test]
fn a_rule_reads_back_as_it_was_printed() {
    let all = "a: (store.$t:int $p@(addr (idx reg reg $s) $o) (add.$t (load.$t $p) reg)) -> void, 5, late(0), any(1)
        b: (shl.i32|i64 reg (const $c:imm8)) -> reg, 3, tied(0), fixed(1 = rcx), fixed(out = rax), needs(fast)
        c: (ftoi_wrap.f32.i64 num) -> reg, 9, clobber(rax, rdx), temp(int), temp(float), early
        d: (load.value reg) -> num, 1
        e: (tc) -> reg, 0, entry, fixed(out = rdi)";
    let rules = text::rules(all).expect("the rules can be read");
    let printed: String = rules.iter().map(|rule| format!("{rule}\n")).collect();
    assert_eq!(text::rules(&printed).expect("what is printed can be read"), rules);
    for (line, rule) in all.lines().zip(&rules) {
        assert_eq!(line.trim(), rule.to_string());
    }
}

#[test]
fn the_line_of_sums_counts() {
    let set = tables(FOUR).leak(&|_| unreachable!("no register is named"));
    let line = explain::summary(&set);
    assert!(line.starts_with("tables: 4 tiles, "), "{line}");
    assert!(line.ends_with(&format!("{} bytes", set.table_bytes())), "{line}");
}
