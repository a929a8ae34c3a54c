//! The interpreters of Lua that are installed.
//!
//! In: a program. Out: its result, and the seconds of the fastest of some runs, by the clock of the interpreter's own process.

use super::programs::DynamicProgram;
use std::path::Path;
use std::process::Command;

/// What the others are compared with.
pub(crate) const PUC: &str = "lua5.1";

/// How often a program runs in one process: the compiler of traces has seen it then.
const RUNS: &str = "2";

/// An interpreter.
pub(crate) struct Lua {
    pub(crate) name: &'static str,
    command: &'static [&'static str],
}

/// Those that are installed.
pub(crate) fn all() -> Vec<Lua> {
    let all = [
        Lua { name: PUC, command: &["lua5.1"] },
        Lua { name: "luajit -joff", command: &["luajit", "-joff"] },
        Lua { name: "luajit", command: &["luajit"] },
    ];
    let (found, missing): (Vec<Lua>, Vec<Lua>) = all.into_iter().partition(Lua::is_installed);
    missing.iter().for_each(|lua| println!("`{}` is not installed, and left out", lua.command[0]));
    found
}

impl Lua {
    fn command(&self) -> Command {
        let mut command = Command::new(self.command[0]);
        command.args(&self.command[1..]);
        command
    }

    fn is_installed(&self) -> bool {
        self.command().arg("-v").output().is_ok_and(|output| output.status.success())
    }

    /// Runs a program. Returns its result and the seconds.
    pub(crate) fn run(&self, program: &DynamicProgram) -> Result<(f64, f64), String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("dynamic");
        let mut command = self.command();
        command
            .arg(folder.join("time.lua"))
            .arg(folder.join(program.lua))
            .args([&program.n.to_string(), RUNS]);
        let output = command.output().map_err(|error| format!("cannot run {}: {error}", self.name))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut words = text.split_whitespace().map(str::parse::<f64>);
        match (words.next(), words.next()) {
            (Some(Ok(result)), Some(Ok(seconds))) => Ok((result, seconds)),
            _ => Err(format!("{} says {text}{}", self.name, String::from_utf8_lossy(&output.stderr))),
        }
    }
}
