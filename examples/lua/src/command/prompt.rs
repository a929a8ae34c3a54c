//! Interactive use: lines are read, and run as soon as they are whole statements.

use super::{Session, complain, complain_of};
use crate::lines::{Lines, Typed};
use crate::object::value::{FUNCTION, Value};
use std::io::Write;

impl Session<'_> {
    /// What a line is asked for with: the text of a global variable, if it has one.
    fn prompt(&mut self, name: &str, otherwise: &str) -> String {
        let name = self.vm.heap.string(name.as_bytes());
        let text = self.vm.globals.get_string(name).as_string();
        text.map_or(otherwise.to_string(), |text| String::from_utf8_lossy(text.bytes()).into_owned())
    }

    /// Reads lines and runs them.
    pub(super) fn interact(&mut self) {
        let (mut source, mut lines) = (Vec::new(), Lines::new());
        loop {
            self.vm.show_output();
            let (variable, otherwise) =
                if source.is_empty() { ("_PROMPT", "> ") } else { ("_PROMPT2", ">> ") };
            let prompt = self.prompt(variable, otherwise);
            let line = match lines.read(&prompt, &mut self.vm.out) {
                Typed::Line(line) => line,
                Typed::Nothing => {
                    source.clear();
                    continue;
                }
                Typed::End => {
                    let _ = self.vm.out.write_all(b"\n");
                    return;
                }
            };
            match line.strip_prefix(b"=") {
                Some(expression) if source.is_empty() => source = [b"return ", expression].concat(),
                _ => source.extend_from_slice(&line),
            }
            match self.vm.load(&source, b"=stdin") {
                Err(error) if error.is_incomplete => continue,
                Err(error) => drop(complain(&error.text(b"=stdin"))),
                Ok(closure) => match self.call(Value::object(FUNCTION, closure), &[]) {
                    Ok(values) if values.is_empty() => {}
                    Ok(values) => {
                        let print = self.vm.heap.string(b"print");
                        let print = self.vm.globals.get_string(print);
                        self.run_protected(print, &values);
                    }
                    Err(error) => drop(complain_of(error)),
                },
            }
            source.clear();
        }
    }
}
