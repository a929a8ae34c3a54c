//! Checks that published packages are complete.
//!
//! In: manifests as cargo parses them, and the list of files in each package. Out: the errors. Only the packages
//! [`PUBLISHED`] may be published. Each of them needs the metadata that registries show, its license texts, and every file
//! that its documents link to or its code includes. No check contacts a registry; `cargo publish --dry-run` does.

use crate::links::{definition, links, normal};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages that users get from a registry. All others stay in the repository.
const PUBLISHED: [&str; 6] =
    ["azulejo", "azulejo-code", "azulejo-core", "azulejo-lang", "azulejo-macros", "azulejo-x64"];

/// The manifest fields that a registry shows.
const SHOWN: [&str; 8] = [
    "description",
    "documentation",
    "license",
    "readme",
    "rust_version",
    "edition",
    "keywords",
    "categories",
];

/// The front page of the documentation is the first file, included at the end of the second one's module documentation.
const FRONT_PAGE: [&str; 2] = ["README.md", "src/lib.rs"];

/// The files that each package contains besides its code.
const FILES: [&str; 3] = ["README.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Checks all packages of the workspace.
pub(crate) fn check_packages(root: &Path, faults: &mut Vec<String>) {
    let metadata = match metadata(root) {
        Ok(metadata) => metadata,
        Err(reason) => return faults.push(reason),
    };
    check_manifests(&metadata, faults);
    let [readme, lib] = FRONT_PAGE.map(|file| fs::read_to_string(root.join(file)).unwrap_or_default());
    check_front_page(&readme, &lib, faults);
    for package in packages(&metadata).filter(|package| PUBLISHED.contains(&name(package))) {
        let name = name(package);
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        let list = ["package", "--list", "--allow-dirty", "--offline", "--package", name];
        match cargo(root, &list) {
            Ok(list) => {
                let folder = manifest.parent().expect("a manifest lies in a folder");
                check_files(folder, name, &list.lines().map(PathBuf::from).collect(), faults);
            }
            Err(reason) => faults.push(reason),
        }
    }
}

/// Checks the fields of the manifests.
fn check_manifests(metadata: &Value, faults: &mut Vec<String>) {
    let mut described = BTreeSet::new();
    for package in packages(metadata) {
        let name = name(package);
        // In cargo's metadata the field is null for a package that may be published anywhere, and an empty list for one that may
        // not be published.
        let stays = package["publish"].as_array().is_some_and(Vec::is_empty);
        if !PUBLISHED.contains(&name) {
            if !stays {
                faults.push(format!("{name}: may be published; say `publish = false`"));
            }
            continue;
        }
        if stays {
            faults.push(format!("{name}: cannot be published"));
        }
        for field in SHOWN {
            let is_empty = match &package[field] {
                Value::String(text) => text.is_empty(),
                Value::Array(words) => words.is_empty(),
                _ => true,
            };
            if is_empty {
                faults.push(format!("{name}: its manifest says no {field}"));
            }
        }
        if !described.insert(package["description"].as_str()) {
            faults.push(format!("{name}: is described as another package is"));
        }
    }
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap_or_default()
}

/// Checks the links of a document that another file includes. A relative link needs a label, for which the includer defines a
/// URL. Pictures are exempt; rustdoc shows their alternative text.
fn check_front_page(document: &str, includer: &str, faults: &mut Vec<String>) {
    let is_address = |target: &str| target.contains("://");
    let lines = includer.lines().filter_map(|line| line.strip_prefix("//! "));
    let mut known: BTreeSet<&str> = lines
        .filter_map(definition)
        .filter(|(_, target)| is_address(target))
        .map(|(label, _)| label)
        .collect();
    let definitions: Vec<_> = document.lines().filter_map(definition).collect();
    for (label, target) in &definitions {
        if !known.remove(label) && !is_address(target) {
            faults
                .push(format!("{}: does not say where [{label}] leads in the documentation", FRONT_PAGE[1]));
        }
    }
    let [readme, lib] = FRONT_PAGE;
    faults.extend(known.iter().map(|label| format!("{lib}: {readme} has no link [{label}]")));
    for (line, target) in links(document) {
        let is_defined = definitions.iter().any(|(_, defined)| *defined == target);
        let is_picture = [".png", ".svg"].iter().any(|end| target.ends_with(end));
        if !is_defined && !is_address(target) && !target.starts_with('#') && !is_picture {
            faults.push(format!(
                "{readme}:{line}: give {target} a label, for it leads elsewhere in the documentation"
            ));
        }
    }
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

/// Checks that a package contains the files that its own files need.
fn check_files(folder: &Path, package: &str, files: &BTreeSet<PathBuf>, faults: &mut Vec<String>) {
    for file in FILES {
        if !files.contains(Path::new(file)) {
            faults.push(format!("{package}: its package has no {file}"));
        }
    }
    for file in files {
        let Ok(text) = fs::read_to_string(folder.join(file)) else { continue };
        let needed = match file.extension().and_then(|extension| extension.to_str()) {
            Some("md") => links(&text).into_iter().map(|(_, target)| target).collect(),
            Some("rs") => included(&text),
            _ => Vec::new(),
        };
        for target in needed {
            let path = target.split('#').next().unwrap_or("");
            if path.is_empty() || path.contains("://") {
                continue;
            }
            let beside = file.parent().expect("a file lies in a folder");
            let needed = normal(&beside.join(path));
            if !files.contains(&needed) {
                let (file, needed) = (file.display(), needed.display());
                faults.push(format!("{package}: {file} needs {needed}, which its package has not"));
            }
        }
    }
}

/// The files that code includes with `include_str!`.
fn included(text: &str) -> Vec<&str> {
    let starts = text.split(concat!("include", "_str!(\"")).skip(1);
    starts.filter_map(|rest| rest.split('"').next()).collect()
}

fn metadata(root: &Path) -> Result<Value, String> {
    let text = cargo(root, &["metadata", "--no-deps", "--format-version", "1", "--offline"])?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))
}

/// The output of a cargo command. A warning counts as a failure.
fn cargo(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("cargo").args(arguments).current_dir(root).output();
    let output = output.map_err(|error| format!("cannot run cargo: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || said.contains("warning:") {
        return Err(format!("cargo {}: {}", arguments.join(" "), said.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_package_is_whole() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
        let mut faults = Vec::new();
        check_packages(root, &mut faults);
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn what_manifests_lack_is_told() {
        let whole = json!({
            "name": "azulejo", "description": "a", "documentation": "b", "license": "c", "readme": "d",
            "rust_version": "1", "edition": "2024", "keywords": ["e"], "categories": ["f"], "publish": null,
        });
        let mut twin = whole.clone();
        twin["name"] = json!("azulejo-core");
        twin["keywords"] = json!([]);
        twin["publish"] = json!([]);
        let packages = json!({ "packages": [whole, twin, { "name": "rig", "publish": null }] });
        let mut faults = Vec::new();
        check_manifests(&packages, &mut faults);
        let expected = [
            "azulejo-core: cannot be published",
            "azulejo-core: its manifest says no keywords",
            "azulejo-core: is described as another package is",
            "rig: may be published; say `publish = false`",
        ];
        assert_eq!(faults, expected);
    }

    #[test]
    fn links_of_the_front_page_lead_to_addresses() {
        let document = "[a][a] [b](b.md) ![c](c.png) [d](#d) [e][e]\n\n[a]: a.md\n[e]: e.md\n";
        let mut faults = Vec::new();
        check_front_page(document, "//! [a]: https://a\n//! [f]: https://f\n", &mut faults);
        let expected = [
            "src/lib.rs: does not say where [e] leads in the documentation",
            "src/lib.rs: README.md has no link [f]",
            "README.md:1: give b.md a label, for it leads elsewhere in the documentation",
        ];
        assert_eq!(faults, expected);
    }

    #[test]
    fn what_packages_lack_is_told() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
        let mut files: BTreeSet<PathBuf> =
            ["README.md", "LICENSE-MIT", "src/explore/mod.rs"].map(PathBuf::from).into();
        let mut faults = Vec::new();
        check_files(folder, "azulejo", &files, &mut faults);
        for wanted in [
            "azulejo: its package has no LICENSE-APACHE",
            "azulejo: README.md needs docs/book/first-vm.md, which its package has not",
            "azulejo: src/explore/mod.rs needs src/explore/page.html, which its package has not",
        ] {
            assert!(faults.iter().any(|fault| fault == wanted), "{wanted}: {faults:?}");
        }
        let n_faults = faults.len();
        files.insert("src/explore/page.html".into());
        faults.clear();
        check_files(folder, "azulejo", &files, &mut faults);
        assert_eq!(faults.len(), n_faults - 1);
    }
}
