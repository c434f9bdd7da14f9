//! Figs 1 and 2: laws of scores under noise, and the coverage gap over alpha under fog.

use evenkeel::evaluation::{gap_curve, percent_rates};
use evenkeel::learning::optimise::AdamSettings;
use evenkeel::level::Miscoverage;
use evenkeel::measure::Grid;
use evenkeel::method::TransportSettings;
use evenkeel::sandwich::{min_max, model_uniform};
use evenkeel::seed::Seed;
use evenkeel::threshold::TestMass;
use evenkeel_report::study::Drawing;
use evenkeel_report::{Answer, GapCurve, Report, ScoreLaws, ThresholdMark, figures};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::calibrated::{Calibrated, CellPoints};
use super::method::{STEPS_A_SEVERITY, likelihood_ratio_words};
use super::{
    DataFolder, ImageMethod, LabelMarginal, RoleSizes, ShiftedCondition, SoftmaxTable, Split,
    with_data,
};
use crate::error::Result;
use crate::run::{Experiment, Group, Outputs, Stopwatch};
use crate::trial::SCORE;

/// Ids of the methods of Fig 2, and their names in its legend.
const GAP_CURVES: [(&str, &str); 4] = [
    ("uncorrected", "uncorrected"),
    ("likelihood-ratio", "likelihood ratio"),
    ("ff-min-max", "FF (min, max)"),
    ("ff-f-u", "FF (f, U)"),
];

/// Which figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaperFigure {
    /// Fig 1: empirical CDFs of scores, and the pairs of laws around that of the target scores.
    ScoreLaws,
    /// Fig 2: the coverage gap over alpha.
    CoverageGap,
}

impl PaperFigure {
    fn name(self) -> &'static str {
        match self {
            Self::ScoreLaws => "figure-1",
            Self::CoverageGap => "figure-2",
        }
    }
}

/// Both figures from one data folder.
#[derive(Debug, Clone)]
pub struct Figures {
    data: DataFolder,
    clean: SoftmaxTable,
    settings: FigureSettings,
}

/// Settings of the figures.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureSettings {
    /// Condition of Fig 1; the paper's is Gaussian noise.
    pub laws_of: String,
    /// Condition of Fig 2; the paper's is fog.
    pub gap_of: String,
    /// Labeled points.
    pub calibration: usize,
    /// Unlabeled points.
    pub unlabeled: usize,
    /// Test points at most.
    pub test: usize,
    /// Miscoverage rate.
    pub alpha: Miscoverage,
    /// Root of all randomness.
    pub seed: Seed,
}

impl FigureSettings {
    /// What of the configuration is known before there are data.
    pub fn configuration(&self) -> Result<serde_json::Value> {
        let Self { laws_of, gap_of, calibration, unlabeled, test, alpha, seed } = self;
        let steps = |name: &str| -> Result<usize> {
            let severity = name.parse::<ShiftedCondition>()?.severity;
            Ok(STEPS_A_SEVERITY * severity.max(1) as usize)
        };
        Ok(json!({
            "experiment": "figures",
            "version": env!("CARGO_PKG_VERSION"),
            "figure_1": laws_of,
            "figure_2": gap_of,
            "grid": Grid::LEARNING_POINTS,
            "transport_steps": steps(gap_of)?,
            "transport_learning_rate": AdamSettings::default().learning_rate(),
            "transport_bandwidth_factor": TransportSettings::paper().bandwidth_factor,
            "likelihood_ratio": likelihood_ratio_words(),
            "calibration": calibration,
            "unlabeled": unlabeled,
            "test": test,
            "alpha": alpha.get(),
            "seed": seed.get(),
        }))
    }
}

/// A drawing as it is kept in a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptDrawing {
    name: String,
    title: String,
    caption: String,
    svg: String,
}

impl Figures {
    /// Reads the folder's clean table.
    pub fn new(data: DataFolder, settings: FigureSettings) -> Result<Self> {
        Ok(Self { clean: data.read_clean()?, data, settings })
    }

    fn condition(&self, figure: PaperFigure) -> Result<ShiftedCondition> {
        let name = match figure {
            PaperFigure::ScoreLaws => &self.settings.laws_of,
            PaperFigure::CoverageGap => &self.settings.gap_of,
        };
        self.data.condition(name)
    }

    /// The points of a figure.
    fn points(&self, figure: PaperFigure) -> Result<CellPoints> {
        let condition = self.condition(figure)?;
        let shifted = self.data.read(&condition, self.clean.classes)?;
        let FigureSettings { calibration, unlabeled, test, alpha, seed, .. } = self.settings;
        let sizes = RoleSizes { calibration, unlabeled, test };
        let split = Split::deal(&self.clean, &shifted, sizes, LabelMarginal::Same, seed)?;
        let calibration = self.clean.subset(&split.calibration)?;
        Ok(CellPoints {
            both_halves: calibration.clone(),
            calibration,
            unlabeled: shifted.subset(&split.unlabeled)?,
            test: shifted.subset(&split.test)?,
            second: None,
            accuracy: 1.0,
            severity: condition.severity,
            grid: Grid::LEARNING_POINTS,
            alpha,
        })
    }

    /// Fig 1.
    fn score_laws(&self, report: &mut Report) -> Result<()> {
        let points = self.points(PaperFigure::ScoreLaws)?;
        let split = Calibrated::by(ImageMethod::Uncorrected, &points, self.settings.seed)?.trial;
        let candidates = SCORE.candidate_scores(&points.unlabeled.probabilities()?)?;
        let mark = |threshold| ThresholdMark { label: "uncorrected".to_owned(), threshold };
        report.score_laws = Some(ScoreLaws {
            score: "lac".to_owned(),
            calibration: split.law().into(),
            reweighted: None,
            sandwiches: vec![
                (&min_max(&candidates)?).into(),
                (&model_uniform(&candidates)?).into(),
            ],
            test: Some((&points.test.points()?.law()?).into()),
            thresholds: split.calibration.threshold(None).map(mark).into_iter().collect(),
        });
        Ok(())
    }

    /// Fig 2: at every alpha, how far the coverage of thresholds from the weighted law is from nominal.
    fn coverage_gaps(&self, report: &mut Report) -> Result<()> {
        let points = self.points(PaperFigure::CoverageGap)?;
        let (test_law, rates) = (points.test.points()?.law()?, percent_rates());
        for (id, name) in GAP_CURVES {
            let method = ImageMethod::from_id(id)?;
            let trial = Calibrated::by(method, &points, self.settings.seed)?.trial;
            let curve = match method {
                // One law for all test points: without their own weights, which differ from point to point.
                ImageMethod::LikelihoodRatio => {
                    gap_curve(trial.law(), TestMass::NONE, &test_law, &rates)
                }
                _ => trial.calibration.gap_curve(&test_law, &rates),
            };
            let points = curve.iter().map(|point| (point.alpha.get(), point.gap)).collect();
            let total =
                trial.total_gap(&test_law).map_or(String::new(), |gap| format!(" {gap:.3}"));
            report.gap_curves.push(GapCurve { method: format!("{name}{total}"), points });
        }
        Ok(())
    }
}

impl Experiment for Figures {
    type Cell = PaperFigure;
    type Shared = ();
    type Outcome = Option<KeptDrawing>;

    fn configuration(&self) -> Result<serde_json::Value> {
        with_data(self.settings.configuration()?, &self.data, self.clean.classes)
    }

    fn groups(&self) -> Vec<Group<PaperFigure>> {
        let cells = vec![PaperFigure::ScoreLaws, PaperFigure::CoverageGap];
        vec![Group { name: "figures".to_owned(), cells }]
    }

    fn name(&self, figure: &PaperFigure) -> String {
        figure.name().to_owned()
    }

    fn prepare(&self, _: &Group<PaperFigure>) -> Result<()> {
        Ok(())
    }

    fn run_cell(
        &self,
        (): &(),
        figure: &PaperFigure,
        stopwatch: &mut Stopwatch,
    ) -> Result<Option<KeptDrawing>> {
        let mut report = Report::new(self.settings.alpha, Answer::default());
        stopwatch.time(figure.name(), || match figure {
            PaperFigure::ScoreLaws => self.score_laws(&mut report),
            PaperFigure::CoverageGap => self.coverage_gaps(&mut report),
        })?;
        let condition = self.condition(*figure)?;
        Ok(figures(&report).into_iter().next().map(|drawn| {
            let number = if *figure == PaperFigure::ScoreLaws { 1 } else { 2 };
            KeptDrawing {
                name: figure.name().to_owned(),
                title: format!("Fig {number}: {}", drawn.title),
                caption: format!("{}. {}", condition.name(), drawn.caption),
                svg: drawn.svg,
            }
        }))
    }

    fn outputs(&self, finished: &[(PaperFigure, Option<KeptDrawing>)]) -> Result<Outputs> {
        let drawings = finished.iter().filter_map(|(_, drawing)| drawing.clone());
        let figures = drawings.map(|KeptDrawing { name, title, caption, svg }| Drawing {
            name,
            title,
            caption,
            svg,
        });
        Ok(Outputs {
            title: "Laws of scores and the coverage gap".to_owned(),
            subtitle: format!(
                "n = {}, m = {}; in the legend of Fig 2 the total coverage gap",
                self.settings.calibration, self.settings.unlabeled
            ),
            figures: figures.collect(),
            ..Outputs::default()
        })
    }
}
