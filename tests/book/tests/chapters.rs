//! Follows every chapter of the book from an empty folder.

// The chapters show machine code for x86-64, and the tools they use are those of Linux.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use azulejo_book::follow::follow;
use std::path::Path;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate lies in the repository")
}

macro_rules! chapters {
    ($($name:ident $file:literal)*) => {
        $(#[test]
        fn $name() {
            follow(repository(), Path::new(env!("CARGO_TARGET_TMPDIR")), $file);
        })*

        /// The files of all chapters, to check that none is left out.
        const CHAPTERS: &[&str] = &[$($file),*];
    };
}

chapters! {
    first_vm "first-vm.md"
    stack_machine "stack-machine.md"
    dynamic_language "dynamic-language.md"
    calling_rust "calling-rust.md"
    adding_an_operator "../adding-an-operator.md"
    adding_a_tile "adding-a-tile.md"
    adding_a_machine "adding-a-machine.md"
    emitters "../emitters.md"
    performance_advice "performance-advice.md"
    debugging "debugging.md"
    internals "internals.md"
    lua "lua.md"
}

#[test]
fn every_chapter_is_followed() {
    let folder = repository().join("docs/book");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .expect("the book can be read")
        .map(|entry| entry.expect("its files too").file_name().to_string_lossy().into_owned())
        .collect();
    found.sort();
    let mut known: Vec<&str> = CHAPTERS.iter().copied().filter(|file| !file.starts_with("../")).collect();
    known.sort();
    assert_eq!(found, known);
}
