//! Runs commands at the root of the repository. An error names the command that failed.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Prints a space-separated command line, and makes a command of it.
pub(crate) fn command(root: &Path, line: &str) -> Command {
    eprintln!("+ {line}");
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().expect("a command has a first word"));
    command.args(words).current_dir(root);
    command
}

/// Runs a space-separated command line with additional environment variables, and tells how long it took.
pub(crate) fn run(root: &Path, line: &str, env: &[(&str, &str)]) -> Result<(), String> {
    let start = Instant::now();
    let status = command(root, line)
        .envs(env.iter().copied())
        .status()
        .map_err(|error| format!("cannot run `{line}`: {error}"))?;
    eprintln!("  that took {} s", start.elapsed().as_secs());
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed")) }
}

/// Makes a release build of `azulejo-lua`, and returns where it is.
pub(crate) fn lua(root: &Path) -> Result<PathBuf, String> {
    run(root, "cargo build --quiet --release -p azulejo-lua", &[])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let target = std::path::absolute(&target)
        .map_err(|error| format!("cannot tell where {} is: {error}", target.display()))?;
    Ok(target.join("release").join(format!("azulejo-lua{}", std::env::consts::EXE_SUFFIX)))
}

/// Runs a command with all that it starts, and collects what it says of errors. Returns `None` if it does not end in time, and kills it then.
pub(crate) fn end_within(mut command: Command, limit: Duration) -> io::Result<Option<Output>> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let mut pipe = child.stderr.take().expect("it has a pipe");
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        pipe.read_to_end(&mut text).map(|_| text)
    });
    let end = Instant::now() + limit;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() > end => {
                kill(&mut child);
                return Ok(None);
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    let stderr = reader.join().expect("reading does not panic")?;
    Ok(Some(Output { status, stdout: Vec::new(), stderr }))
}

/// Kills a process, and where there are groups all of its group.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_ends_tells_how() {
        let ended = end_within(shell("echo wrong >&2; exit 3"), Duration::from_secs(60));
        let output = ended.expect("there is a shell").expect("it ends");
        assert_eq!((output.status.code(), &output.stderr[..]), (Some(3), &b"wrong\n"[..]));
    }

    /// What a command has started is gone with it.
    #[test]
    fn what_does_not_end_is_killed_with_all_that_it_started() {
        let start = Instant::now();
        let ended =
            end_within(shell("sleep 1000 & wait"), Duration::from_millis(200)).expect("there is a shell");
        assert!(ended.is_none() && start.elapsed() < Duration::from_secs(60));
    }
}
