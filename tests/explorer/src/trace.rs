//! A simple parser of traces. The page is compared with its results.

use std::collections::{BTreeMap, BTreeSet};

/// A function's stages: names and lines, in order.
pub struct Trace {
    stages: Vec<(String, Vec<String>)>,
}

/// A machine instruction.
#[derive(Debug)]
pub struct Code {
    /// The number of its instruction in the tile list.
    pub inst: Option<u32>,
    /// Whether it is a move in front of that instruction.
    pub is_move: bool,
    /// The node.
    pub node: Option<u32>,
    /// The bytecode.
    pub origin: Option<u32>,
}

/// An instruction of the tile list.
#[derive(Debug)]
pub struct Inst {
    /// The virtual registers that it writes or uses as temporaries.
    pub writes: Vec<u32>,
    /// The virtual registers that it reads.
    pub reads: Vec<u32>,
    /// The node.
    pub node: Option<u32>,
    /// The bytecode.
    pub origin: u32,
}

impl Trace {
    /// Parses the first function of a trace.
    pub fn of(text: &str) -> Trace {
        let mut stages: Vec<(String, Vec<String>)> = Vec::new();
        let mut lines = text.lines().enumerate();
        for (at, line) in &mut lines {
            if at > 0 && line.starts_with("function ") {
                break;
            }
            if let Some(name) = line.strip_prefix("== ") {
                stages.push((name.to_string(), Vec::new()));
            } else if let Some((_, stage)) = stages.last_mut()
                && !line.is_empty()
            {
                stage.push(line.to_string());
            }
        }
        Trace { stages }
    }

    /// The names of the stages.
    pub fn names(&self) -> Vec<&str> {
        self.stages.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The lines of a stage, by the stage's index.
    pub fn stage(&self, at: usize) -> &[String] {
        &self.stages[at].1
    }

    /// The lines of the last stage with this name.
    pub fn last(&self, name: &str) -> &[String] {
        let found = self.stages.iter().rfind(|(other, _)| other == name);
        &found.unwrap_or_else(|| panic!("there is a stage `{name}`")).1
    }

    /// The machine instructions.
    pub fn code(&self) -> Vec<Code> {
        let notes = self.last("emit").iter().map(|line| line.split_once("; ").map_or("", |(_, note)| note));
        notes
            .map(|note| Code {
                inst: note.split(' ').next().and_then(|number| number.parse().ok()),
                is_move: note.split(' ').any(|word| word == "move"),
                node: marked(note, 'v'),
                origin: marked(note, '@'),
            })
            .collect()
    }

    /// The tile list's instructions, by number.
    pub fn insts(&self) -> BTreeMap<u32, Inst> {
        let inst = |line: &String| {
            let (number, rest) = line.trim().split_once(": ")?;
            let (body, note) = rest.split_once(';').unwrap_or((rest, ""));
            let operands = || body.split(' ').skip(1).take_while(|word| *word != "clobbers");
            let is_written =
                |word: &&str| ["def:", "early:", "temp:"].iter().any(|role| word.starts_with(role));
            let vreg = |word: &str| word.rsplit(':').next().and_then(|name| marked(name, 'r'));
            let inst = Inst {
                writes: operands().filter(is_written).filter_map(vreg).collect(),
                reads: operands().filter(|word| !is_written(word)).filter_map(vreg).collect(),
                node: marked(note, 'v'),
                origin: marked(rest, '@').unwrap_or(0),
            };
            Some((number.parse().ok()?, inst))
        };
        self.last("tile").iter().filter(|line| line.starts_with("    ")).filter_map(inst).collect()
    }

    /// The virtual registers of each live range.
    pub fn ranges(&self) -> Vec<Vec<u32>> {
        let vregs = |line: &String| {
            let (vregs, _) = line.split_once(" int:").or_else(|| line.split_once(" float:"))?;
            Some(vregs.split(' ').filter_map(|name| marked(name, 'r')).collect())
        };
        self.last("live").iter().filter_map(vregs).collect()
    }

    /// The bytecodes of the block parameters that are in these virtual registers.
    pub fn param_origins(&self, vregs: &[u32]) -> BTreeSet<u32> {
        let block = |line: &String| marked(line, 'b').filter(|_| line.starts_with('b'));
        let (mut current, mut params) = (None, BTreeMap::<u32, Vec<Option<u32>>>::new());
        for line in self.last("place") {
            current = block(line).or(current);
            if let Some(block) = current.filter(|_| line.contains(" = param.")) {
                params.entry(block).or_default().push(marked(line, '@'));
            }
        }
        let in_registers = self.last("tile").iter().filter_map(|line| {
            let (_, names) = line.split_once(" (").filter(|_| line.starts_with('b'))?;
            let names = names.split(')').next()?.split(' ').map(|name| marked(name, 'r'));
            Some(names.zip(params.get(&block(line)?)?.clone()).collect::<Vec<_>>())
        });
        let found = in_registers.flatten().filter(|(vreg, _)| vreg.is_some_and(|vreg| vregs.contains(&vreg)));
        found.filter_map(|(_, origin)| origin).collect()
    }

    /// The live ranges that contain one of these virtual registers, each named by the first virtual register in it.
    pub fn ranges_of(&self, vregs: &[u32]) -> BTreeSet<String> {
        let ranges = self.ranges();
        let found = ranges.iter().filter(|range| range.iter().any(|vreg| vregs.contains(vreg)));
        found.map(|range| format!("r{}", range[0])).collect()
    }

    /// The named nodes in a graph's stage: the number of each, and its text without the number.
    pub fn nodes(&self, at: usize) -> BTreeMap<u32, String> {
        let node = |line: &String| {
            let (name, text) = line.trim().split_once(" = ")?;
            let text = text.split("  #").next().unwrap_or(text);
            Some((marked(name, 'v')?, text.to_string()))
        };
        self.stage(at).iter().filter(|line| line.starts_with("    ")).filter_map(node).collect()
    }
}

/// The number behind a prefix at the start of a word: `v12`, `@7`.
pub fn marked(text: &str, mark: char) -> Option<u32> {
    text.split(' ').find_map(|word| {
        let digits = word.strip_prefix(mark)?;
        let end = digits.find(|char: char| !char.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().ok()
    })
}
