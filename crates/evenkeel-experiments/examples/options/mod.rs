//! The examples' few options, as `--name value`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use evenkeel_experiments::fashion_mnist::DEFAULT_DIRECTORY;

/// Options as typed.
pub(crate) struct Options {
    values: BTreeMap<String, String>,
}

#[allow(dead_code, reason = "no example has all kinds of options")]
impl Options {
    /// Reads the command line, which may hold these names.
    pub(crate) fn parse(names: &[&str]) -> Result<Self, String> {
        let mut values = BTreeMap::new();
        let mut words = std::env::args().skip(1);
        while let Some(name) = words.next() {
            if !names.contains(&name.as_str()) {
                return Err(format!("unknown option {name}; known are {}", names.join(", ")));
            }
            let value = words.next().ok_or_else(|| format!("{name} needs a value"))?;
            values.insert(name, value);
        }
        Ok(Self { values })
    }

    /// A path, or its default.
    pub(crate) fn path(&self, name: &str, default: &str) -> PathBuf {
        PathBuf::from(self.values.get(name).map_or(default, String::as_str))
    }

    /// A word, or its default.
    pub(crate) fn word<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.values.get(name).map_or(default, String::as_str)
    }

    /// The folder of the data set.
    pub(crate) fn fashion_mnist(&self) -> PathBuf {
        self.path("--fashion-mnist", DEFAULT_DIRECTORY)
    }

    /// A whole number, or its default.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        match self.values.get(name) {
            None => Ok(default),
            Some(value) => {
                value.parse().map_err(|_| format!("{name} {value}: expected a whole number"))
            }
        }
    }
}
