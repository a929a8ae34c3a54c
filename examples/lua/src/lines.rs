//! Lines that a user types.
//!
//! In: a prompt. Out: a line. At a terminal lines can be edited, and those of earlier times come back; otherwise lines are read as they are.

use crate::run::library_state::OpenFile;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// The file, in the user's folder, that keeps lines.
const HISTORY: &str = ".azulejo-lua-history";

/// What was typed.
pub(crate) enum Typed {
    /// A line, with its end.
    Line(Vec<u8>),
    /// Nothing: what was typed so far is to be forgotten.
    Nothing,
    /// There will be no more.
    End,
}

/// Where lines come from.
pub(crate) struct Lines {
    editor: Option<DefaultEditor>,
    history: Option<PathBuf>,
}

impl Lines {
    /// The lines of the standard input.
    pub(crate) fn new() -> Lines {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let mut editor = is_terminal.then(DefaultEditor::new).and_then(Result::ok);
        let history = std::env::home_dir().map(|home| home.join(HISTORY));
        if let (Some(editor), Some(history)) = (&mut editor, &history) {
            // There is none at first.
            let _ = editor.load_history(history);
        }
        Lines { editor, history }
    }

    /// Reads a line. Without a terminal it is one of `input`, from which the program reads as well, and the prompt is written to `out`.
    pub(crate) fn read(&mut self, prompt: &str, input: &OpenFile, out: &mut dyn Write) -> Typed {
        let Some(editor) = &mut self.editor else {
            let _ = out.write_all(prompt.as_bytes()).and_then(|()| out.flush());
            let mut line = Vec::new();
            let is_there = input.stream.borrow_mut().as_mut().map(|stream| stream.read_line(&mut line));
            if !matches!(is_there, Some(Ok(true))) {
                return Typed::End;
            }
            line.push(b'\n');
            return Typed::Line(line);
        };
        match editor.readline(prompt) {
            Ok(line) => {
                // A line that cannot be kept can be run.
                let _ = editor.add_history_entry(&line);
                Typed::Line([line.as_bytes(), b"\n"].concat())
            }
            Err(ReadlineError::Interrupted) => Typed::Nothing,
            Err(_) => Typed::End,
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        if let (Some(editor), Some(history)) = (&mut self.editor, &self.history) {
            // A user who has no such folder has no history.
            let _ = editor.append_history(history);
        }
    }
}
