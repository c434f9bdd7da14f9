//! Plans and states of every method with a payload of the fuzzer's and a checksum that fits.
//!
//! ```text
//! data = job, 1 byte | which, 1 byte | payload          which: plan or state, of the first or the second pass
//! ```
//! The header in front of the payload is the job's own: with another one the bytes are refused before the payload is read.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use evenkeel::calibrator::{Ended, Fit, Part, ShiftCalibrator};
use evenkeel::check::{Check, CheckEnded, CheckPart, CheckSettings};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::Method;
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::{Labeled, SideInputs, TargetLabels};
use sha2::{Digest, Sha256};

use crate::every_method::every_method;

const CLASSES: usize = 3;
/// Bytes of the checksum.
const CHECKSUM: usize = 32;
/// Bytes before the header: magic, version and kind.
const PREFIX: usize = 7;

/// The header on the wire: method, settings, pass, digest of the calibration data.
type Header = (String, Vec<(String, String)>, u8, [u8; 32]);

/// Rows of three classes with every rank, a tie and a row that is sure.
const ROWS: [f64; 24] = [
    0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.2, 0.2, 0.6, 0.5, 0.3, 0.2, 1.0, 0.0, 0.0, 0.3, 0.3, 0.4, 0.25,
    0.5, 0.25, 0.1, 0.1, 0.8,
];
const LABELS: [usize; 8] = [0, 1, 2, 1, 0, 2, 1, 2];
const RATIOS: [f64; 8] = [1.0, 0.5, 2.0, 1.0, 0.25, 1.5, 1.0, 0.0];

/// What can be done to a job's bytes, written once for fits and checks.
trait Worker: Sized {
    fn begin(plan: &[u8]) -> evenkeel::Result<Self>;
    fn add_rows(self) -> evenkeel::Result<Self>;
    fn absorb(self, state: &[u8]) -> evenkeel::Result<Self>;
    fn state(&self) -> evenkeel::Result<Vec<u8>>;
}

fn rows() -> evenkeel::Result<Rows<'static, f64>> {
    Rows::new("probabilities", &ROWS, CLASSES)
}

fn beside() -> SideInputs<'static> {
    SideInputs { ratios: Some(&RATIOS), weights: Some(&RATIOS), ..SideInputs::default() }
}

impl Worker for Part {
    fn begin(plan: &[u8]) -> evenkeel::Result<Self> {
        Part::begin(plan)
    }
    fn add_rows(self) -> evenkeel::Result<Self> {
        self.add(RowKeys::From(0), rows()?, beside())
    }
    fn absorb(self, state: &[u8]) -> evenkeel::Result<Self> {
        Part::absorb(self, state)
    }
    fn state(&self) -> evenkeel::Result<Vec<u8>> {
        Part::state(self)
    }
}

impl Worker for CheckPart {
    fn begin(plan: &[u8]) -> evenkeel::Result<Self> {
        CheckPart::begin(plan)
    }
    fn add_rows(self) -> evenkeel::Result<Self> {
        self.add(RowKeys::From(0), rows()?)
    }
    fn absorb(self, state: &[u8]) -> evenkeel::Result<Self> {
        CheckPart::absorb(self, state)
    }
    fn state(&self) -> evenkeel::Result<Vec<u8>> {
        CheckPart::state(self)
    }
}

/// A plan and the state of all rows under it.
#[derive(Debug, Clone)]
struct Good {
    plan: Vec<u8>,
    state: Vec<u8>,
}

impl Good {
    fn of<W: Worker>(plan: Vec<u8>) -> evenkeel::Result<Self> {
        let state = W::begin(&plan)?.add_rows()?.state()?;
        Ok(Self { plan, state })
    }
}

/// A job, with what it sends and receives in each of its passes. No method: the check.
#[derive(Debug)]
struct Job {
    method: Option<Method>,
    passes: Vec<Good>,
}

fn begun(method: Method) -> evenkeel::Result<Fit> {
    let pairs: Vec<(u64, usize)> = (0..8).zip(LABELS).step_by(2).collect();
    let known = TargetLabels::new(&pairs, CLASSES)?;
    let labels = matches!(method, Method::FewLabels(_)).then_some(&known);
    let alpha = Miscoverage::new(0.1)?;
    let calibrator = ShiftCalibrator { method, score: Score::Lac, alpha, seed: Seed::new(5) };
    calibrator.begin(&Labeled {
        probabilities: &Probabilities::new(&ROWS, CLASSES)?,
        labels: &Labels::new(LABELS.to_vec(), CLASSES)?,
        beside: SideInputs { labels, ..beside() },
    })
}

fn begun_check() -> evenkeel::Result<Check> {
    let delta = FailureProbability::FIVE_PERCENT;
    let settings = CheckSettings {
        permutations: 19,
        bound_grid: 20,
        ..CheckSettings::new(Miscoverage::new(0.1)?, delta, Seed::new(5))
    };
    let labels = Labels::new(LABELS.to_vec(), CLASSES)?;
    Check::begin(&Probabilities::new(&ROWS, CLASSES)?, &labels, &Score::Lac, &settings)
}

fn job(method: Method) -> evenkeel::Result<Job> {
    let first = Good::of::<Part>(begun(method)?.plan()?)?;
    let mut passes = vec![first.clone()];
    if let Ended::Again(second) = begun(method)?.absorb(&first.state)?.end_pass()? {
        passes.push(Good::of::<Part>(second.plan()?)?);
    }
    Ok(Job { method: Some(method), passes })
}

fn check_job() -> evenkeel::Result<Job> {
    let first = Good::of::<CheckPart>(begun_check()?.plan()?)?;
    let mut passes = vec![first.clone()];
    if let CheckEnded::Again(second) = begun_check()?.absorb(&first.state)?.end_pass()? {
        passes.push(Good::of::<CheckPart>(second.plan()?)?);
    }
    Ok(Job { method: None, passes })
}

/// All jobs, made once.
fn jobs() -> &'static [Job] {
    static JOBS: OnceLock<Vec<Job>> = OnceLock::new();
    JOBS.get_or_init(|| {
        let jobs: evenkeel::Result<Vec<Job>> =
            std::iter::once(check_job()).chain(every_method().into_iter().map(job)).collect();
        let error = jobs.as_ref().err().map(ToString::to_string);
        assert_eq!(error, None, "a job of good rows failed");
        jobs.unwrap_or_default()
    })
}

/// Where the payload begins.
fn payload_of(sealed: &[u8]) -> usize {
    let body = &sealed[PREFIX..sealed.len() - CHECKSUM];
    let header = postcard::take_from_bytes::<Header>(body);
    assert!(header.is_ok(), "a header that cannot be read back");
    header.map_or(PREFIX, |(_, rest)| sealed.len() - CHECKSUM - rest.len())
}

/// A payload under the header of good bytes, and a checksum that fits.
fn resealed(good: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut bytes = good[..payload_of(good)].to_vec();
    bytes.extend_from_slice(payload);
    let checksum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&checksum);
    bytes
}

/// A plan or a state.
pub fn state(data: &[u8]) {
    let [place, which, payload @ ..] = data else { return };
    let Job { method, passes } = &jobs()[usize::from(*place) % jobs().len()];
    let pass = usize::from(which >> 1) % passes.len();
    let good = &passes[pass];
    let given = if which & 1 == 0 { &good.plan } else { &good.state };
    let bytes = resealed(given, payload);
    match (method, which & 1) {
        (Some(_), 0) => plan::<Part>(&bytes),
        (None, 0) => plan::<CheckPart>(&bytes),
        (Some(method), _) => {
            if states::<Part>(good, &bytes) {
                end(*method, passes, pass, &bytes);
            }
        }
        (None, _) => {
            if states::<CheckPart>(good, &bytes) {
                end_check(passes, pass, &bytes);
            }
        }
    }
}

/// A plan that is taken reads rows, and its state is one that it takes itself.
fn plan<W: Worker>(bytes: &[u8]) {
    let Ok(part) = W::begin(bytes).and_then(W::add_rows) else { return };
    let state = part.state();
    assert!(state.is_ok(), "rows were read, but their state cannot be written");
    let Ok(state) = state else { return };
    // Whether a state of a plan that was changed is taken depends on the change; one that is taken stays as it is.
    if let Ok(again) = W::begin(bytes).and_then(|part| part.absorb(&state)) {
        assert_eq!(again.state().ok(), Some(state), "other bytes after a merge with nothing");
    }
}

/// Whether a state is taken by a worker without rows; it is then written as it is read.
fn states<W: Worker>(good: &Good, bytes: &[u8]) -> bool {
    let absorbed = |state: &[u8]| W::begin(&good.plan).and_then(|part| part.absorb(state));
    let Ok(part) = absorbed(bytes) else { return false };
    let written = part.state();
    assert!(written.is_ok(), "taken, but cannot be written");
    let Ok(written) = written else { return false };
    // Numbers can be spelled in more than one way on the wire; what is written has one.
    let again = absorbed(&written).and_then(|part| part.state());
    assert_eq!(again.ok(), Some(written), "other bytes after reading and writing");
    true
}

/// A driver at the beginning of a pass.
fn driver(method: Method, passes: &[Good], pass: usize) -> Option<Fit> {
    let fit = begun(method).ok()?;
    if pass == 0 {
        return Some(fit);
    }
    match fit.absorb(&passes[0].state).ok()?.end_pass().ok()? {
        Ended::Again(second) => Some(second),
        Ended::Done(_) => None,
    }
}

/// A driver takes the state and ends the pass, and the fit if it was the last. Errors are answers; no number is checked.
fn end(method: Method, passes: &[Good], pass: usize, bytes: &[u8]) {
    let Some(fit) = driver(method, passes, pass) else { return };
    if let Ok(Ended::Done(ready)) = fit.absorb(bytes).and_then(Fit::end_pass)
        && let Ok(fitted) = ready.finish(&mut |_| ControlFlow::Continue(()))
        && let Ok(rows) = rows()
    {
        drop(fitted.calibration.predict_beside(0, rows, beside(), None));
    }
}

fn end_check(passes: &[Good], pass: usize, bytes: &[u8]) {
    let first = if pass == 0 { bytes } else { &passes[0].state };
    let ended = begun_check().and_then(|check| check.absorb(first)).and_then(Check::end_pass);
    if let (1, Ok(CheckEnded::Again(second))) = (pass, ended) {
        drop(second.absorb(bytes).and_then(Check::end_pass));
    }
}

/// Inputs of the target [`state`] that are taken: the payloads of every job, with a name each.
pub fn sealed_seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for (place, job) in (0_u8..).zip(jobs()) {
        for (pass, good) in (0_u8..).zip(&job.passes) {
            for (kind, bytes) in [(0, &good.plan), (1, &good.state)] {
                let payload = &bytes[payload_of(bytes)..bytes.len() - CHECKSUM];
                let mut seed = vec![place, 2 * pass + kind];
                seed.extend_from_slice(payload);
                let kind = if kind == 0 { "plan" } else { "state" };
                seeds.push((format!("{place:02}-{kind}-{}", pass + 1), seed));
            }
        }
    }
    seeds
}
