//! In every tier the C programs compute the checksums that they compute when compiled natively.

use azulejo_wasm::wasi::Wasi;
use azulejo_wasm::{Config, Linker, Module, Store, Tier, Tiers, Value};
use std::fs;
use std::path::Path;

#[test]
fn programs_give_their_checksums() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let table = fs::read_to_string(folder.join("table.txt")).expect("it is there");
    for row in table.lines().filter(|line| !line.starts_with('#')) {
        let [name, argument, checksum, ..] = row.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("not a row: {row}")
        };
        let argument = Value::I32(argument.parse().expect("it is a number"));
        let checksum = Value::I64(checksum.parse().expect("it is a number"));
        let bytes = fs::read(folder.join(name).with_extension("wasm")).expect("it is there");
        let module = Module::new(&bytes).expect("it is valid");
        for tiers in [
            Tiers::Only(Tier::Interpreter),
            Tiers::Only(Tier::Baseline),
            Tiers::Only(Tier::Optimizer),
            Tiers::TierUp(10, 100),
        ] {
            let mut store = Store::new(Config { tiers, ..Config::default() });
            let mut linker = Linker::new();
            linker.wasi(Wasi::new());
            let instance = store.instantiate(&module, &linker).expect("there is all it imports");
            let given = instance.invoke(&mut store, "run", &[argument]);
            assert_eq!(given, Ok(vec![checksum]), "{name} in {tiers:?}");
        }
    }
}
