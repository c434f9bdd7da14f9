//! The alarm of one stream against one reference.
//!
//! ```text
//! ranks of confidence      wealth >= 4/d      ranks of classes    wealth >= 4/d                                d/4 each
//! k-th batch               p <= (d/4)  6/(pi^2 k^2)
//! k-th day, week, look     p <= (d/12) 6/(pi^2 k^2)      look: all rows since the reference was fixed, at 2, 4, 8, ... batches
//! ```
//! The parts sum to `d`: the chance of *any* false alarm over the life of a reference is at most `d`, however long that is. A day is
//! tested when a batch of a later day arrives, a week likewise; one that has a single batch was tested as that batch.
//!
//! The rows of a batch are ranked in an order drawn by the seed, not in that of the file: a file that is sorted, by class or by time
//! of day, is no change. The same rows in another order give the same bytes.
//!
//! The two wealths are not averaged: each is a martingale of its own ranks, and their mean need not be one of either's. Half the
//! larger is at most their mean, and is valid.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::jumper::SimpleJumper;
use super::prediction_counts::{PredictionCounts, cell_of};
use super::ranks::{ClassRanks, ConfidenceRanks};
use super::window_test::{WindowTest, window_test};
use crate::error::{Error, Result};
use crate::level::FailureProbability;
use crate::seed::Seed;
use crate::shift::Prediction;
use crate::sketch::state::{JobHeader, Kind, open, seal};

/// Part of `d` that each of the two wealths may spend.
const WEALTH_SHARE: f64 = 1.0 / 4.0;
/// Part of `d` that all batches may spend.
const BATCH_SHARE: f64 = 1.0 / 4.0;
/// Part of `d` that all days may spend; as much for weeks, and for looks at everything.
const LONGER_SHARE: f64 = 1.0 / 12.0;

/// When a batch is of: numbers that grow with time. The caller knows the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// Number of the day.
    pub day: i64,
    /// Number of the week.
    pub week: i64,
}

/// Rows that are tested together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// One batch.
    Batch,
    /// The batches of a day.
    Day,
    /// The batches of a week.
    Week,
    /// Everything since the reference was fixed.
    Since,
}

/// What made the alarm go off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamRule {
    /// The ranks of the confidences are not uniform.
    ConfidenceRanks,
    /// The ranks of the predicted classes are not uniform.
    ClassRanks,
    /// A batch differs from the reference.
    Batch,
    /// A day does.
    Day,
    /// A week does.
    Week,
    /// All rows since the reference was fixed do.
    Since,
}

impl StreamRule {
    /// The word in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConfidenceRanks => "confidence-ranks",
            Self::ClassRanks => "class-ranks",
            Self::Batch => "batch",
            Self::Day => "day",
            Self::Week => "week",
            Self::Since => "since",
        }
    }
}

impl From<Window> for StreamRule {
    fn from(window: Window) -> Self {
        match window {
            Window::Batch => Self::Batch,
            Window::Day => Self::Day,
            Window::Week => Self::Week,
            Window::Since => Self::Since,
        }
    }
}

/// A test of a window, with the level that was spent on it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WindowTested {
    /// Which rows.
    pub window: Window,
    /// The how many-th of its kind, from 1.
    pub number: u64,
    /// Rows in it.
    pub rows: u64,
    /// Level it was tested at.
    pub level: f64,
    /// What was found.
    pub test: WindowTest,
}

impl WindowTested {
    /// Whether the window differs from the reference at its level.
    pub fn rejects(&self) -> bool {
        self.test.p_value <= self.level
    }
}

/// Why the alarm went off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fired {
    /// Number of the batch, from 1.
    pub batch: u64,
    /// What made it go off.
    pub rule: StreamRule,
    /// The p-value, or `1 / wealth`: what was found.
    pub value: f64,
    /// What it had to be at most.
    pub limit: f64,
}

/// What is known after a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamStep {
    /// Number of the batch, from 1.
    pub batch: u64,
    /// `ln` of the wealth against the ranks of the confidences.
    pub ln_confidence_wealth: f64,
    /// `ln` of the wealth against the ranks of the predicted classes.
    pub ln_class_wealth: f64,
    /// `ln` of the wealth at which the alarm goes off.
    pub ln_limit: f64,
    /// Windows that were tested after this batch, the batch itself first.
    pub tested: Vec<WindowTested>,
    /// Why the alarm went off with this batch; none if it did not, or had gone off before.
    pub fired: Option<Fired>,
}

/// A day or week that is not over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct OpenWindow {
    period: i64,
    batches: u64,
    counts: PredictionCounts,
    /// How many were tested before.
    tested: u64,
}

impl OpenWindow {
    fn new() -> Self {
        Self { period: i64::MIN, batches: 0, counts: PredictionCounts::default(), tested: 0 }
    }

    /// What is to be tested because a later period begins: nothing if the period goes on, or had one batch.
    fn close_before(&mut self, period: i64) -> Option<(u64, PredictionCounts)> {
        // A batch of an earlier day belongs to the open one: clocks go back, files come late, and a closed day was tested.
        if period <= self.period {
            return None;
        }
        let closed = std::mem::take(&mut self.counts);
        let several = self.batches > 1;
        (self.period, self.batches) = (period, 0);
        several.then(|| {
            self.tested += 1;
            (self.tested, closed)
        })
    }

    fn add(&mut self, batch: &PredictionCounts) {
        self.batches += 1;
        self.counts.merge(batch);
    }
}

/// Watches batches of predictions for a change against a fixed reference. Batches are given in the order of their arrival.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamAlarm {
    delta: f64,
    seed: u64,
    reference: PredictionCounts,
    since: PredictionCounts,
    batches: u64,
    looks: u64,
    confidence: SimpleJumper,
    classes: SimpleJumper,
    day: OpenWindow,
    week: OpenWindow,
    fired: Option<Fired>,
}

impl StreamAlarm {
    /// An alarm that is ever false with probability at most `delta`. The seed breaks ties of ranks.
    ///
    /// # Errors
    /// If the reference has no rows.
    pub fn new(reference: PredictionCounts, delta: FailureProbability, seed: Seed) -> Result<Self> {
        if reference.rows() == 0 {
            return Err(Error::Empty { what: "reference rows" });
        }
        Ok(Self {
            delta: delta.get(),
            seed: seed.get(),
            reference,
            since: PredictionCounts::default(),
            batches: 0,
            looks: 0,
            confidence: SimpleJumper::new(),
            classes: SimpleJumper::new(),
            day: OpenWindow::new(),
            week: OpenWindow::new(),
            fired: None,
        })
    }

    /// Takes the next batch.
    ///
    /// # Errors
    /// If it has no rows.
    pub fn advance(&mut self, batch: &[Prediction], when: Period) -> Result<StreamStep> {
        if batch.is_empty() {
            return Err(Error::Empty { what: "rows of the batch" });
        }
        let counts = PredictionCounts::of(batch);
        self.bet(batch);
        self.batches += 1;
        let mut due = vec![(Window::Batch, self.batches, counts.clone())];
        for (window, open, period) in
            [(Window::Day, &mut self.day, when.day), (Window::Week, &mut self.week, when.week)]
        {
            due.extend(open.close_before(period).map(|(number, closed)| (window, number, closed)));
            open.add(&counts);
        }
        self.since.merge(&counts);
        // At 2, 4, 8, ... batches: a weak change that stays is found by all rows together, and few looks cost little.
        if self.batches > 1 && self.batches.is_power_of_two() {
            self.looks += 1;
            due.push((Window::Since, self.looks, self.since.clone()));
        }
        let mut tested = Vec::with_capacity(due.len());
        for (window, number, counts) in due {
            let level = self.level(window, number);
            let test = window_test(&self.reference, &counts)?;
            tested.push(WindowTested { window, number, rows: counts.rows(), level, test });
        }
        let fired = match self.fired {
            Some(_) => None,
            None => self.reason(&tested),
        };
        self.fired = self.fired.or(fired);
        Ok(StreamStep {
            batch: self.batches,
            ln_confidence_wealth: self.confidence.ln_wealth(),
            ln_class_wealth: self.classes.ln_wealth(),
            ln_limit: self.ln_limit(),
            tested,
            fired,
        })
    }

    /// Ranks every row among all before it and bets on the ranks.
    fn bet(&mut self, batch: &[Prediction]) {
        let bags = [&self.reference, &self.since];
        let (mut confidences, mut classes) = (ConfidenceRanks::of(bags), ClassRanks::of(bags));
        // Draws by the number of the row in the stream.
        let root = Seed::new(self.seed).child("stream-alarm", 0);
        let mut ties = [root.stream("confidence-ties"), root.stream("class-ties")];
        ties.iter_mut().for_each(|stream| stream.seek(self.since.rows()));
        for (cell, class) in self.drawn_order(batch, root) {
            let [first, second] = &mut ties;
            self.confidence.bet(confidences.add(cell, first.uniform()));
            self.classes.bet(classes.add(class, second.uniform()));
        }
    }

    /// The rows of a batch as cells and classes, sorted and then shuffled by the seed and the number of the batch.
    fn drawn_order(&self, batch: &[Prediction], root: Seed) -> Vec<(u32, u32)> {
        let mut rows: Vec<(u32, u32)> =
            batch.iter().map(|said| (cell_of(said.confidence), said.class)).collect();
        rows.sort_unstable();
        let mut stream = root.child("batch", self.batches).stream("row-order");
        for left in (2..=rows.len()).rev() {
            rows.swap(left - 1, stream.below(left));
        }
        rows
    }

    /// The first reason to go off, the wealths before the windows.
    fn reason(&self, tested: &[WindowTested]) -> Option<Fired> {
        let wealths = [
            (StreamRule::ConfidenceRanks, self.confidence.ln_highest()),
            (StreamRule::ClassRanks, self.classes.ln_highest()),
        ];
        let batch = self.batches;
        let richest = wealths.into_iter().find(|(_, ln_wealth)| *ln_wealth >= self.ln_limit());
        let by_wealth = richest.map(|(rule, ln_wealth)| Fired {
            batch,
            rule,
            value: (-ln_wealth).exp(),
            limit: WEALTH_SHARE * self.delta,
        });
        let by_window = tested.iter().find(|window| window.rejects()).map(|window| Fired {
            batch,
            rule: window.window.into(),
            value: window.test.p_value,
            limit: window.level,
        });
        by_wealth.or(by_window)
    }

    fn ln_limit(&self) -> f64 {
        -(WEALTH_SHARE * self.delta).ln()
    }

    /// `share d 6 / (pi^2 k^2)` for the `k`-th window of a kind.
    fn level(&self, window: Window, number: u64) -> f64 {
        let share = match window {
            Window::Batch => BATCH_SHARE,
            Window::Day | Window::Week | Window::Since => LONGER_SHARE,
        };
        let k = number as f64;
        share * self.delta * 6.0 / (PI * PI * k * k)
    }

    /// Why and when it went off; none as long as it did not.
    pub fn fired(&self) -> Option<Fired> {
        self.fired
    }

    /// Batches seen.
    pub fn batches(&self) -> u64 {
        self.batches
    }

    /// Rows seen.
    pub fn rows(&self) -> u64 {
        self.since.rows()
    }

    /// The rows that all are compared with.
    pub fn reference(&self) -> &PredictionCounts {
        &self.reference
    }

    /// The rows of the week that is not over, beside the reference; none before any.
    ///
    /// # Errors
    /// None: a week that was begun has rows.
    pub fn this_week(&self) -> Result<Option<WindowTest>> {
        match self.week.batches {
            0 => Ok(None),
            _ => window_test(&self.reference, &self.week.counts).map(Some),
        }
    }

    /// Its failure probability `d`.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// As bytes with a version and a checksum: what is stored between two batches.
    ///
    /// # Errors
    /// None: it can always be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        seal(Kind::State, &header(), self)
    }

    /// Reads it back.
    ///
    /// # Errors
    /// If the bytes are something else, of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (found, alarm) = open::<Self>(Kind::State, bytes)?;
        header().require_same(&found)?;
        FailureProbability::new(alarm.delta)?;
        let rows = |window: &OpenWindow| window.counts.rows() <= alarm.since.rows();
        if alarm.reference.rows() == 0 || !rows(&alarm.day) || !rows(&alarm.week) {
            return Err(Error::Damaged {
                what: "the stream alarm",
                why: "its windows have more rows than the stream",
            });
        }
        Ok(alarm)
    }
}

fn header() -> JobHeader {
    JobHeader {
        method: "stream alarm".to_owned(),
        settings: Vec::new(),
        pass: 0,
        rows: None,
        calibration: [0; 32],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(n: usize, power: i32, seed: u64) -> Vec<Prediction> {
        let mut stream = Seed::new(seed).stream("alarm");
        let one = |_| Prediction {
            confidence: 1.0 - stream.uniform().powi(power),
            class: (stream.uniform() * 10.0) as u32,
        };
        (0..n).map(one).collect()
    }

    fn alarm(n: usize, seed: u64) -> StreamAlarm {
        let reference = PredictionCounts::of(&draws(n, 3, seed));
        StreamAlarm::new(reference, FailureProbability::FIVE_PERCENT, Seed::new(seed)).unwrap()
    }

    const DAY: fn(i64) -> Period = |day| Period { day, week: day / 7 };

    #[test]
    fn all_levels_together_are_the_one_asked_for() {
        let alarm = alarm(100, 1);
        let spent: f64 = [Window::Batch, Window::Day, Window::Week, Window::Since]
            .into_iter()
            .map(|window| (1..100_000).map(|k| alarm.level(window, k)).sum::<f64>())
            .sum();
        let wealths = 2.0 * (-alarm.ln_limit()).exp();
        assert!(spent + wealths <= 0.05 && spent + wealths > 0.0499);
    }

    #[test]
    fn it_goes_off_once_and_says_why() {
        let mut alarm = alarm(500, 2);
        for day in 0..10 {
            assert_eq!(
                alarm.advance(&draws(300, 3, 100 + day), DAY(day.cast_signed())).unwrap().fired,
                None
            );
        }
        let fired = (10..20).find_map(|day| {
            alarm.advance(&draws(300, 1, 100 + day), DAY(day.cast_signed())).unwrap().fired
        });
        let fired = fired.unwrap();
        assert!(fired.batch <= 12 && fired.value <= fired.limit, "{fired:?}");
        assert_eq!(alarm.advance(&draws(300, 1, 999), DAY(30)).unwrap().fired, None);
        assert_eq!(alarm.fired(), Some(fired));
    }

    /// What is stored between batches goes on as if it had never been stored.
    #[test]
    fn bytes_go_on_where_they_stopped() {
        let (mut whole, mut stored) = (alarm(200, 3), alarm(200, 3));
        for day in 0..6 {
            let batch = draws(80, 3, 50 + day);
            let bytes = stored.to_bytes().unwrap();
            stored = StreamAlarm::from_bytes(&bytes).unwrap();
            let (one, two) = (
                whole.advance(&batch, DAY(day.cast_signed() / 2)),
                stored.advance(&batch, DAY(day.cast_signed() / 2)),
            );
            assert_eq!(one.unwrap(), two.unwrap());
        }
        assert_eq!(whole, stored);
        let bytes = whole.to_bytes().unwrap();
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(StreamAlarm::from_bytes(&damaged).is_err());
        }
    }

    /// A sorted file is no change, and the order of a file is not evidence of anything.
    #[test]
    fn the_order_of_rows_in_a_batch_does_not_matter() {
        let (mut one, mut two) = (alarm(150, 4), alarm(150, 4));
        for day in 0..20 {
            let mut rows = draws(200, 3, 900 + day);
            let as_given = one.advance(&rows, DAY(day.cast_signed())).unwrap();
            rows.sort_by(|a, b| {
                (a.class, a.confidence.to_bits()).cmp(&(b.class, b.confidence.to_bits()))
            });
            assert_eq!(two.advance(&rows, DAY(day.cast_signed())).unwrap(), as_given);
        }
        assert_eq!((one.fired(), two.fired()), (None, None));
    }

    #[test]
    fn days_and_weeks_are_tested_when_they_are_over_and_clocks_may_go_back() {
        let mut alarm = alarm(200, 5);
        let mut tested = |day: i64| -> Vec<Window> {
            let step = alarm.advance(&draws(30, 3, 7), DAY(day)).unwrap();
            step.tested.iter().map(|window| window.window).collect()
        };
        assert_eq!(tested(0), [Window::Batch]);
        assert_eq!(tested(0), [Window::Batch, Window::Since]);
        assert_eq!(tested(1), [Window::Batch, Window::Day]);
        // Back in time: joins the open day.
        assert_eq!(tested(-5), [Window::Batch, Window::Since]);
        assert_eq!(tested(2), [Window::Batch, Window::Day]);
        // One batch in the day before: it was tested as a batch.
        assert_eq!(tested(3), [Window::Batch]);
        assert_eq!(tested(7), [Window::Batch, Window::Week]);
    }

    #[test]
    fn nothing_to_compare_is_an_error() {
        let empty = PredictionCounts::default();
        assert!(StreamAlarm::new(empty, FailureProbability::FIVE_PERCENT, Seed::new(0)).is_err());
        assert!(alarm(10, 1).advance(&[], DAY(0)).is_err());
    }
}
