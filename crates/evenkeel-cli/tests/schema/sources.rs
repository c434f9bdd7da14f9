//! Types of the sources, by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::{Fields, Item, ItemEnum, ItemStruct, Type};

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
}

impl Sources {
    pub(crate) fn read(crates: &Path, names: &[&str]) -> Self {
        let mut sources = Self { types: BTreeMap::new() };
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
                Item::Struct(item) => (item.ident.to_string(), Kind::Struct(item.clone())),
                Item::Enum(item) => (item.ident.to_string(), Kind::Enum(item.clone())),
                Item::Type(item) => (item.ident.to_string(), Kind::Alias((*item.ty).clone())),
                _ => continue,
            };
            self.types.entry(name).or_default().push(Found { file: file.to_owned(), kind });
        }
    }

    /// The type of a name as a file means it: its own, else the only one, else the one of the file's crate or folder.
    pub(crate) fn find(&self, name: &str, file: &str) -> Found {
        let found =
            self.types.get(name).unwrap_or_else(|| panic!("{file}: no type {name} in the sources"));
        if let Some(own) = found.iter().find(|one| one.file == file) {
            return own.clone();
        }
        let mut best = found.clone();
        // The longest path in common with the file that uses it.
        best.sort_by_key(|one| std::cmp::Reverse(shared(&one.file, file)));
        let ties = best.iter().filter(|one| shared(&one.file, file) == shared(&best[0].file, file));
        assert!(
            ties.count() == 1,
            "{file}: {name} is one of {:?}",
            best.iter().map(|one| &one.file).collect::<Vec<_>>()
        );
        best[0].clone()
    }
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
