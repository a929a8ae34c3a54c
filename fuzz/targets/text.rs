//! Feeds text to the parsers of graphs, programs and tiles, and to the builder of tables.

#![no_main]

use azulejo_rig::property;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    property::of_text(text).unwrap_or_else(|failure| panic!("{failure}"));
});
