//! The implementations of Lua: those of others that are installed, and ours in each of its tiers.
//!
//! Out: commands that run a script. What is not installed is named and left out. Ours is built first, in release mode.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the others are compared with.
pub(crate) const PUC: &str = "lua5.1";

/// The tiers of ours that the last line of the report names, by their columns there.
pub(crate) const OURS: [&str; 3] = ["interpreter", "baseline", "default"];

/// The others: the name in the report, and the command.
const OTHERS: [(&str, &[&str]); 4] = [
    (PUC, &["lua5.1"]),
    ("lua5.4", &["lua5.4"]),
    ("luajit -joff", &["luajit", "-joff"]),
    ("luajit", &["luajit"]),
];

/// A way to run scripts.
pub(crate) struct Implementation {
    /// The name in the report.
    pub(crate) name: &'static str,
    program: PathBuf,
    options: &'static [&'static str],
}

impl Implementation {
    /// The command that runs a script, with the size that it is told, if any.
    pub(crate) fn command(&self, script: &Path, size: Option<&str>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(self.options).arg(script).args(size);
        command
    }

    fn is_installed(&self) -> bool {
        let mut command = Command::new(&self.program);
        command.arg("-v").output().is_ok_and(|output| output.status.success())
    }
}

/// All implementations that are there, PUC Lua first and ours last.
pub(crate) fn all() -> Result<Vec<Implementation>, String> {
    let others = OTHERS.map(|(name, command)| Implementation {
        name,
        program: PathBuf::from(command[0]),
        options: &command[1..],
    });
    let (mut found, missing): (Vec<_>, Vec<_>) = others.into_iter().partition(Implementation::is_installed);
    missing.iter().for_each(|it| println!("`{}` is not installed, and left out", it.name));
    if !found.iter().any(|it| it.name == PUC) {
        return Err(format!("everything is compared with `{PUC}`"));
    }
    let program = build()?;
    let options: [&[&str]; 3] = [&["--tier", "interpreter"], &["--tier", "baseline"], &[]];
    let ours = OURS.into_iter().zip(options);
    found.extend(ours.map(|(name, options)| Implementation { name, program: program.clone(), options }));
    Ok(found)
}

/// Builds ours, and returns where it is, as cargo says.
fn build() -> Result<PathBuf, String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--package", "azulejo-lua", "--bin", "azulejo-lua"]);
    cargo.args(["--message-format", "json-render-diagnostics", "--manifest-path"]).arg(manifest);
    let output =
        cargo.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err("azulejo-lua cannot be built".to_string());
    }
    let said = String::from_utf8_lossy(&output.stdout);
    executable(&said).map(PathBuf::from).ok_or_else(|| "cargo does not say where azulejo-lua is".to_string())
}

/// The last executable that cargo's messages name.
fn executable(messages: &str) -> Option<&str> {
    let (_, rest) = messages.rsplit_once(r#""executable":""#)?;
    Some(rest.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use super::executable;

    #[test]
    fn cargo_says_where_the_executable_is() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
            {\"reason\":\"compiler-artifact\",\"executable\":\"/a/b/azulejo-lua\",\"fresh\":true}\n\
            {\"reason\":\"build-finished\",\"success\":true}\n";
        assert_eq!(executable(messages), Some("/a/b/azulejo-lua"));
        assert_eq!(executable("{\"executable\":null}"), None);
    }
}
