//! The machine code of opcodes, from one run of the command to the next.
//!
//! In: the environment. Out: a file in the user's folder of caches, which a run reads at its start, and writes at its end if it has made code that
//! was not there. A run without such a folder makes its code itself, as the first one does.

use azulejo::saved;
use std::fs::DirBuilder;
use std::path::PathBuf;

/// The environment variable that names the folder; if it is empty, nothing is saved.
const FOLDER: &str = "AZULEJO_LUA_CACHE";

/// The file of a run.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    path: PathBuf,
    /// How many pieces of code it had at the start.
    pub(super) found: usize,
}

impl Cache {
    /// Loads what earlier runs have made. `None` if there is no place for it.
    pub(super) fn load() -> Option<Cache> {
        let path = folder(|name| std::env::var_os(name).map(PathBuf::from))?.join("stencils");
        // SAFETY: the folder is the user's, and is named as this command, which alone writes this file.
        let found = unsafe { saved::load(&path) }.ok()?;
        Some(Cache { path, found })
    }

    /// Saves what this run has made. It is no failure if that is not possible.
    pub(super) fn save(&self) {
        let is_there = saved::save(&self.path).is_ok();
        if !is_there && let Some(folder) = self.path.parent() {
            let mut builder = DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            if builder.create(folder).is_ok() {
                _ = saved::save(&self.path);
            }
        }
    }
}

/// The folder, by the variables of the environment.
fn folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let is_set = |path: &PathBuf| !path.as_os_str().is_empty();
    if let Some(folder) = variable(FOLDER) {
        return Some(folder).filter(is_set);
    }
    // What is not absolute is to be ignored, says the XDG Base Directory Specification.
    let caches = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let caches = caches.or_else(|| Some(variable("HOME").filter(|path| path.is_absolute())?.join(".cache")));
    caches.map(|caches| caches.join("azulejo-lua"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_the_users() {
        let folder = |set: &[(&str, &str)]| {
            let value =
                |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
            super::folder(value).map(|path| path.to_str().expect("it is text").to_owned())
        };
        let home = ("HOME", "/home/me");
        assert_eq!(folder(&[]), None);
        assert_eq!(folder(&[home]).as_deref(), Some("/home/me/.cache/azulejo-lua"));
        assert_eq!(folder(&[home, ("XDG_CACHE_HOME", "/tmp/c")]).as_deref(), Some("/tmp/c/azulejo-lua"));
        assert_eq!(folder(&[home, ("XDG_CACHE_HOME", "c")]).as_deref(), Some("/home/me/.cache/azulejo-lua"));
        assert_eq!(folder(&[home, (FOLDER, "/var/x")]).as_deref(), Some("/var/x"));
        assert_eq!(folder(&[home, (FOLDER, "")]), None);
    }
}
