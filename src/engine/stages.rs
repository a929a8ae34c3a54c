//! Writes down what the optimizer makes of a function, stage by stage.

use azulejo_core::grammar::TileSet;
use azulejo_core::ir::assignment::Assignment;
use azulejo_core::ir::graph::Graph;
use azulejo_core::ir::schedule::Schedule;
use azulejo_core::ir::tiles::{TileId, TileList};
use azulejo_core::pass::Observer;
use azulejo_core::text::print::{self, Names};
use std::fmt::{Debug, Write};

/// An observer that keeps the text of everything.
pub(super) struct Stages {
    pub(super) text: String,
}

impl Stages {
    pub(super) fn new<B: Debug>(code: &[B]) -> Stages {
        let lines = code.iter().enumerate().map(|(at, op)| format!("{at:5}: {op:?}\n"));
        Stages { text: format!("== bytecode\n{}", lines.collect::<String>()) }
    }

    fn add(&mut self, stage: &str, text: &str) {
        write!(self.text, "\n== {stage}\n{text}").expect("text has room");
    }
}

impl Observer for Stages {
    fn graph(&mut self, pass: &'static str, graph: &Graph) {
        self.add(pass, &print::graph(graph));
    }

    fn schedule(&mut self, graph: &Graph, schedule: &Schedule) {
        self.add("place", &print::schedule(graph, schedule));
    }

    fn tiles(&mut self, set: &TileSet, tiles: &TileList) {
        let name = |tile: TileId| set.tiles[tile.0 as usize].name.to_string();
        self.add("tile", &print::tiles(tiles, Names { tile: &name, ..Names::NUMBERS }));
    }

    fn assignment(&mut self, set: &TileSet, tiles: &TileList, assignment: &Assignment) {
        let name = |tile: TileId| set.tiles[tile.0 as usize].name.to_string();
        self.add("allocate", &print::assignment(tiles, assignment, Names { tile: &name, ..Names::NUMBERS }));
    }
}
