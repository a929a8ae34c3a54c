//! What `--explore` does: it shows how the optimizer compiles a function of the script.
//!
//! In: the name of a function, or its chunk and line, in a program that has run, so that the function knows what it has met. Out: a page
//! for browsers, in a file.

use super::complain;
use crate::run::vm::{Prototype, Vm};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

/// So many functions are listed where there is none that was meant.
const LISTED: usize = 30;

/// A function that is to be shown.
#[derive(Clone, Debug)]
pub(super) struct ExploredName {
    /// What it is called, or its place.
    name: String,
    page: PathBuf,
}

impl ExploredName {
    /// The function that a text means: `NAME` or `CHUNK:LINE`, with `=FILE` behind it if the page has a name of its own.
    pub(super) fn parse(text: &str) -> ExploredName {
        let (name, page) = match text.split_once('=') {
            Some((name, page)) => (name.to_string(), page.into()),
            None => {
                // What no system takes for more than a name.
                let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-');
                let file: String = text.chars().map(|it| if is_plain(it) { it } else { '_' }).collect();
                (text.to_string(), PathBuf::from(file + ".html"))
            }
        };
        ExploredName { name, page }
    }
}

/// Writes a page, and says where it is.
pub(super) fn explore(vm: &Vm, wanted: &ExploredName) -> bool {
    let mut all: Vec<&Rc<Prototype>> =
        vm.prototypes.iter().flatten().filter(|prototype| !prototype.lines.is_empty()).collect();
    // Of a vararg function the form that was made last: calls have asked for that.
    let newest: HashMap<_, _> =
        all.iter().map(|prototype| (prototype.identity(), prototype.function)).collect();
    all.retain(|prototype| newest.get(&prototype.identity()) == Some(&prototype.function));
    let is_meant = |prototype: &&&Rc<Prototype>| {
        prototype.name() == Some(&*wanted.name) || prototype.place() == wanted.name
    };
    let meant: Vec<&Rc<Prototype>> = all.iter().filter(is_meant).copied().collect();
    let function = match meant[..] {
        [function] => function,
        [] => return complain(listed(&format!("there is no function '{}'", wanted.name), &all).as_bytes()),
        _ => {
            let message = format!("there are several functions '{}': say CHUNK:LINE", wanted.name);
            return complain(listed(&message, &meant).as_bytes());
        }
    };
    let title = function.title();
    let page = match vm.engine.stages(function.function) {
        Ok(stages) => azulejo::explore::page(&title, &stages),
        Err(error) => return complain(format!("{title}: {error}").as_bytes()),
    };
    match std::fs::write(&wanted.page, page) {
        Ok(()) => {
            eprintln!("{title}: {}", wanted.page.display());
            true
        }
        Err(error) => complain(format!("cannot write {}: {error}", wanted.page.display()).as_bytes()),
    }
}

/// A message, and functions.
fn listed(message: &str, functions: &[&Rc<Prototype>]) -> String {
    let mut text = message.to_string();
    for function in functions.iter().take(LISTED) {
        text += &format!("\n\t{}", function.title());
    }
    if functions.len() > LISTED {
        text += "\n\t...";
    }
    text
}
