//! Under which circumstances an image was taken.

use std::fmt;
use std::str::FromStr;

use super::Corruption;
use crate::error::{Error, Result};

/// How bad a corruption is: 0 (not at all) to 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Severity(u8);

impl Severity {
    /// The severities that spoil something, mildest first.
    pub const SPOILING: [Self; 5] = [Self(1), Self(2), Self(3), Self(4), Self(5)];

    /// A severity from 0 to 5.
    pub fn new(severity: u8) -> Result<Self> {
        if severity <= 5 {
            Ok(Self(severity))
        } else {
            Err(Error::NoSuchSeverity { found: u32::from(severity) })
        }
    }

    /// The number, 0 to 5.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Position among [`Severity::SPOILING`]; none for severity 0.
    pub(super) fn level(self) -> Option<usize> {
        self.0.checked_sub(1).map(usize::from)
    }
}

/// Clean, or a corruption at a severity; written `clean` or `fog_3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// The image as it is.
    Clean,
    /// The image spoilt.
    Corrupted(Corruption, Severity),
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // `pad`, not `write_str`: tables align conditions by width.
            Self::Clean => f.pad("clean"),
            Self::Corrupted(corruption, severity) => {
                f.pad(&format!("{}_{}", corruption.name(), severity.get()))
            }
        }
    }
}

impl FromStr for Condition {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        if name == "clean" {
            return Ok(Self::Clean);
        }
        let no_such_condition = || Error::NoSuchCondition { found: name.to_owned() };
        // From the right: names of corruptions hold underscores themselves.
        let (corruption, severity) = name.rsplit_once('_').ok_or_else(no_such_condition)?;
        let corruption = Corruption::ALL
            .into_iter()
            .find(|known| known.name() == corruption)
            .ok_or_else(no_such_condition)?;
        let severity = severity.parse().map_err(|_| no_such_condition())?;
        Ok(Self::Corrupted(corruption, Severity::new(severity)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_is_read_as_it_is_written() {
        for corruption in Corruption::ALL {
            for severity in Severity::SPOILING {
                let condition = Condition::Corrupted(corruption, severity);
                assert_eq!(condition.to_string().parse::<Condition>().unwrap(), condition);
            }
        }
        assert_eq!("clean".parse::<Condition>().unwrap(), Condition::Clean);
        for wrong in ["", "fog", "fog_", "fog_x", "fog_6", "mist_1", "clean_1"] {
            assert!(wrong.parse::<Condition>().is_err(), "{wrong}");
        }
    }
}
