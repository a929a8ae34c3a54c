//! The command line's options.

use super::explore::ExploredName;
use crate::run::vm::Tiers;
use std::ffi::OsString;
use std::io::IsTerminal;

/// How the command is used.
pub const USAGE: &str = "\
usage: azulejo-lua [options] [script [args]]
  -e CODE          run CODE
  -l NAME          require library NAME
  -i               read and run lines after the script
  -v               say which version this is
  --tier T         interpreter-in-rust, interpreter, baseline, optimizer, or climbing (the default)
  --foreground     optimize in between, and not on another thread
  --stats          say at the end where time went, what was compiled, and what the collector did
  --profile[=FILE] say at the end where time went in the script; write folded stacks, for flame graphs, to FILE
  --explore NAME   write NAME.html, which shows how the function NAME, or that at CHUNK:LINE, is compiled;
                   NAME=FILE writes FILE
  --interruptible  an interrupt (SIGINT) stops the script and says where it was; so at a terminal
  --               no more options
  -                run the standard input
The machine code of opcodes is saved for the next run in the user's folder of caches, or in that which the environment
variable AZULEJO_LUA_CACHE names; nothing is saved if it is empty.";

/// What is done before the script.
#[derive(Clone, Debug)]
pub(super) enum First {
    Run(Vec<u8>),
    Require(Vec<u8>),
}

/// The command line.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(super) tiers: Tiers,
    pub(super) first: Vec<First>,
    pub(super) is_interactive: bool,
    pub(super) says_version: bool,
    /// Whether the optimizer works in between, where functions climb.
    pub(super) is_in_foreground: bool,
    pub(super) has_stats: bool,
    pub(super) has_profile: bool,
    /// The functions that are to be shown.
    pub(super) explored: Vec<ExploredName>,
    /// Where folded stacks go.
    pub(super) folded: Option<OsString>,
    /// Whether an interrupt stops the script, and not the process.
    pub(super) is_interruptible: bool,
    /// The script, or `-`.
    pub(super) script: Option<OsString>,
    /// What stands before the script, from the last argument to the first, for `arg`.
    pub(super) before: Vec<OsString>,
    pub(super) arguments: Vec<OsString>,
}

impl Options {
    /// Reads the command line.
    pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Options, String> {
        let mut options = Options::default();
        let mut arguments = arguments.peekable();
        while let Some(argument) =
            arguments.next_if(|next| next.len() > 1 && next.as_encoded_bytes()[0] == b'-')
        {
            options.before.push(argument.clone());
            let text = argument.to_str().ok_or("an option is no text")?;
            let value = |short: &str| -> Option<Vec<u8>> {
                text.strip_prefix(short).filter(|rest| !rest.is_empty()).map(|rest| rest.into())
            };
            let mut later = |given: Option<Vec<u8>>, options: &mut Options| {
                given.or_else(|| {
                    let next = arguments.next()?;
                    options.before.push(next.clone());
                    Some(next.into_encoded_bytes())
                })
            };
            match text {
                "--" => break,
                "-i" => (options.is_interactive, options.says_version) = (true, true),
                "-v" => options.says_version = true,
                "--foreground" => options.is_in_foreground = true,
                "--stats" => options.has_stats = true,
                "--profile" => options.has_profile = true,
                "--explore" => {
                    let name = later(None, &mut options).ok_or("'--explore' needs a name")?;
                    options.explored.push(ExploredName::parse(&String::from_utf8_lossy(&name)));
                }
                "--interruptible" => options.is_interruptible = true,
                "--help" => return Err("".into()),
                "--tier" => {
                    let name = later(None, &mut options).unwrap_or_default();
                    options.tiers = tiers(&name)?;
                }
                _ if text.starts_with("--tier=") => {
                    options.tiers = tiers(&text.as_bytes()["--tier=".len()..])?
                }
                _ if text.starts_with("--profile=") => {
                    options.has_profile = true;
                    options.folded = text.strip_prefix("--profile=").map(OsString::from);
                }
                _ if text.starts_with("-e") => {
                    let code = later(value("-e"), &mut options).ok_or("'-e' needs code")?;
                    options.first.push(First::Run(code));
                }
                _ if text.starts_with("-l") => {
                    let name = later(value("-l"), &mut options).ok_or("'-l' needs a name")?;
                    options.first.push(First::Require(name));
                }
                _ => return Err(format!("unrecognized option '{text}'")),
            }
        }
        options.script = arguments.next();
        options.arguments = arguments.collect();
        let is_idle = options.script.is_none() && options.first.is_empty() && !options.says_version;
        if is_idle {
            options.is_interactive = std::io::stdin().is_terminal();
            options.says_version = options.is_interactive;
            if !options.is_interactive {
                options.script = Some("-".into());
            }
        }
        // Somebody may type the keys that interrupt.
        options.is_interruptible |= options.is_interactive
            || std::io::stdin().is_terminal()
            || std::io::stdout().is_terminal()
            || std::io::stderr().is_terminal();
        Ok(options)
    }
}

fn tiers(name: &[u8]) -> Result<Tiers, String> {
    Ok(match name {
        b"interpreter-in-rust" => Tiers::InterpreterInRust,
        b"interpreter" => Tiers::Interpreter,
        b"baseline" => Tiers::Baseline,
        b"optimizer" => Tiers::Optimizer,
        b"climbing" => Tiers::Climbing,
        _ => return Err(format!("there is no tier '{}'", String::from_utf8_lossy(name))),
    })
}
