//! States put together without the plan: not added up, only carried as one.
//!
//! ```text
//! EKSB | version, 2 bytes | number of states, 8 bytes | (length, 8 bytes | state) ...        numbers low byte first
//! ```
//! Each state has a checksum of its own; the numbers say whether one is missing.

use std::collections::HashSet;

use evenkeel::error::Error;
use evenkeel::wire::{PartIds, parts_of};

use crate::error::Result;

/// First bytes of a bundle.
const MAGIC: [u8; 4] = *b"EKSB";
/// Version of the form.
const VERSION: u16 = 1;

const DAMAGED: Error =
    Error::Damaged { what: "the bundle of states", why: "bytes of it were lost or changed" };

const TWICE: Error = Error::Damaged {
    what: "the bundle of states",
    why: "it holds one state twice; pack every part's state once",
};

/// Puts states, or bundles of them, into one bundle.
///
/// # Errors
/// If a bundle among them is damaged, or a state is given twice.
pub fn pack_states(states: &[&[u8]]) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for bytes in states {
        all.extend(states_of(bytes)?);
    }
    let mut bundle = MAGIC.to_vec();
    bundle.extend(VERSION.to_le_bytes());
    bundle.extend((all.len() as u64).to_le_bytes());
    for state in all {
        bundle.extend((state.len() as u64).to_le_bytes());
        bundle.extend(state);
    }
    // As it will be read: a state that is there twice is refused where it was packed.
    states_of(&bundle)?;
    Ok(bundle)
}

/// The states of a bundle; a state alone is one of one.
pub(crate) fn states_of(bytes: &[u8]) -> Result<Vec<&[u8]>> {
    let Some(rest) = bytes.strip_prefix(&MAGIC) else { return Ok(vec![bytes]) };
    let (version, rest) = rest.split_first_chunk::<2>().ok_or(DAMAGED)?;
    let found = u16::from_le_bytes(*version);
    if found != VERSION {
        let (what, supported) = ("the bundle of states", VERSION);
        return Err(Error::OtherStateVersion { what, found, supported }.into());
    }
    let number = |rest: &[u8]| -> Result<(u64, usize)> {
        let (number, _) = rest.split_first_chunk::<8>().ok_or(DAMAGED)?;
        Ok((u64::from_le_bytes(*number), 8))
    };
    let (count, read) = number(rest)?;
    let mut rest = &rest[read..];
    let mut states = Vec::new();
    while !rest.is_empty() {
        let (length, read) = number(rest)?;
        let length = usize::try_from(length).map_err(|_| DAMAGED)?;
        let (state, later) = rest[read..].split_at_checked(length).ok_or(DAMAGED)?;
        states.push(state);
        rest = later;
    }
    if states.len() as u64 != count {
        return Err(DAMAGED.into());
    }
    // Found before any of them is merged: a job that took one of the two could not go on.
    let mut once = HashSet::new();
    match states.iter().all(|state| once.insert(*state)) {
        true => Ok(states),
        false => Err(TWICE.into()),
    }
}

/// An error if two of these states hold the same part: a job that took one of the two could not go on without the other.
pub(super) fn require_parts_once(states: &[&[u8]]) -> Result<()> {
    let mut all = PartIds::default();
    for state in states {
        all = all.joined(parts_of(state)?)?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bundles_hold_their_states_and_know_when_one_is_missing() {
        let (one, two, three) = (&b"EKST one"[..], &b""[..], &b"EKST three"[..]);
        let pair = pack_states(&[one, two]).unwrap();
        let all = pack_states(&[&pair, three]).unwrap();
        assert_eq!(states_of(&all).unwrap(), [one, two, three]);
        assert_eq!(states_of(one).unwrap(), [one]);
        assert!(pack_states(&[&all, one]).is_err(), "one state twice");
        for end in 4..all.len() {
            assert!(states_of(&all[..end]).is_err(), "cut at {end}");
        }
    }
}
