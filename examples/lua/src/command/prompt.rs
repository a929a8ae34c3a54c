//! Interactive use: lines are read, and run as soon as they are whole statements.

use super::{Session, say, words_of};
use crate::library::as_text;
use crate::lines::{Lines, Typed};
use crate::object::value::{FUNCTION, Value};
use crate::syntax::SyntaxErrorKind;
use std::io::Write;

impl Session<'_> {
    /// What a line is asked for with: the text of a global variable, if it has one.
    fn prompt(&mut self, name: &str, otherwise: &str) -> String {
        let name = self.vm.heap.string(name.as_bytes());
        let text = self.vm.globals.get_string(name);
        let text = as_text(self.vm, text);
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
            let stdin = self.vm.library.files.stdin.clone();
            let line = match lines.read(&prompt, &stdin, &mut self.vm.out) {
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
                Err(error) if error.kind == SyntaxErrorKind::Incomplete => continue,
                Err(error) => say(&error.text(b"=stdin")),
                Ok(closure) => match self.call(Value::object(FUNCTION, closure), &[]) {
                    Ok(values) if values.is_empty() => {}
                    Ok(values) => self.show(&values),
                    Err(error) => words_of(error).iter().for_each(|words| say(words)),
                },
            }
            source.clear();
        }
    }

    /// Prints the results of a line.
    fn show(&mut self, values: &[Value]) {
        let print = self.vm.heap.string(b"print");
        let print = self.vm.globals.get_string(print);
        let printed = self.call_handled(print, values, None);
        self.vm.show_output();
        if let Err(error) = printed {
            let reason = words_of(error).unwrap_or_else(|| b"(null)".to_vec());
            say(&[b"error calling 'print' (", &reason[..], b")"].concat());
        }
    }
}
