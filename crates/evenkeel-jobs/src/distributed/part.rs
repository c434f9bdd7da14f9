//! A worker's share of the rows of any job.

use evenkeel::calibration::ClassNames;
use evenkeel::calibrator::Part;
use evenkeel::check::CheckPart;
use evenkeel::error::Error;
use evenkeel::per_group::ClassShare;
use evenkeel::rows::RowKeys;
use evenkeel::score::Probabilities;
use evenkeel::side_inputs::SideInputs;
use evenkeel::wire::WireJob;

use super::evaluation::{EVALUATE, EvaluationPart};
use super::groups::GroupCodes;
use super::several::{SEVERAL, SeveralPart};
use super::states_of;
use crate::any_rows::{AnyRows, with_rows};
use crate::error::{JobError, Result, row_of};

/// Rows of a part, with what stands beside them.
#[derive(Debug, Clone, Copy)]
pub struct PartRows<'a> {
    /// What the caller calls the rows, for errors.
    pub name: &'a str,
    /// A unique key for each row.
    pub keys: RowKeys<'a>,
    /// Class probabilities.
    pub rows: AnyRows<'a>,
    /// Features, ratios and probabilities of second models.
    pub side: SideInputs<'a>,
    /// True labels, where the job is an evaluation.
    pub labels: Option<&'a [usize]>,
    /// The group of each row, where groups have calibrations of their own.
    pub groups: Option<GroupCodes<'a>>,
}

/// Some of the rows of a fit, a check or an evaluation, in a process that knows nothing of the job but its plan.
#[derive(Debug)]
pub struct RowsPart(Kind);

#[derive(Debug)]
enum Kind {
    Fit(Box<Part>),
    Check(Box<CheckPart>),
    Evaluate(Box<EvaluationPart>),
    Classes(Box<ClassShare>),
    Several(Box<SeveralPart>),
}

impl RowsPart {
    /// A part with a number of its own among the parts of a pass; one that is made again has the same.
    ///
    /// # Errors
    /// If the bytes are damaged, or are no plan.
    pub fn begin(plan: &[u8], number: u64) -> Result<Self> {
        Self::of(plan, Some(number))
    }

    fn of(plan: &[u8], number: Option<u64>) -> Result<Self> {
        Ok(Self(match WireJob::kind_of(plan)?.as_str() {
            EVALUATE => Kind::Evaluate(Box::new(EvaluationPart::begin(plan, number)?)),
            SEVERAL => Kind::Several(Box::new(SeveralPart::begin(plan, number)?)),
            ClassShare::KIND => {
                let share = ClassShare::begin(plan)?;
                Kind::Classes(Box::new(match number {
                    Some(number) => share.numbered(number),
                    None => share,
                }))
            }
            "check" => {
                let part = CheckPart::begin(plan)?;
                Kind::Check(Box::new(match number {
                    Some(number) => part.numbered(number),
                    None => part,
                }))
            }
            _ => {
                let part = Part::begin(plan)?;
                Kind::Fit(Box::new(match number {
                    Some(number) => part.numbered(number),
                    None => part,
                }))
            }
        }))
    }

    /// Another part of an evaluation, without any rows; the plan is not read again.
    ///
    /// # Errors
    /// If the job is no evaluation.
    pub fn again(&self, number: u64) -> Result<Self> {
        match &self.0 {
            Kind::Evaluate(part) => Ok(Self(Kind::Evaluate(Box::new(part.again(number)?)))),
            _ => Err(Error::Unsupported {
                what: "a part made of another one",
                instead: "begin each part of this job from its plan",
            }
            .into()),
        }
    }

    /// Names of the classes and of their columns, where the job is an evaluation of a calibration that has them.
    pub fn class_names(&self) -> Option<&ClassNames> {
        match &self.0 {
            Kind::Evaluate(part) => part.class_names(),
            _ => None,
        }
    }

    /// Number of classes of the rows it reads.
    pub fn classes(&self) -> usize {
        match &self.0 {
            Kind::Fit(part) => part.classes(),
            Kind::Check(part) => part.classes(),
            Kind::Evaluate(part) => part.classes(),
            Kind::Classes(part) => part.classes(),
            Kind::Several(part) => part.classes(),
        }
    }

    /// Whether every row needs its label.
    pub fn needs_labels(&self) -> bool {
        matches!(self.0, Kind::Evaluate(_))
    }

    /// Whether every row needs its group.
    pub fn needs_groups(&self) -> bool {
        matches!(&self.0, Kind::Several(part) if part.needs_groups())
    }

    /// Whether only keys and groups of rows are looked at.
    pub fn reads_groups_only(&self) -> bool {
        matches!(&self.0, Kind::Several(part) if part.reads_groups_only())
    }

    /// Adds rows.
    ///
    /// # Errors
    /// If they have other classes, a row is not one of probabilities, labels are missing or not needed, or something beside the
    /// rows is missing or does not fit them. The first bad row is named by its place in the block: see [`JobError::row`].
    #[expect(
        clippy::should_implement_trait,
        reason = "named as in the core: rows in, the part back"
    )]
    pub fn add(self, rows: PartRows<'_>) -> Result<Self> {
        let (found, classes) = (rows.rows.columns(), self.classes());
        if found != classes {
            return Err(JobError::Classes { input: rows.name.to_owned(), found, classes });
        }
        if rows.groups.is_some() && !self.needs_groups() {
            return Err(JobError::GroupsNotUsed { input: rows.name.to_owned() });
        }
        let added = match (self.0, rows.labels) {
            (Kind::Several(part), None) => {
                return Ok(Self(Kind::Several(Box::new(part.add(&rows)?))));
            }
            (Kind::Classes(share), None) => with_rows!(rows.rows, |block| {
                share.add(rows.keys, block).map(|share| Kind::Classes(Box::new(share)))
            }),
            (Kind::Fit(part), None) => with_rows!(rows.rows, |block| {
                part.add(rows.keys, block, rows.side).map(|part| Kind::Fit(Box::new(part)))
            }),
            (Kind::Check(part), None) => with_rows!(rows.rows, |block| {
                part.add_beside(rows.keys, block, rows.side).map(|part| Kind::Check(Box::new(part)))
            }),
            (Kind::Evaluate(part), Some(labels)) => {
                part.add(&rows, labels).map(|part| Kind::Evaluate(Box::new(part)))
            }
            (Kind::Evaluate(_), None) => {
                return Err(JobError::NoLabels { input: rows.name.to_owned() });
            }
            (_, Some(_)) => Err(Error::Unsupported {
                what: "a label for each target row",
                instead: "labels of a few target rows are given to the job itself, by key",
            }),
        };
        match added {
            Ok(kind) => Ok(Self(kind)),
            Err(error) => Err(in_block(&rows, error)),
        }
    }

    /// Counts rows by their groups, where [`reads_groups_only`](Self::reads_groups_only).
    ///
    /// # Errors
    /// If a row has no group, there is not a key for each, or the job asks for more.
    pub fn add_groups(self, keys: RowKeys<'_>, groups: GroupCodes<'_>) -> Result<Self> {
        match self.0 {
            Kind::Several(part) if part.reads_groups_only() => {
                Ok(Self(Kind::Several(Box::new(part.add_groups(keys, groups)?))))
            }
            _ => Err(Error::Unsupported {
                what: "rows without probabilities",
                instead: "give their probabilities: this pass reads them",
            }
            .into()),
        }
    }

    /// Takes what another part of this job made of its rows.
    ///
    /// # Errors
    /// If the bytes are damaged, belong to another job or pass, or hold a part that is in already.
    pub fn absorb(self, state: &[u8]) -> Result<Self> {
        let mut merged = self.0;
        for state in states_of(state)? {
            merged = match merged {
                Kind::Fit(part) => Kind::Fit(Box::new(part.absorb(state)?)),
                Kind::Check(part) => Kind::Check(Box::new(part.absorb(state)?)),
                Kind::Evaluate(part) => Kind::Evaluate(Box::new(part.absorb(state)?)),
                Kind::Classes(part) => Kind::Classes(Box::new(part.absorb(state)?)),
                Kind::Several(part) => Kind::Several(Box::new(part.absorb(state)?)),
            };
        }
        Ok(Self(merged))
    }

    /// What the rows left behind.
    ///
    /// # Errors
    /// If it cannot be written, which does not happen for a part that was begun.
    pub fn state(&self) -> Result<Vec<u8>> {
        Ok(match &self.0 {
            Kind::Fit(part) => part.state()?,
            Kind::Check(part) => part.state()?,
            Kind::Evaluate(part) => part.state()?,
            Kind::Classes(part) => part.state()?,
            Kind::Several(part) => part.state()?,
        })
    }
}

/// States of one pass added up: as much as one of them.
///
/// # Errors
/// As [`RowsPart::absorb`].
pub fn merge_states(plan: &[u8], states: &[&[u8]]) -> Result<Vec<u8>> {
    let merged =
        states.iter().try_fold(RowsPart::of(plan, None)?, |merged, state| merged.absorb(state))?;
    merged.state()
}

/// The error of the first bad row, counted from the start of the block: keys may be hashes that tell nobody anything.
pub(super) fn in_block(rows: &PartRows<'_>, error: Error) -> JobError {
    let first = row_of(&error).and_then(|_| {
        with_rows!(rows.rows, |block| Probabilities::new(block.values(), block.columns()).err())
    });
    let named = match (first, row_of(&error), rows.keys) {
        (Some(first), _, _) => first,
        // A label that names no class: its key is looked up among those of the block.
        (None, Some(row), RowKeys::Each(keys)) => {
            match keys.iter().position(|key| *key == row as u64) {
                Some(place) => at_row(place, error),
                None => error,
            }
        }
        _ => error,
    };
    JobError::from(named).while_reading(rows.name)
}

fn at_row(place: usize, error: Error) -> Error {
    match error {
        Error::LabelOutOfRange { what, label, classes, .. } => {
            Error::LabelOutOfRange { what, index: place, label, classes }
        }
        other => other,
    }
}
