//! A batch arrives: check it, advance the alarms, store all of it at once.

use evenkeel::shift::Prediction;
use evenkeel::stream::PredictionCounts;
use evenkeel_jobs::{Checked, Unobserved, predict, said_of};

use crate::alarm::NewAlarm;
use crate::batch::{CheckedBatch, NewBatch};
use crate::error::{MonitorError, Result};
use crate::instant::Instant;
use crate::kept_rows::KeptRows;
use crate::model::{Keep, Model};
use crate::packed_sets::PackedSets;
use crate::proposal::NewProposal;
use crate::reference::Reference;
use crate::store::{Watch, Watched};
use crate::summary::{BatchSummary, StreamSummary};

/// Longest key of a batch, and id of a row.
const LONGEST_KEY: usize = 200;

/// A batch that was checked, with what the alarms need of it.
pub(crate) struct Seen<'a> {
    pub batch: CheckedBatch<'a>,
    checked: Checked,
    said: Vec<Prediction>,
    time: Instant,
}

/// An error unless a key can tell batches apart.
pub(crate) fn require_key(key: &str) -> Result<()> {
    let found = key.chars().count();
    match (1..=LONGEST_KEY).contains(&found) && !key.trim().is_empty() {
        true => Ok(()),
        false => Err(MonitorError::BadKey { found }),
    }
}

/// An error unless every row has an id of its own.
fn require_ids(ids: &[String], rows: usize) -> Result<()> {
    if ids.len() != rows {
        let why = format!("there are {} ids and {rows} rows; give one for each row", ids.len());
        return Err(MonitorError::RowIds { why });
    }
    let mut seen = std::collections::HashSet::with_capacity(rows);
    for (row, id) in ids.iter().enumerate() {
        let why = match id.chars().count() {
            0 => format!("row {row} has none; give every row an id"),
            found if found > LONGEST_KEY => {
                format!("that of row {row} has {found} characters; use {LONGEST_KEY} at most")
            }
            _ if !seen.insert(id) => {
                format!(
                    "{id:?} of row {row} stands before another row too; give every row an id of its own"
                )
            }
            _ => continue,
        };
        return Err(MonitorError::RowIds { why });
    }
    Ok(())
}

/// Looks at a batch; nothing is stored.
pub(crate) fn look<'a, 'b: 'a>(
    model: &'a Model,
    reference: &Reference,
    new: &mut NewBatch<'b>,
) -> Result<Seen<'a>> {
    let checked = reference.check(new.rows)?;
    let said = said_of(new.rows, reference.classes(), &mut Unobserved)?;
    let sets = match model.keep {
        Keep::Nothing => None,
        Keep::Sets | Keep::Rows => sets_of(reference, new)?,
    };
    let kept = match model.keep {
        Keep::Rows => KeptRows::read(new.rows)?.map(|rows| rows.to_bytes()).transpose()?,
        Keep::Nothing | Keep::Sets => None,
    };
    let ids = new.ids.filter(|_| model.keep != Keep::Nothing);
    ids.map_or(Ok(()), |ids| require_ids(ids, said.len()))?;
    let document = document_of(&checked, reference)?;
    let batch = CheckedBatch {
        model: &model.name,
        version: model.version,
        key: new.key,
        content: new.content,
        name: new.name,
        time: new.time,
        received: new.received,
        rows: said.len() as u64,
        sketch: PredictionCounts::of(&said).to_bytes()?,
        sets,
        kept,
        ids,
        summary: BatchSummary::of(&checked),
        document,
    };
    // A clock that is ahead would hold its day open for as long: nothing after it would be later.
    Ok(Seen { batch, checked, said, time: new.time.min(new.received) })
}

/// The document of a check as JSON, without the rows that `check` shows as examples: they are data of the batch.
fn document_of(checked: &Checked, reference: &Reference) -> Result<String> {
    let mut document = checked.document(reference.class_names(), &[]);
    document.examples = &[];
    serde_json::to_string(&document).map_err(|_| {
        let (what, why) = ("the document of a check", "it has no JSON form");
        evenkeel::Error::Damaged { what, why }.into()
    })
}

fn sets_of(reference: &Reference, new: &mut NewBatch<'_>) -> Result<Option<Vec<u8>>> {
    let mut packed = PackedSets::new(reference.classes());
    let mut sink = |sets: &evenkeel::conformal::LabelSets| {
        packed.add(sets);
        Ok(())
    };
    predict(reference.calibration(), None, new.rows, &mut sink, &mut Unobserved)?;
    Ok(packed.into_bytes())
}

/// What a batch does to the alarms; with an alarm, a proposal is made of its rows.
pub(crate) fn advance(
    seen: &Seen<'_>,
    watch: &Watch,
    number: u64,
    propose: &mut dyn FnMut(&Checked, &[u8]) -> Result<NewProposal>,
) -> Result<Watched> {
    let mut stream = watch.stream.clone();
    let step = stream.advance(&seen.said, seen.time.period())?;
    let alarm = step.fired.as_ref().map(|fired| NewAlarm::of_stream(fired, &seen.batch.summary));
    let proposal = match alarm {
        None => None,
        Some(_) => {
            let made = propose(&seen.checked, &seen.batch.sketch)?;
            Some(NewProposal { batches: vec![number], ..made })
        }
    };
    Ok(Watched { stream, summary: StreamSummary::of(&step), alarm, proposal })
}

/// What a calibration made of some rows would mean for them.
pub(crate) fn proposal(
    checked: &Checked,
    made: &evenkeel::calibration::Calibration,
    baseline: &[u8],
    labels: u64,
) -> Result<NewProposal> {
    let expected = checked.with_calibration(made);
    let calibration = serde_json::to_string(made).map_err(|_| evenkeel::Error::Damaged {
        what: "the proposed calibration",
        why: "it has no JSON form",
    })?;
    Ok(NewProposal {
        calibration,
        method: expected.method.to_owned(),
        batches: Vec::new(),
        labels,
        threshold_before: checked.report.threshold,
        threshold_after: expected.threshold,
        expected: expected.coverage_estimate.map(|found| [found.value, found.low, found.high]),
        mean_size: [expected.mean_size.before, expected.mean_size.after],
        account: made.account().unwrap_or_default(),
        warnings: expected.warnings,
        baseline: baseline.to_vec(),
    })
}
