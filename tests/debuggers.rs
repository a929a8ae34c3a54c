//! GDB and perf unwind through compiled code and know its functions by their names.
//!
//! This is a program without the test harness, so that `main` is at the bottom of the stack. Without arguments it starts
//! GDB and perf on itself. A tool that is not installed or not permitted is skipped, with the reason.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod checks {
    use azulejo::prelude::*;
    use std::process::{Command, Output};
    use std::rc::Rc;

    /// Set in the debuggee: the name of its scenario.
    const DEBUGGEE: &str = "AZULEJO_TEST_DEBUGGEE";

    struct Vm {
        engine: Rc<Engine<Op>>,
        inner: FunctionId,
    }

    #[derive(Bytecode, Clone, Copy, Debug)]
    #[bytecode(context = Vm)]
    enum Op {
        Const { dst: Out<i64>, value: Imm<i64> },
        Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
        JumpLess { a: In<i64>, b: In<i64>, to: Label },
        Stop { a: In<i64> },
        Inner { dst: Out<i64>, a: In<i64> },
        Return { a: In<i64> },
    }

    template! {
        Op::Const    => $value
        Op::Add      => (add $a $b)
        Op::JumpLess => (when (lt $a $b) (branch $to))
        Op::Stop     => (callv azulejo_test_stop (arglist (carg $a i64)))
        Op::Inner    => (call inner (arglist (carg (tc) ptr) (carg $a i64)) i64)
        Op::Return   => (return $a)
    }

    /// The breakpoint in the innermost call.
    #[unsafe(no_mangle)]
    #[inline(never)]
    extern "C-unwind" fn azulejo_test_stop(value: i64) {
        std::hint::black_box(value);
    }

    /// The breakpoint after everything was compiled.
    #[unsafe(no_mangle)]
    #[inline(never)]
    extern "C" fn azulejo_test_ready() {
        std::hint::black_box(());
    }

    fn inner(vm: &mut Vm, a: i64) -> i64 {
        let engine = Rc::clone(&vm.engine);
        engine.call(vm.inner, vm, (a,)).expect("it ends")
    }

    fn r<T: From<u32>>(register: u32) -> T {
        register.into()
    }

    /// Executes `middle` while this many values are live.
    fn busy(values: u32, middle: &[Op]) -> Vec<Op> {
        let mut code = Vec::new();
        for at in 0..values {
            code.push(Op::Const { dst: r(2 + at), value: Imm(1 << 40 | at as i64) });
            code.push(Op::Add { dst: r(2 + at), a: r(2 + at), b: r(0) });
        }
        code.push(Op::Const { dst: r(1), value: Imm(0) });
        code.extend(middle);
        code.extend((0..values).map(|at| Op::Add { dst: r(1), a: r(1), b: r(2 + at) }));
        code.push(Op::Return { a: r(1) });
        code
    }

    /// The debuggee: `main` calls `outer_lines`, which calls `inner_words`, which stops.
    pub(super) fn debuggee(what: &str) {
        let builder = Engine::<Op>::builder();
        let engine = Rc::new(match what {
            "gdb" => builder.debugger(true).build(),
            "gdb with frame pointers" => builder.debugger(true).frame_pointers(true).build(),
            "perf" => builder.frame_pointers(true).perf_map(true).build(),
            "perf with a dump" => builder.jitdump(dump_directory()).build(),
            other => unreachable!("there is no {other}"),
        });
        let define = |name: &str, code: Vec<Op>| {
            let function = engine.define(name, code, 40).expect("the code is right");
            engine.compile(function).expect("it compiles");
            function
        };
        let spin = [
            Op::Const { dst: r(38), value: Imm(1) },
            Op::Const { dst: r(39), value: Imm(300_000_000) },
            Op::Add { dst: r(1), a: r(1), b: r(38) },
            Op::JumpLess { a: r(1), b: r(39), to: Label(3) },
        ];
        let (inner, outer) = match what {
            "perf" | "perf with a dump" => {
                (define("inner_words", busy(0, &spin)), define("outer_lines", busy(9, &[])))
            }
            _ => (
                define("inner_words", busy(30, &[Op::Stop { a: r(0) }])),
                define("outer_lines", busy(3, &[Op::Inner { dst: r(1), a: r(0) }])),
            ),
        };
        // The tools must not know discarded code any more.
        let gone = define("never_seen", busy(1, &[]));
        engine.discard(gone).expect("it is the engine's");
        let mut vm = Vm { engine: Rc::clone(&engine), inner };
        let start = if what.starts_with("perf") { inner } else { outer };
        println!("process {}", std::process::id());
        azulejo_test_ready();
        engine.call::<_, i64>(start, &mut vm, (1i64,)).expect("it ends");
    }

    fn this() -> std::path::PathBuf {
        std::env::current_exe().expect("a test has a path")
    }

    fn text(output: &Output) -> String {
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    }

    /// The output of GDB for a script; `None` if GDB cannot be run.
    fn gdb(what: &str, script: &str) -> Option<String> {
        let file = std::env::temp_dir().join(format!("azulejo-{}.gdb", std::process::id()));
        std::fs::write(&file, script).expect("a file can be written");
        let mut gdb = Command::new("gdb");
        gdb.args(["-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "set width 0"]);
        let output = gdb.arg("-x").arg(&file).arg(this()).env(DEBUGGEE, what).output();
        let _ = std::fs::remove_file(&file);
        match output {
            Ok(output) => Some(text(&output)),
            Err(reason) => {
                eprintln!("skipped: gdb cannot be run: {reason}");
                None
            }
        }
    }

    /// Checks that the text contains the names in this order.
    fn assert_order(text: &str, names: &[&str]) {
        let mut rest = text;
        for name in names {
            match rest.find(name) {
                Some(at) => rest = &rest[at + name.len()..],
                None => panic!("`{name}` is missing or out of order in\n{text}"),
            }
        }
    }

    fn gdb_gets_through(what: &str) {
        let script = "break azulejo_test_stop\nrun\nbacktrace\nkill\n";
        let Some(backtrace) = gdb(what, script) else { return };
        if !backtrace.contains("Breakpoint 1, ") {
            eprintln!("skipped: gdb cannot trace here:\n{backtrace}");
            return;
        }
        let names = ["azulejo_test_stop", "inner_words", "enter", "outer_lines", "enter", "main ()"];
        assert_order(&backtrace, &names);
        assert!(!backtrace.contains("never_seen") && !backtrace.contains("Backtrace stopped"), "{backtrace}");
        // A function can be disassembled by its name, and it can have a breakpoint.
        let script = "
            break azulejo_test_ready
            run
            break inner_words
            set language c
            disassemble inner_words
            continue
            backtrace 2
            kill
        ";
        let text = gdb(what, script).expect("gdb was there before");
        let instructions = text.lines().filter(|line| line.contains(" <+")).count();
        assert!(instructions > 100 && text.contains("End of assembler dump."), "{text}");
        let stop = text.lines().find(|line| line.starts_with("Breakpoint 2, "));
        assert!(stop.is_some_and(|line| line.ends_with(" in inner_words ()")), "{text}");
        assert_order(&text, &["#0", "in inner_words ()", "#1"]);
        // Step through every instruction of the inner function, including its prologue and epilogue, and then through its
        // callers. (GDB parses expressions as Rust once it stops in a function that it knows to be Rust.)
        let script = "
            break azulejo_test_ready
            run
            set language c
            break *(char *)&inner_words
            continue
            set $step = 0
            while $step < 1200
                echo STEP\\n
                backtrace
                nexti
                set $step = $step + 1
            end
            kill
        ";
        let text = gdb(what, script).expect("gdb was there before");
        let mut steps: Vec<&str> = text.split("STEP\n").skip(1).collect();
        // The last steps may be in the caller of `main`.
        if let Some(end) = steps.iter().position(|step| !step.contains("main ()")) {
            assert!(steps[end].contains("_start"), "{}", steps[end]);
            steps.truncate(end);
        }
        let top = |step: &str| step.lines().next().unwrap_or_default().to_string();
        let in_function = |name: &str| steps.iter().filter(|step| top(step).contains(name)).count();
        assert!(in_function("inner_words") > 100 && in_function("outer_lines") > 5, "{text}");
        for step in &steps {
            let callers = ["inner_words", "enter", "outer_lines", "enter", "main ()"];
            let from = [0, 2].into_iter().find(|at| top(step).contains(callers[*at])).unwrap_or(4);
            assert_order(step, &callers[from..]);
        }
    }

    /// A profile of a loop in compiled code names the function and its caller.
    fn perf_gets_through() {
        let file = std::env::temp_dir().join(format!("azulejo-{}.perf", std::process::id()));
        let record = Command::new("perf")
            .args(["record", "-e", "cpu-clock", "--call-graph", "fp", "-o"])
            .arg(&file)
            .arg(this())
            .env(DEBUGGEE, "perf")
            .output();
        let skip = |reason: String| eprintln!("skipped: perf cannot be run: {reason}");
        let record = match record {
            Err(reason) => return skip(reason.to_string()),
            Ok(output) if !output.status.success() => return skip(text(&output)),
            Ok(output) => text(&output),
        };
        let script = Command::new("perf").args(["script", "-F", "ip,sym", "-i"]).arg(&file).output();
        let _ = std::fs::remove_file(&file);
        let script = text(&script.expect("perf was there before"));
        // Each paragraph is a sample, with the innermost frame first.
        let callers = script.split("\n\n").filter_map(|sample| {
            let mut frames = sample.lines();
            frames.find(|frame| frame.contains("inner_words"))?;
            frames.next()
        });
        let callers: Vec<&str> = callers.collect();
        let process = record.lines().find_map(|line| line.strip_prefix("process "));
        let _ =
            std::fs::remove_file(format!("/tmp/perf-{}.map", process.expect("the process says its number")));
        assert!(callers.len() > 20, "{script}");
        assert!(
            callers.iter().all(|caller| caller.contains("Backend") && caller.contains("enter")),
            "{callers:?}"
        );
    }

    fn dump_directory() -> std::path::PathBuf {
        let starter = std::env::var("AZULEJO_TEST_STARTER").expect("whoever starts this says who it is");
        std::env::temp_dir().join(format!("azulejo-dump-{starter}"))
    }

    /// A profile of a loop knows the bytecode of each sample, and shows bytecode as source lines.
    fn perf_knows_bytecodes() {
        let starter = std::process::id();
        let directory = std::env::temp_dir().join(format!("azulejo-dump-{starter}"));
        std::fs::create_dir_all(&directory).expect("a directory can be made");
        let (raw, with_code) = (directory.join("raw.perf"), directory.join("with-code.perf"));
        let record = Command::new("perf")
            .args(["record", "-e", "cpu-clock", "--clockid", "mono", "-o"])
            .arg(&raw)
            .arg(this())
            .env(DEBUGGEE, "perf with a dump")
            .env("AZULEJO_TEST_STARTER", starter.to_string())
            .output();
        let skip = |reason: String| eprintln!("skipped: perf cannot be run: {reason}");
        match record {
            Err(reason) => return skip(reason.to_string()),
            Ok(output) if !output.status.success() => return skip(text(&output)),
            Ok(_) => {}
        }
        let perf = |arguments: &[&str], file: &std::path::Path| {
            let output =
                Command::new("perf").args(arguments).arg("-i").arg(file).current_dir(&directory).output();
            text(&output.expect("perf was there before"))
        };
        let with = with_code.to_str().expect("it is text");
        let inject = perf(&["inject", "--jit", "-o", with], &raw);
        let script = perf(&["script", "-F", "ip,sym,srcline"], &with_code);
        let lines: Vec<&str> = script.lines().collect();
        let samples = lines.windows(2).filter(|pair| pair[0].contains("inner_words"));
        let of_lines: Vec<&str> =
            samples.filter_map(|pair| pair[1].rsplit_once(".txt:").map(|(_, line)| line.trim())).collect();
        assert!(of_lines.len() > 20, "{inject}\n{script}");
        // The loop consists of the bytecodes 3 and 4, which are in lines 4 and 5.
        let in_loop = of_lines.iter().filter(|line| ["4", "5"].contains(line)).count();
        assert!(in_loop * 10 > of_lines.len() * 9, "{of_lines:?}");
        let annotated = perf(&["annotate", "--stdio", "-l", "-s", "inner_words"], &with_code);
        assert!(annotated.contains("JumpLess { a: r1, b: r39, to: Label(3) }"), "{annotated}");
        std::fs::remove_dir_all(&directory).expect("nobody else has it");
    }

    pub(super) fn run() {
        if let Err(reason) = azulejo::can_compile() {
            return eprintln!("skipped: {reason}");
        }
        for what in ["gdb", "gdb with frame pointers"] {
            eprintln!("{what}");
            gdb_gets_through(what);
        }
        eprintln!("perf");
        perf_gets_through();
        eprintln!("perf with a dump");
        perf_knows_bytecodes();
    }

    pub(super) fn main() {
        // Handles the arguments of the test harness that list or filter tests.
        let words: Vec<String> = std::env::args().skip(1).collect();
        let is_filtered = |word: &String| !word.starts_with('-') && !"debuggers".contains(word.as_str());
        if words.iter().any(|word| word == "--list") || words.iter().any(is_filtered) {
            return;
        }
        match std::env::var(DEBUGGEE) {
            Ok(what) => debuggee(&what),
            Err(_) => run(),
        }
    }
}

fn main() {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    checks::main();
}
