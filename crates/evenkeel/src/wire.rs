//! The wire form for jobs that are not fits or checks of this crate: the same envelope, header and part numbers.
//!
//! ```text
//! plan    EKST | version | header | what a worker needs          -> WireJob::read
//! state   EKST | version | header | part numbers | what it found -> WireJob::open
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Result;
use crate::sketch::state::{JobHeader, Kind, contents, open, open_header, open_parts, seal};
pub use crate::sketch::{PartIds, RowMarks};

/// The name of a job on the wire: states of another one are refused with the setting that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireJob(JobHeader);

/// The parts of a state of any job.
///
/// # Errors
/// If the bytes are damaged, or are no state.
pub fn parts_of(state: &[u8]) -> Result<PartIds> {
    Ok(open_parts(state)?.1)
}

impl WireJob {
    /// `what` names the kind of job, settings are all that its states depend on beside the data that `digest` is of.
    pub fn new(what: &str, settings: Vec<(String, String)>, digest: [u8; 32]) -> Self {
        let method = what.to_owned();
        Self(JobHeader { method, settings, pass: 1, rows: None, calibration: digest })
    }

    /// The bytes of a plan.
    ///
    /// # Errors
    /// If it cannot be written, which plain numbers, lists and texts always can.
    pub fn plan(&self, payload: &impl Serialize) -> Result<Vec<u8>> {
        seal(Kind::Plan, &self.0, payload)
    }

    /// The bytes of a state.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn state(&self, parts: &PartIds, payload: &impl Serialize) -> Result<Vec<u8>> {
        seal(Kind::State, &self.0, &(parts, payload))
    }

    /// Reads a plan back.
    ///
    /// # Errors
    /// If the bytes are damaged, or are no plan.
    pub fn read<T: DeserializeOwned>(plan: &[u8]) -> Result<(Self, T)> {
        let (header, payload) = open(Kind::Plan, plan)?;
        Ok((Self(header), payload))
    }

    /// Reads a state of this job back.
    ///
    /// # Errors
    /// If the bytes are damaged, or belong to another job.
    pub fn open<T: DeserializeOwned>(&self, state: &[u8]) -> Result<(PartIds, T)> {
        let (header, payload) = open_header(Kind::State, state)?;
        // Before its contents: those of another job cannot be read as this one's, and "damaged" would send people looking for a
        // fault that is none.
        self.0.require_same(&header)?;
        contents(Kind::State, payload)
    }

    /// The parts of a state of this job, without what they found.
    ///
    /// # Errors
    /// As [`open`](Self::open), as far as what was found does not matter.
    pub fn parts_of(&self, state: &[u8]) -> Result<PartIds> {
        let (header, parts) = open_parts(state)?;
        self.0.require_same(&header)?;
        Ok(parts)
    }

    /// What kind of job a plan is of: the name of a method, "check", or what [`new`](Self::new) was given.
    ///
    /// # Errors
    /// If the bytes are damaged, or are no plan.
    pub fn kind_of(plan: &[u8]) -> Result<String> {
        Ok(open_header(Kind::Plan, plan)?.0.method)
    }
}
