//! The structure of crates: which file uses which, how long functions are, and what types are called.
//!
//! In: the Rust files of the repository. Out: a fault for each circle of uses between files of different folders, for each
//! function that is too long, and for each name of two types of one crate. What tests use counts for nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, ItemMod, ItemUse, Lit, Meta, MetaNameValue, Token, UseTree, Visibility};

const MAX_FUNCTION_LINES: usize = 100;

/// Functions that may exceed the limit, each with the reason.
const LONG: &[(&str, &str, &str)] = &[
    ("benches/src/by_hand.rs", "run", "an interpreter's loop, with an arm for each opcode"),
    ("benches/src/clif.rs", "op", "a translator, with an arm for each opcode"),
];

/// Type names that a crate may have several times. They always stand with the name of their module.
const SHARED: &[(&str, &str)] = &[
    ("Scratch", "the memory that a pass keeps between functions, `live::Scratch`"),
    ("Judge", "the state of a judge; each module of judges has one"),
];

/// A module's path in its crate.
type ModulePath = Vec<String>;

/// What a file says, as far as this check looks.
#[derive(Debug, Default)]
struct SourceFile {
    /// The folder that the file is in.
    folder: String,
    /// The paths that its code names, from the crate's root.
    uses: BTreeSet<ModulePath>,
    /// What `use` lines make known in each of its modules, and by which path.
    names: HashMap<(ModulePath, String), ModulePath>,
    /// The types that it defines for every target.
    types: Vec<String>,
    /// The modules of it that only tests have.
    tests: Vec<ModulePath>,
    /// The modules of it, in other files, that do not exist for every target, and the names of those files if they are given.
    optional: Vec<(ModulePath, Option<String>)>,
}

/// The files of one crate, by their modules.
type Crate = BTreeMap<ModulePath, (String, SourceFile)>;

/// Checks all files; `files` has their names and texts.
pub(crate) fn check_structure(files: &[(String, String)], faults: &mut Vec<String>) {
    let roots = files.iter().filter_map(|(name, _)| {
        let root = name.strip_suffix("/lib.rs").or_else(|| name.strip_suffix("/main.rs"))?;
        (root == "src" || root.ends_with("/src")).then_some(root)
    });
    let mut crates: BTreeMap<&str, Crate> = roots.map(|root| (root, Crate::new())).collect();
    for (name, text) in files {
        // The rejected programs of tests are not all well-formed.
        if name.starts_with("tests/ui/") {
            continue;
        }
        let syntax = match syn::parse_file(text) {
            Ok(syntax) => syntax,
            Err(error) => {
                faults.push(format!("{name}: {error}"));
                continue;
            }
        };
        let root = crates.iter_mut().find(|(root, _)| name.starts_with(&format!("{root}/")));
        let module = root.as_ref().map_or(Vec::new(), |(root, _)| module_of(&name[root.len() + 1..]));
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let source = SourceFile { folder, ..SourceFile::default() };
        let mut reader = Reader { name, module: module.clone(), optional: 0, source, faults };
        reader.visit_file(&syntax);
        let source = reader.source;
        if let Some((_, files)) = root {
            files.insert(module, (name.clone(), source));
        }
    }
    for files in crates.values_mut() {
        let tests: Vec<ModulePath> = files.values().flat_map(|(_, source)| source.tests.clone()).collect();
        files.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
        check_names(files, faults);
        check_circles(files, faults);
    }
}

/// The module of a file, whose name is given from the crate's root.
fn module_of(name: &str) -> ModulePath {
    let mut parts: ModulePath = name.trim_end_matches(".rs").split('/').map(String::from).collect();
    parts.pop_if(|last| ["lib", "main", "mod"].contains(&last.as_str()));
    parts
}

/// Two files that do not exist for every target may stand in for each other, with the same names.
fn check_names(files: &Crate, faults: &mut Vec<String>) {
    let optional: Vec<_> = files.values().flat_map(|(_, source)| &source.optional).collect();
    let is_optional = |module: &ModulePath, name: &String| {
        optional.iter().any(|(start, file)| match file {
            Some(file) => file == name,
            None => module.starts_with(start),
        })
    };
    let mut defined = HashMap::new();
    for (module, (name, source)) in files {
        let is_optional = is_optional(module, name);
        for found in &source.types {
            if SHARED.iter().any(|(shared, _)| shared == found) {
                continue;
            }
            if let Some((before, was_optional)) = defined.insert(found, (name, is_optional))
                && !(is_optional && was_optional)
            {
                faults.push(format!("{name}: `{found}` is the name of a type in {before} too"));
            }
        }
    }
}

/// Reports each use of a file in another folder that leads back.
fn check_circles(files: &Crate, faults: &mut Vec<String>) {
    let users = files.keys().map(|module| (module, used_files(files, module)));
    let uses: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> = users.collect();
    for (&from, used) in &uses {
        for &to in used {
            if files[from].1.folder == files[to].1.folder {
                continue;
            }
            if let Some(way) = way(&uses, to, from) {
                let way = way.iter().map(|module| files[*module].0.as_str()).collect::<Vec<_>>().join(", ");
                faults.push(format!("{}: uses {way}: a circle of files in several folders", files[from].0));
            }
        }
    }
}

/// The files that a file uses. A path through the `use` lines of other files leads to the definition.
fn used_files<'a>(files: &'a Crate, user: &ModulePath) -> BTreeSet<&'a ModulePath> {
    let mut found = BTreeSet::new();
    for path in &files[user].1.uses {
        let (mut path, mut n_left) = (path.clone(), 8);
        let file = loop {
            // The longest part of the path that is a file's module.
            let len = (0..=path.len()).rev().find(|len| files.contains_key(&path[..*len]));
            let Some((module, (_, source))) = len.and_then(|len| files.get_key_value(&path[..len])) else {
                break None;
            };
            // Names are looked up in the file's inline modules too, the innermost first.
            let passed_on = (module.len()..path.len()).rev().find_map(|at| {
                let known = source.names.get(&(path[..at].to_vec(), path[at].clone()))?;
                Some(known.iter().chain(&path[at + 1..]).cloned().collect::<ModulePath>())
            });
            match passed_on {
                Some(further) if n_left > 0 && module != user => (path, n_left) = (further, n_left - 1),
                _ => break Some(module),
            }
        };
        found.extend(file.filter(|file| *file != user));
    }
    found
}

/// The files on the way from one file to another, both included.
fn way<'a>(
    uses: &BTreeMap<&'a ModulePath, BTreeSet<&'a ModulePath>>,
    from: &'a ModulePath,
    to: &ModulePath,
) -> Option<Vec<&'a ModulePath>> {
    let (mut ways, mut seen) = (vec![vec![from]], BTreeSet::from([from]));
    while let Some(way) = (!ways.is_empty()).then(|| ways.remove(0)) {
        let last = way[way.len() - 1];
        if last == to {
            return Some(way);
        }
        for &next in &uses[last] {
            if seen.insert(next) {
                ways.push(way.iter().copied().chain([next]).collect());
            }
        }
    }
    None
}

/// Reads one file.
struct Reader<'a> {
    name: &'a str,
    /// The module being read: the file's, or one within it.
    module: ModulePath,
    /// How many modules around the current place do not exist for every target.
    optional: usize,
    source: SourceFile,
    faults: &'a mut Vec<String>,
}

impl Reader<'_> {
    fn check_length(&mut self, what: &syn::Signature, whole: impl Spanned) {
        let lines = whole.span().end().line + 1 - what.span().start().line;
        let may_be = |(file, function, _): &(&str, &str, &str)| *file == self.name && what.ident == function;
        if lines > MAX_FUNCTION_LINES && !LONG.iter().any(may_be) {
            self.faults.push(format!("{}: `{}` has {lines} lines", self.name, what.ident));
        }
    }

    fn define(&mut self, name: &syn::Ident, attributes: &[Attribute]) {
        if self.optional == 0 && !attributes.iter().any(|attribute| attribute.path().is_ident("cfg")) {
            self.source.types.push(name.to_string());
        }
    }

    /// A path from the crate's root; `None` if it leads to another crate.
    fn resolved(&self, path: &[String]) -> Option<ModulePath> {
        let mut base = self.module.clone();
        let n_steps = path.iter().take_while(|step| ["super", "self"].contains(&step.as_str())).count();
        match path.first()?.as_str() {
            "crate" => return Some(path[1..].to_vec()),
            "super" | "self" => {
                let n_up = path[..n_steps].iter().filter(|step| *step == "super").count();
                base.truncate(base.len().checked_sub(n_up)?);
            }
            // A path from here may start with a module, which is looked up among the files, or with another crate.
            _ => {}
        }
        base.extend(path[n_steps..].iter().cloned());
        Some(base)
    }

    fn note(&mut self, path: &[String]) {
        self.source.uses.extend(self.resolved(path));
    }

    /// Calls `found` with the path of each name that a `use` line has, and with the name.
    fn flatten(prefix: &mut ModulePath, tree: &UseTree, found: &mut impl FnMut(&[String], &str)) {
        let len = prefix.len();
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                Self::flatten(prefix, &path.tree, found);
            }
            UseTree::Name(name) if name.ident == "self" => {
                let own = prefix.last().cloned().unwrap_or_default();
                found(prefix, &own);
            }
            UseTree::Name(name) => {
                prefix.push(name.ident.to_string());
                found(prefix, &name.ident.to_string());
            }
            UseTree::Rename(name) => {
                prefix.push(name.ident.to_string());
                found(prefix, &name.rename.to_string());
            }
            UseTree::Glob(_) => found(prefix, "*"),
            UseTree::Group(group) => {
                group.items.iter().for_each(|item| Self::flatten(prefix, item, found));
            }
        }
        prefix.truncate(len);
    }
}

/// The file that a `#[cfg_attr(…, path = "…")]` names.
fn other_file(attribute: &Attribute) -> Option<String> {
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    let arguments = attribute.path().is_ident("cfg_attr").then(|| attribute.parse_args_with(parser))?.ok()?;
    arguments.iter().find_map(|argument| match argument {
        Meta::NameValue(MetaNameValue {
            path,
            value: Expr::Lit(ExprLit { lit: Lit::Str(file), .. }),
            ..
        }) if path.is_ident("path") => Some(file.value()),
        _ => None,
    })
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if is_test(&item.attrs) {
            self.source.tests.push([&self.module[..], &[item.ident.to_string()]].concat());
            return;
        }
        let is_optional = item.attrs.iter().any(|attribute| attribute.path().is_ident("cfg"));
        self.module.push(item.ident.to_string());
        if item.content.is_none() {
            if is_optional {
                self.source.optional.push((self.module.clone(), None));
            }
            // Another file takes the place of the module's.
            for file in item.attrs.iter().filter_map(other_file) {
                let file = format!("{}/{file}", self.source.folder);
                self.source.optional.extend([(self.module.clone(), None), (self.module.clone(), Some(file))]);
            }
        }
        self.optional += is_optional as usize;
        visit::visit_item_mod(self, item);
        self.optional -= is_optional as usize;
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if is_test(&item.attrs) {
            return;
        }
        // A file that only passes a name on does not use it.
        let passes_on = !matches!(item.vis, Visibility::Inherited);
        let mut found = Vec::new();
        Self::flatten(&mut Vec::new(), &item.tree, &mut |path, name| {
            found.push((path.to_vec(), name.to_owned()));
        });
        for (path, name) in found {
            let Some(path) = self.resolved(&path) else { continue };
            if !passes_on {
                self.source.uses.insert(path.clone());
            }
            self.source.names.insert((self.module.clone(), name), path);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let steps: Vec<String> = path.segments.iter().map(|step| step.ident.to_string()).collect();
            if steps.len() > 1 {
                self.note(&steps);
            }
        }
        visit::visit_path(self, path);
    }

    /// A visibility names a module, but uses nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.check_length(&item.sig, item);
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.check_length(&item.sig, item);
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.check_length(&item.sig, item);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.define(&item.ident, &item.attrs);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.define(&item.ident, &item.attrs);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.define(&item.ident, &item.attrs);
        visit::visit_item_union(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.define(&item.ident, &item.attrs);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.define(&item.ident, &item.attrs);
        visit::visit_item_type(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = files.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        let mut faults = Vec::new();
        check_structure(&files, &mut faults);
        faults
    }

    #[test]
    fn a_circle_through_a_passed_on_name_is_found() {
        let root = ("a/src/lib.rs", "mod x; mod y; pub use x::inner::Thing;");
        let outer = ("a/src/x/mod.rs", "pub mod inner;");
        let inner = ("a/src/x/inner.rs", "pub struct Thing(crate::y::Other);");
        let other = ("a/src/y/mod.rs", "use crate::Thing; pub struct Other(Box<Thing>);");
        let free = ("a/src/y/mod.rs", "pub struct Other;");
        assert_eq!(faults(&[root, outer, inner, free]), <[&str; 0]>::default());
        assert_eq!(
            faults(&[root, outer, inner, other]),
            [
                "a/src/x/inner.rs: uses a/src/y/mod.rs, a/src/x/inner.rs: a circle of files in several folders",
                "a/src/y/mod.rs: uses a/src/x/inner.rs, a/src/y/mod.rs: a circle of files in several folders",
            ]
        );
        let in_test = ("a/src/y/mod.rs", "#[cfg(test)] mod tests { use crate::Thing; } pub struct Other;");
        assert_eq!(faults(&[root, outer, inner, in_test]), <[&str; 0]>::default());
    }

    #[test]
    fn files_of_one_folder_may_use_each_other() {
        let root = ("a/src/lib.rs", "mod x; mod y;");
        let x = ("a/src/x.rs", "use crate::y::Y; pub struct X(Box<Y>);");
        let y = ("a/src/y.rs", "pub struct Y(super::x::X);");
        assert_eq!(faults(&[root, x, y]), <[&str; 0]>::default());
    }

    #[test]
    fn a_name_belongs_to_one_type_of_a_crate() {
        let root = ("a/src/lib.rs", "struct Same; #[cfg(unix)] struct Other; #[cfg(windows)] struct Other;");
        let x = ("a/src/x.rs", "enum Same {} struct Scratch;");
        let elsewhere = ("b/src/lib.rs", "struct Same; struct Scratch;");
        assert_eq!(
            faults(&[root, x, elsewhere]),
            ["a/src/x.rs: `Same` is the name of a type in a/src/lib.rs too"]
        );
    }

    #[test]
    fn a_file_for_another_target_may_have_the_same_names() {
        let one = "#[cfg(unix)] mod x; mod y;";
        let both = "#[cfg_attr(windows, path = \"y.rs\")] mod x;";
        let (x, y) = (("a/src/x.rs", "struct Same;"), ("a/src/y.rs", "struct Same;"));
        assert_eq!(faults(&[("a/src/lib.rs", both), x, y]), <[&str; 0]>::default());
        assert_eq!(
            faults(&[("a/src/lib.rs", one), x, y]),
            ["a/src/y.rs: `Same` is the name of a type in a/src/x.rs too"]
        );
    }

    #[test]
    fn long_functions_are_found() {
        let function =
            |lines: usize| format!("impl A {{\n    fn long() {{{}\n}}\n}}\n", "\n".repeat(lines - 2));
        assert_eq!(faults(&[("a/src/lib.rs", &function(MAX_FUNCTION_LINES))]), <[&str; 0]>::default());
        assert_eq!(faults(&[("a/src/lib.rs", &function(101))]), ["a/src/lib.rs: `long` has 101 lines"]);
    }
}
