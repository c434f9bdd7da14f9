//! Types of the sources, by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::{Attribute, Fields, Item, ItemEnum, ItemStruct, Type, UseTree};

/// A type that is written, with the file it stands in.
#[derive(Clone)]
pub(crate) struct Found {
    pub file: String,
    pub kind: Kind,
}

#[derive(Clone)]
pub(crate) enum Kind {
    Struct(ItemStruct),
    Enum(ItemEnum),
    Alias(Type),
}

/// All types of some crates.
pub(crate) struct Sources {
    types: BTreeMap<String, Vec<Found>>,
    /// Where a name of a file is imported from, as the path is spelled.
    imports: BTreeMap<(String, String), Vec<String>>,
}

impl Sources {
    pub(crate) fn read(crates: &Path, names: &[&str]) -> Self {
        let mut sources = Self { types: BTreeMap::new(), imports: BTreeMap::new() };
        for name in names {
            let mut files = Vec::new();
            list(&crates.join(name).join("src"), &mut files);
            files.sort();
            for file in files {
                let text = std::fs::read_to_string(&file).unwrap();
                let parsed = syn::parse_file(&text).unwrap();
                let shown = file.strip_prefix(crates).unwrap().display().to_string();
                sources.add(&shown, &parsed.items);
            }
        }
        sources
    }

    fn add(&mut self, file: &str, items: &[Item]) {
        for item in items {
            let (name, kind) = match item {
                Item::Struct(item) if written(&item.attrs) => {
                    (item.ident.to_string(), Kind::Struct(item.clone()))
                }
                Item::Enum(item) if written(&item.attrs) => {
                    (item.ident.to_string(), Kind::Enum(item.clone()))
                }
                Item::Type(item) => (item.ident.to_string(), Kind::Alias((*item.ty).clone())),
                Item::Use(item) => {
                    self.import(file, &item.tree, &mut Vec::new());
                    continue;
                }
                _ => continue,
            };
            self.types.entry(name).or_default().push(Found { file: file.to_owned(), kind });
        }
    }

    fn import(&mut self, file: &str, tree: &UseTree, path: &mut Vec<String>) {
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.import(file, &tree.tree, path);
                path.pop();
            }
            UseTree::Name(tree) => {
                self.imports.insert((file.to_owned(), tree.ident.to_string()), path.clone());
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(file, tree, path);
                }
            }
            UseTree::Rename(_) | UseTree::Glob(_) => {}
        }
    }

    /// The type of a name as a file means it: its own, else the only one, else the one that it imports. `path` is what stands
    /// before the name where it is used.
    pub(crate) fn find(&self, name: &str, file: &str, path: &[String]) -> Found {
        let found =
            self.types.get(name).unwrap_or_else(|| panic!("{file}: no type {name} in the sources"));
        if let (Some(own), true) = (found.iter().find(|one| one.file == file), path.is_empty()) {
            return own.clone();
        }
        let imported = self.imports.get(&(file.to_owned(), name.to_owned()));
        let path = if path.is_empty() { imported.map_or(&[][..], Vec::as_slice) } else { path };
        // As many modules of the path as possible are folders or files on the way to it; then the nearest file.
        let rank = |one: &Found| (along(&one.file, path), shared(&one.file, file));
        let best = found.iter().map(rank).max();
        let ties: Vec<&Found> = found.iter().filter(|one| Some(rank(one)) == best).collect();
        let places: Vec<&String> = ties.iter().map(|one| &one.file).collect();
        assert!(ties.len() == 1, "{file}: {name} is one of {places:?}");
        ties[0].clone()
    }
}

/// Whether serde writes a type.
fn written(attributes: &[Attribute]) -> bool {
    let derives = attributes.iter().filter(|one| one.path().is_ident("derive"));
    derives
        .filter_map(|one| one.meta.require_list().ok())
        .any(|list| list.tokens.to_string().contains("Serialize"))
}

/// Modules of a path that a file lies in.
fn along(file: &str, path: &[String]) -> usize {
    let parts: Vec<String> =
        file.trim_end_matches(".rs").split('/').map(|part| part.replace('-', "_")).collect();
    path.iter().filter(|module| parts.contains(module)).count()
}

fn shared(a: &str, b: &str) -> usize {
    a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count()
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Fields with their names; of tuples the numbers.
pub(crate) fn named(fields: &Fields) -> Vec<(Option<String>, &syn::Field)> {
    fields.iter().map(|field| (field.ident.as_ref().map(ToString::to_string), field)).collect()
}
