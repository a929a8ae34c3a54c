//! Runs a command to its end, and says what it took.
//!
//! In: a command. Out: what it printed, its CPU time and wall time, and the most memory that it had, as the system counts for a process
//! that has ended. A command that fails is an error with the first lines of what it said. One that computes for too long is stopped.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

/// The seconds of CPU time after which the system stops a process.
const LIMIT: u64 = 120;

/// What a process has printed, and what it took.
pub(crate) struct Run {
    pub(crate) printed: String,
    /// Seconds of the user and of the system.
    pub(crate) cpu: f64,
    /// Seconds from its start to its end.
    pub(crate) wall: f64,
    /// The most memory that it had, in KiB.
    pub(crate) peak: u64,
}

/// Runs a command.
pub(crate) fn run(command: &mut Command) -> Result<Run, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The limit has another purpose too. The memory that the new process has before it becomes the command counts for its peak. With
    // something to do there it is a copy of what this process has written to, which is little, and not all memory of this one.
    //
    // SAFETY: the function makes one system call, and neither allocates nor locks.
    unsafe { command.pre_exec(limit) };
    let start = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("cannot run {name}: {error}"))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // Both are read at once, so that neither is ever full.
    let said = std::thread::spawn(move || text(stderr));
    let printed = text(stdout);
    let (status, used) = wait(child.id())?;
    let wall = start.elapsed().as_secs_f64();
    let said = said.join().expect("reading does not panic");
    if !status.success() {
        let said: Vec<&str> = said.lines().filter(|line| !line.is_empty()).take(2).collect();
        return Err(format!("{status}: {}", said.join(" ")));
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let cpu = seconds(used.ru_utime) + seconds(used.ru_stime);
    Ok(Run { printed, cpu, wall, peak: kibibytes(used.ru_maxrss) })
}

/// Limits the CPU time of this process.
fn limit() -> std::io::Result<()> {
    let limit = libc::rlimit { rlim_cur: LIMIT, rlim_max: LIMIT };
    // SAFETY: the system call reads a valid structure.
    match unsafe { libc::setrlimit(libc::RLIMIT_CPU, &raw const limit) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

fn text(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is what there is.
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Waits for the end of a child of this process, which nobody else waits for.
fn wait(child: u32) -> Result<(ExitStatus, libc::rusage), String> {
    let mut status = 0;
    // SAFETY: the structure has only numbers, for which zeros are valid.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: the system call writes to two valid places.
        let waited = unsafe { libc::wait4(child as libc::pid_t, &raw mut status, 0, &raw mut used) };
        if waited == child as libc::pid_t {
            return Ok((ExitStatus::from_raw(status), used));
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(format!("cannot wait: {error}"));
        }
    }
}

/// Linux counts in KiB, and macOS in bytes.
fn kibibytes(counted: libc::c_long) -> u64 {
    let counted = counted as u64;
    if cfg!(target_vendor = "apple") { counted / 1024 } else { counted }
}

#[cfg(test)]
mod tests {
    use super::run;
    use std::process::Command;

    #[test]
    fn a_run_counts_what_it_takes() {
        let script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo $i";
        let long = run(Command::new("sh").args(["-c", script])).expect("it ends well");
        let short = run(Command::new("sh").args(["-c", "echo done"])).expect("it ends well");
        assert_eq!((long.printed.as_str(), short.printed.as_str()), ("200000\n", "done\n"));
        assert!(long.cpu > short.cpu && long.wall > short.wall && long.cpu < long.wall * 2.0);
    }

    #[test]
    fn a_run_has_a_peak() {
        let script = "text=$(head -c 16000000 /dev/zero | tr '\\0' x); echo ${#text}";
        let large = run(Command::new("sh").args(["-c", script])).expect("it ends well");
        let small = run(Command::new("sh").args(["-c", "true"])).expect("it ends well");
        assert_eq!(large.printed, "16000000\n");
        assert!(large.peak >= small.peak + 15_000, "{} and {} KiB", large.peak, small.peak);
    }

    #[test]
    fn a_failure_has_a_reason() {
        let failed = run(Command::new("sh").args(["-c", "echo no >&2; exit 3"])).err();
        assert_eq!(failed.as_deref(), Some("exit status: 3: no"));
        assert!(run(&mut Command::new("/nowhere/at/all")).is_err());
    }
}
