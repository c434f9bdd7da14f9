//! The modules are stages: each uses only stages before it.
//!
//! Reads the paths `crate::...` and the `super::...` that reach the root, in `use` and in code, and takes each as an
//! arrow between two modules of `src/lib.rs`. Comments, strings and test code are no arrows.
//! `cargo test --test module_graph -- --nocapture` prints the stages, and of each cycle its arrows: how often they are
//! used, how often the arrow back, and where.

#![allow(missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, clippy::print_stdout)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// Where one module names another: `file:line`, and what stands there.
type Places = Vec<String>;

/// The arrows: who uses whom, and where.
#[derive(Default)]
struct Graph {
    uses: BTreeMap<String, BTreeMap<String, Places>>,
    unknown: Vec<String>,
}

impl Graph {
    fn of_sources() -> Self {
        let root = code_only(&fs::read_to_string(format!("{SOURCES}/lib.rs")).unwrap());
        let exported = exported_names(&root);
        let mut graph = Graph::default();
        for module in declared_modules(&root) {
            graph.uses.entry(module).or_default();
        }
        for file in rust_files(Path::new(SOURCES)) {
            let name = file.strip_prefix(SOURCES).unwrap().to_path_buf();
            // The root names every module and is used by none: no arrow can close a circle there.
            if name != Path::new("lib.rs") {
                graph.add_file(&name, &fs::read_to_string(&file).unwrap(), &exported);
            }
        }
        graph
    }

    fn add_file(&mut self, name: &Path, text: &str, exported: &BTreeMap<String, String>) {
        let module = module_path(name);
        let code = code_only(text);
        let lines: Vec<&str> = text.lines().collect();
        for (at, target) in paths_from_the_root(&code, module.len()) {
            let line = code[..at].matches('\n').count() + 1;
            let place = format!("src/{}:{line}: {}", name.display(), statement(&lines[line - 1..]));
            let known = Some(target.clone()).filter(|target| self.uses.contains_key(target));
            match known.or_else(|| exported.get(&target).cloned()) {
                Some(used) if used == module[0] => {}
                Some(used) => {
                    let places = self.uses.entry(module[0].clone()).or_default();
                    places.entry(used).or_default().push(place);
                }
                None => self.unknown.push(format!("{place}   (`{target}`)")),
            }
        }
    }

    /// All modules that can be reached from `start` by one arrow or more.
    fn reached_from(&self, start: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut waiting = vec![start];
        while let Some(module) = waiting.pop() {
            for used in self.uses.get(module).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(used.as_str()) {
                    waiting.push(used);
                }
            }
        }
        reached
    }

    /// Modules that reach each other, in groups; a module of its own is a group of one.
    fn groups(&self) -> Vec<BTreeSet<&str>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.uses.keys().map(|module| (module.as_str(), self.reached_from(module))).collect();
        let mut groups: Vec<BTreeSet<&str>> = Vec::new();
        for module in self.uses.keys().map(String::as_str) {
            if groups.iter().any(|group| group.contains(module)) {
                continue;
            }
            let mutual =
                |other: &&str| reached[module].contains(other) && reached[other].contains(module);
            let mut group: BTreeSet<&str> = reached.keys().copied().filter(mutual).collect();
            group.insert(module);
            groups.push(group);
        }
        groups
    }

    /// Groups by stage: a stage uses only earlier ones, and the one right before it.
    fn stages(&self) -> Vec<Vec<BTreeSet<&str>>> {
        let mut waiting = self.groups();
        let mut placed: BTreeSet<&str> = BTreeSet::new();
        let mut stages = Vec::new();
        while !waiting.is_empty() {
            let (ready, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|group| {
                let used = group.iter().flat_map(|module| self.uses[*module].keys());
                used.map(String::as_str).all(|used| placed.contains(used) || group.contains(used))
            });
            assert!(!ready.is_empty(), "groups of mutual use cannot wait for each other");
            placed.extend(ready.iter().flatten());
            stages.push(ready);
            waiting = later;
        }
        stages
    }

    fn print(&self) -> String {
        let mut text = String::from("stage  module         uses\n");
        for (stage, groups) in self.stages().iter().enumerate() {
            for group in groups {
                for module in group {
                    let used: Vec<&str> = self.uses[*module].keys().map(String::as_str).collect();
                    let circle = if group.len() > 1 { "  <- on a cycle" } else { "" };
                    writeln!(text, "{:>5}  {module:<14} {}{circle}", stage + 1, used.join(" "))
                        .unwrap();
                }
            }
        }
        text
    }

    /// Every arrow on a cycle, those with the fewest places first: they are the cheapest to turn.
    fn cycles(&self) -> String {
        let mut text = String::new();
        for group in self.groups().into_iter().filter(|group| group.len() > 1) {
            let names: Vec<&str> = group.iter().copied().collect();
            writeln!(text, "\ncycle among {}:", names.join(", ")).unwrap();
            let inside = |module: &str| group.contains(module);
            let pairs = self.uses.iter().filter(|(module, _)| inside(module));
            let mut arrows: Vec<(&str, &str, &Places)> = pairs
                .flat_map(|(module, used)| {
                    used.iter().map(move |(used, places)| (module, used, places))
                })
                .filter(|(_, used, _)| inside(used))
                .map(|(module, used, places)| (module.as_str(), used.as_str(), places))
                .collect();
            arrows.sort_by_key(|(_, _, places)| places.len());
            for (module, used, places) in arrows {
                let back = self.uses[used].get(module).map_or(0, Vec::len);
                writeln!(text, "  {module} -> {used}: {}, back: {back}", places.len()).unwrap();
                for place in places {
                    writeln!(text, "    {place}").unwrap();
                }
            }
        }
        text
    }
}

/// The statement that begins in the first of these lines, in one line.
fn statement(lines: &[&str]) -> String {
    let end = lines.iter().position(|line| line.contains([';', '}'])).unwrap_or(0);
    let words = lines[..=end].iter().flat_map(|line| line.split_whitespace());
    words.collect::<Vec<_>>().join(" ").chars().take(160).collect()
}

/// The code without comments, strings and test items; every byte keeps its line and place.
fn code_only(text: &str) -> String {
    let mut code: Vec<u8> = text.as_bytes().to_vec();
    let blank = |code: &mut [u8], range: Range<usize>| {
        code[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    };
    let mut at = 0;
    while at < code.len() {
        let end = match token(&code[at..]) {
            Token::Code => {
                at += 1;
                continue;
            }
            Token::Word(length) => {
                at += length;
                continue;
            }
            Token::Hidden(length) => (at + length).min(code.len()),
        };
        blank(&mut code, at..end);
        at = end;
    }
    let mut code = String::from_utf8(code).unwrap();
    while let Some(start) = code.find("#[cfg(test)]") {
        let end = end_of_item(&code, start + "#[cfg(test)]".len());
        let mut bytes = code.into_bytes();
        blank(&mut bytes, start..end);
        code = String::from_utf8(bytes).unwrap();
    }
    code
}

/// What begins here: code, a name or number of some length, or a comment or literal to hide.
enum Token {
    Code,
    Word(usize),
    Hidden(usize),
}

fn token(rest: &[u8]) -> Token {
    let up_to = |end: &[u8], from: usize| {
        rest.windows(end.len())
            .skip(from)
            .position(|window| window == end)
            .map_or(rest.len(), |place| from + place + end.len())
    };
    if rest.starts_with(b"//") {
        return Token::Hidden(up_to(b"\n", 2) - 1);
    }
    if rest.starts_with(b"/*") {
        return Token::Hidden(up_to(b"*/", 2));
    }
    let prefix = rest.iter().take_while(|byte| matches!(byte, b'r' | b'b' | b'c')).count();
    if prefix <= 2 {
        let hashes = rest[prefix..].iter().take_while(|byte| **byte == b'#').count();
        let quoted = rest.get(prefix + hashes) == Some(&b'"');
        let raw = rest[..prefix].contains(&b'r');
        if quoted && raw {
            let end: Vec<u8> = std::iter::once(b'"').chain(vec![b'#'; hashes]).collect();
            return Token::Hidden(up_to(&end, prefix + hashes + 1));
        }
        if quoted && hashes == 0 {
            return Token::Hidden(prefix + closing(&rest[prefix..], b'"'));
        }
    }
    if rest[0] == b'\'' {
        // A character, not a lifetime: it closes after one character, or one escape.
        let width = match rest.get(1) {
            Some(0xC0..=0xDF) => 2,
            Some(0xE0..=0xEF) => 3,
            Some(0xF0..) => 4,
            _ => 1,
        };
        if rest.get(1) == Some(&b'\\') || rest.get(1 + width) == Some(&b'\'') {
            return Token::Hidden(closing(rest, b'\''));
        }
    }
    let word =
        rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if word > 0 { Token::Word(word) } else { Token::Code }
}

/// The length of a quoted literal that begins here.
fn closing(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// Where the item that begins after `start` ends: behind its semicolon or its closing brace.
fn end_of_item(code: &str, start: usize) -> usize {
    let first = code[start..].find([';', '{']).map_or(code.len(), |place| start + place);
    if code[first..].starts_with('{') { closing_brace(code, first) } else { first + 1 }
}

/// Just behind the brace that closes the one at `open`.
fn closing_brace(code: &str, open: usize) -> usize {
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let is_test = |path: &Path| path.file_stem().is_some_and(|stem| stem == "tests");
    let mut files = Vec::new();
    for path in paths.into_iter().filter(|path| !is_test(path)) {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files
}

/// `method/label_plan/mod.rs` -> `[method, label_plan]`.
fn module_path(file: &Path) -> Vec<String> {
    let names = file.with_extension("");
    let names = names.iter().map(|name| name.to_str().unwrap().to_owned());
    names.filter(|name| name != "mod").collect()
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn name_at(code: &str) -> &str {
    code.split(|character| !is_name(character)).next().unwrap()
}

/// Where the word stands in the code, as a word of its own.
fn places_of<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = code[..*at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !before.is_some_and(is_name) && !after.is_some_and(is_name)
    })
}

fn declared_modules(root: &str) -> Vec<String> {
    let declared = places_of(root, "mod").map(|at| name_at(root[at + 3..].trim_start()).to_owned());
    declared.filter(|name| !name.is_empty()).collect()
}

/// `pub use error::{Error, Result as Answer};` -> `Error` and `Answer` stand in `error`.
fn exported_names(root: &str) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for at in places_of(root, "use") {
        let path = root[at + 3..].split(';').next().unwrap().trim();
        let path = path.trim_start_matches("crate::").trim_start_matches("self::");
        let module = name_at(path);
        let exported = path[module.len()..].split(|character| !is_name(character));
        for name in exported.filter(|name| !name.is_empty()) {
            names.insert(name.to_owned(), module.to_owned());
        }
    }
    names
}

/// Place and first name of every path that starts at the crate's root, in a file whose module lies
/// `depth` names below it.
fn paths_from_the_root(code: &str, depth: usize) -> Vec<(usize, String)> {
    let inline = places_of(code, "mod").filter_map(|at| {
        let open = end_of_name(code, at + 3);
        code[open..].trim_start().starts_with('{').then(|| {
            let open = open + code[open..].find('{').unwrap();
            open..closing_brace(code, open)
        })
    });
    let inline: Vec<Range<usize>> = inline.collect();
    let mut found = Vec::new();
    for at in places_of(code, "crate") {
        found.extend(first_names(code, at + "crate".len()));
    }
    for at in places_of(code, "super") {
        if code[..at].trim_end().ends_with("::") {
            continue;
        }
        let depth = depth + inline.iter().filter(|range| range.contains(&at)).count();
        let mut end = at;
        let mut steps = 0;
        while code[end..].starts_with("super") {
            steps += 1;
            end += "super".len();
            if steps < depth && code[end..].starts_with("::super") {
                end += "::".len();
            }
        }
        if steps == depth {
            found.extend(first_names(code, end));
        }
    }
    found.sort();
    found
}

fn end_of_name(code: &str, at: usize) -> usize {
    let spaces = code[at..].len() - code[at..].trim_start().len();
    at + spaces + name_at(&code[at + spaces..]).len()
}

/// The names that follow the `::` at `at`: one, or the first of each path in braces.
fn first_names(code: &str, at: usize) -> Vec<(usize, String)> {
    let Some(rest) = code[at..].strip_prefix("::") else { return Vec::new() };
    let start = at + 2;
    if !rest.trim_start().starts_with('{') {
        return vec![(at, name_at(rest.trim_start()).to_owned())];
    }
    let open = start + rest.find('{').unwrap();
    let close = closing_brace(code, open);
    let mut names = Vec::new();
    let mut depth = 0;
    let mut expecting = true;
    let mut at = open;
    while at < close {
        let character = code[at..].chars().next().unwrap();
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => expecting = true,
            _ if depth == 1 && expecting && is_name(character) => {
                names.push((at, name_at(&code[at..]).to_owned()));
                expecting = false;
            }
            _ => {}
        }
        at += character.len_utf8();
    }
    names
}

#[test]
fn no_module_uses_a_later_stage() {
    let graph = Graph::of_sources();
    println!("{}", graph.print());
    assert!(
        graph.unknown.is_empty(),
        "paths whose first name is no module and no `pub use` of lib.rs:\n{}",
        graph.unknown.join("\n")
    );
    let cycles = graph.cycles();
    assert!(cycles.is_empty(), "modules use each other in a circle{cycles}");
}

#[test]
fn paths_are_read_from_code_alone() {
    let names = |text: &str, depth| -> Vec<String> {
        let found = paths_from_the_root(&code_only(text), depth);
        found.into_iter().map(|(_, name)| name).collect()
    };
    assert_eq!(names("use crate::score::Score; // crate::comment\n", 1), ["score"]);
    let group = "use crate::{bound::{a, b}, measure::Law,\n  sketch};";
    assert_eq!(names(group, 1), ["bound", "measure", "sketch"]);
    let inline = "fn f<'a>(x: &'a str) -> crate::Result<char> { crate::method::g() }";
    assert_eq!(names(inline, 3), ["Result", "method"]);
    let hidden = "/* crate::block */ f(\"crate::text\", '\\'', '\"', 'é', r#\"crate::\"raw\"#); crate::shown!()";
    assert_eq!(names(hidden, 1), ["shown"]);
    let tests = "#[cfg(test)]\nmod tests { use crate::seed::Seed; }\nuse crate::error::E;";
    assert_eq!(names(tests, 1), ["error"]);
    assert_eq!(names("use super::level::A;", 1), ["level"]);
    assert_eq!(names("use super::near::A; use super::super::level::B;", 2), ["level"]);
    assert_eq!(names("mod x { use super::near::A; use super::super::level::B; }", 1), ["level"]);
    assert_eq!(code_only(hidden).len(), hidden.len());
}

#[test]
fn a_cycle_is_found_and_its_places_are_named() {
    let mut graph = Graph::default();
    for module in ["low", "left", "right", "high"] {
        graph.uses.entry(module.to_owned()).or_default();
    }
    let none = BTreeMap::new();
    graph.add_file(Path::new("left.rs"), "use crate::low::A;\nuse crate::right::B;", &none);
    graph.add_file(Path::new("right/part.rs"), "\n\nuse super::super::left::C;", &none);
    graph.add_file(Path::new("high.rs"), "use crate::{left, right};", &none);
    assert_eq!(graph.stages().iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
    let cycles = graph.cycles();
    assert!(cycles.contains("cycle among left, right:"), "{cycles}");
    assert!(cycles.contains("src/left.rs:2: use crate::right::B;"), "{cycles}");
    assert!(cycles.contains("src/right/part.rs:3: use super::super::left::C;"), "{cycles}");
    assert!(!cycles.contains("high"), "{cycles}");
}
