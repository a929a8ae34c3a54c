//! `os`.
//!
//! The only locale is that of C. Times are local as far as the system tells.

use super::{Arguments, Natives, built, register};
use crate::calendar::{self, Date};
use crate::number::{to_i64, until_zero};
use crate::object::heap::Gc;
use crate::object::string::Str;
use crate::object::table::{Room, Table};
use crate::object::value::Value;
use crate::run::error::Result;
use crate::run::vm::Vm;
use crate::stream::{error_text, temporary_file};
use crate::system_text::system_text;
use azulejo::Frames;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const NATIVES: &Natives = &[
    ("clock", clock),
    ("date", date),
    ("difftime", difftime),
    ("execute", execute),
    ("exit", exit),
    ("getenv", getenv),
    ("remove", remove),
    ("rename", rename),
    ("setlocale", setlocale),
    ("time", time),
    ("tmpname", tmpname),
];

/// Makes `os`.
pub(super) fn open(vm: &mut Vm) {
    register(vm, "os", NATIVES);
}

/// The path that a string is.
pub(super) fn path_of(text: Gc<Str>) -> PathBuf {
    system_text(text.bytes()).into()
}

/// What the system's shell does with a text.
pub(super) fn shell(text: Gc<Str>) -> Command {
    let (program, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut command = Command::new(program);
    command.arg(option).arg(system_text(text.bytes()));
    command
}

/// The results of what the system was asked for: `true`, or `nil`, what is wrong with what, and the error's number.
pub(super) fn give_outcome(vm: &mut Vm, outcome: io::Result<()>, name: Option<&[u8]>) -> Result<Value> {
    match outcome {
        Ok(()) => Ok(vm.give(&[Value::TRUE])),
        Err(error) => {
            let (text, number) = error_text(&error);
            let message = match name {
                Some(name) => [name, b": ", text.as_bytes()].concat(),
                None => text.into_bytes(),
            };
            let message = vm.new_string(&message)?;
            Ok(vm.give(&[Value::NIL, message, Value::number(f64::from(number))]))
        }
    }
}

/// The time that the process has taken.
#[cfg(unix)]
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it is there for the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The time since the first call.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

fn clock(_: &mut Vm, _: &Frames<'_>, _: &[Value]) -> Result<Value> {
    Ok(Value::number(processor_time().as_micros() as f64 / 1e6))
}

/// Seconds since 1970.
fn now() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_secs() as i64,
        Err(error) => -(error.duration().as_secs() as i64),
    }
}

/// The fields of dates.
type Field = (&'static str, fn(&Date) -> i32);

const FIELDS: [Field; 8] = [
    ("sec", |date| date.second),
    ("min", |date| date.minute),
    ("hour", |date| date.hour),
    ("day", |date| date.day),
    ("month", |date| date.month + 1),
    ("year", |date| date.year.wrapping_add(1900)),
    ("wday", |date| date.week_day + 1),
    ("yday", |date| date.year_day + 1),
];

fn date(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let format = args.optional_string(vm, 1)?;
    let format = format.as_ref().map_or(&b"%c"[..], |format| until_zero(format.bytes()));
    let time = if args.get(2).is_nil() { now() } else { to_i64(args.number(vm, 2)?) };
    let (date, format) = match format {
        [b'!', rest @ ..] => (calendar::universal(time), rest),
        format => (calendar::local(time), format),
    };
    let Some(date) = date else { return Ok(Value::NIL) };
    if format == b"*t" {
        let table = vm.heap.table(Room { slots: FIELDS.len() as u32 + 1, elements: 0 });
        for (name, field) in FIELDS {
            add_field(vm, table, name, Value::number(f64::from(field(&date))));
        }
        if date.is_summer >= 0 {
            add_field(vm, table, "isdst", Value::bool(date.is_summer > 0));
        }
        return Ok(Value::table(table));
    }
    built(vm, 0, |out| {
        let mut rest = format;
        while let [first, behind @ ..] = rest {
            rest = match (first, behind) {
                (b'%', [letter, behind @ ..]) => {
                    calendar::put(&date, *letter, out);
                    behind
                }
                _ => {
                    out.push(*first);
                    behind
                }
            };
        }
    })
}

fn add_field(vm: &mut Vm, table: Gc<Table>, name: &str, value: Value) {
    let name = vm.heap.string(name.as_bytes());
    vm.heap.set_string(table, name, value).expect("a table may have any string as a key");
}

fn time(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    if args.get(1).is_nil() {
        return Ok(Value::number(now() as f64));
    }
    args.table(vm, 1)?;
    // What the fields are read by may call back: the table stays, being an argument that is kept.
    super::rooted(vm, &[args.get(1)], |vm| {
        let mut date = Date {
            second: date_field(vm, args, "sec", Some(0))?,
            minute: date_field(vm, args, "min", Some(0))?,
            hour: date_field(vm, args, "hour", Some(12))?,
            day: date_field(vm, args, "day", None)?,
            month: date_field(vm, args, "month", None)?.wrapping_sub(1),
            year: date_field(vm, args, "year", None)?.wrapping_sub(1900),
            ..Date::default()
        };
        date.is_summer = match raw_field(vm, args, "isdst")? {
            value if value.is_nil() => -1,
            value => i32::from(value.is_true()),
        };
        let time = calendar::local_time(&date).map_or(Value::NIL, |time| Value::number(time as f64));
        Ok(vm.give(&[time]))
    })
}

fn raw_field(vm: &mut Vm, args: Arguments<'_>, name: &str) -> Result<Value> {
    let key = Value::string(vm.heap.string(name.as_bytes()));
    vm.get(args.frames(), args.get(1), key)
}

fn date_field(vm: &mut Vm, args: Arguments<'_>, name: &str, otherwise: Option<i32>) -> Result<i32> {
    let value = raw_field(vm, args, name)?;
    match Vm::to_number(value).map(|number| to_i64(number) as i32).or(otherwise) {
        Some(number) => Ok(number),
        None => args.fail(vm, format!("field '{name}' missing in date table")),
    }
}

fn difftime(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    // Compiled C looks at the last argument first.
    let early = to_i64(args.number_or(vm, 2, 0.0)?);
    let late = to_i64(args.number(vm, 1)?);
    Ok(Value::number(late as f64 - early as f64))
}

fn execute(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let Some(text) = args.optional_string(vm, 1)? else { return Ok(Value::number(1.0)) };
    let status = match shell(text).status() {
        #[cfg(unix)]
        Ok(status) => std::os::unix::process::ExitStatusExt::into_raw(status),
        #[cfg(not(unix))]
        Ok(status) => status.code().unwrap_or(-1),
        Err(_) => -1,
    };
    Ok(Value::number(f64::from(status)))
}

fn exit(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let code = Arguments::new(frames, values).int_or(vm, 1, 0)?;
    vm.library.files.flush();
    if let Some(at_exit) = vm.at_exit.take() {
        at_exit(vm);
    }
    std::process::exit(code)
}

fn getenv(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let name = Arguments::new(frames, values).string(vm, 1)?;
    match std::env::var_os(path_of(name)) {
        Some(value) => vm.new_string(value.as_encoded_bytes()),
        None => Ok(Value::NIL),
    }
}

fn remove(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let name = Arguments::new(frames, values).string(vm, 1)?;
    let path = path_of(name);
    let outcome = match std::fs::symlink_metadata(&path) {
        Ok(found) if found.is_dir() => std::fs::remove_dir(&path),
        _ => std::fs::remove_file(&path),
    };
    give_outcome(vm, outcome, Some(until_zero(name.bytes())))
}

fn rename(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    let args = Arguments::new(frames, values);
    let (from, to) = (args.string(vm, 1)?, args.string(vm, 2)?);
    let outcome = std::fs::rename(path_of(from), path_of(to));
    give_outcome(vm, outcome, Some(until_zero(from.bytes())))
}

fn setlocale(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    const CATEGORIES: [(&str, ()); 6] =
        [("all", ()), ("collate", ()), ("ctype", ()), ("monetary", ()), ("numeric", ()), ("time", ())];
    let args = Arguments::new(frames, values);
    let name = args.optional_string(vm, 1)?;
    args.word(vm, 2, Some("all"), &CATEGORIES)?;
    match name.as_ref().map(|name| until_zero(name.bytes())) {
        None | Some(b"" | b"C" | b"POSIX") => vm.new_string(b"C"),
        _ => Ok(Value::NIL),
    }
}

fn tmpname(vm: &mut Vm, frames: &Frames<'_>, values: &[Value]) -> Result<Value> {
    match temporary_file() {
        Ok((path, _)) => vm.new_string(path.as_os_str().as_encoded_bytes()),
        Err(_) => Arguments::new(frames, values).fail(vm, "unable to generate a unique filename"),
    }
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{check, check_error};

    #[test]
    fn dates() {
        check(
            "os.date('!%Y-%m-%d %H:%M:%S %%', 86399), os.date('!%c', 0)",
            "'1970-01-01 23:59:59 %' 'Thu Jan  1 00:00:00 1970'",
        );
        check(
            "(function() local t = os.date('!*t', 951826332) return t.year, t.month, t.day, t.hour, t.min, t.sec, t.wday, t.yday, \
             t.isdst end)()",
            "2000 2 29 12 12 12 3 60 false",
        );
        check("os.time(os.date('*t', 1e9)), os.difftime(5, 3), os.difftime(5)", "1000000000 2 5");
        check(
            "os.time({year = 2000, month = 13, day = 0}) == os.time({year = 2000, month = 12, day = 31})",
            "true",
        );
        check(
            "os.time({year = 2001, month = 1, day = 1}) - os.time({year = 2000, month = '1', day = 1, hour = 12})",
            "31622400",
        );
        check("os.time() > 1.6e9, os.clock() >= 0", "true true");
        check_error("os.time({})", "field 'day' missing in date table");
        check_error("os.date('*t', 'x')", "bad argument #2 to 'date' (number expected, got string)");
    }

    #[test]
    fn the_system() {
        check(
            "os.getenv('NO_SUCH_VARIABLE'), os.setlocale(), os.setlocale('xx'), os.setlocale('C', 'time')",
            "nil 'C' nil 'C'",
        );
        check_error("os.setlocale('C', 'foo')", "bad argument #2 to 'setlocale' (invalid option 'foo')");
        check("os.remove('/no/such/file')", "nil '/no/such/file: No such file or directory' 2");
        check("os.rename('/no/such/file', '/no/other')", "nil '/no/such/file: No such file or directory' 2");
        check(
            "(function() local a = os.tmpname() local b = a .. '2' return os.rename(a, b), os.remove(a), os.remove(b) end)()",
            "true nil true",
        );
    }

    #[cfg(unix)]
    #[test]
    fn commands() {
        check("os.execute(), os.execute('exit 3'), os.execute('true')", "1 768 0");
    }
}
