//! Figs 1 and 2: laws of scores under noise, and the coverage gap over alpha under fog.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::evaluation::{gap_curve, percent_rates, total_coverage_gap};
use evenkeel::learning::optimise::AdamSettings;
use evenkeel::level::Miscoverage;
use evenkeel::measure::{Grid, WeightedEmpirical, Weights};
use evenkeel::method::TransportSettings;
use evenkeel::method::likelihood_ratio::{RatioEstimator, TelescopingSettings};
use evenkeel::sandwich::{min_max, model_uniform};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::threshold::{TestMass, conformal_threshold};
use evenkeel_report::study::Drawing;
use evenkeel_report::{Answer, GapCurve, Report, ScoreLaws, ThresholdMark, figures};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::method::{STEPS_A_SEVERITY, likelihood_ratio_words};
use super::{
    DataFolder, ImageMethod, LabelMarginal, RoleSizes, ShiftedCondition, SoftmaxTable, Split,
    Subset, with_data,
};
use crate::error::Result;
use crate::run::{Experiment, Group, Outputs, Stopwatch};

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
            "transport_bandwidth_factor": TransportSettings::default().bandwidth_factor,
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

    /// Calibration, unlabeled and test points of a figure.
    fn points(&self, figure: PaperFigure) -> Result<(Subset, Subset, Subset)> {
        let shifted = self.data.read(&self.condition(figure)?, self.clean.classes)?;
        let FigureSettings { calibration, unlabeled, test, seed, .. } = self.settings;
        let sizes = RoleSizes { calibration, unlabeled, test };
        let split = Split::deal(&self.clean, &shifted, sizes, LabelMarginal::Same, seed)?;
        let calibration = self.clean.subset(&split.calibration);
        Ok((calibration, shifted.subset(&split.unlabeled), shifted.subset(&split.test)))
    }

    /// Fig 1.
    fn score_laws(&self, report: &mut Report) -> Result<()> {
        let (calibration, unlabeled, test) = self.points(PaperFigure::ScoreLaws)?;
        let law = law_of(&calibration)?;
        let candidates = Score::Lac.candidate_scores(&unlabeled.probabilities()?)?;
        let mass = TestMass::exchangeable(calibration.rows());
        let threshold = conformal_threshold(&law, mass, self.settings.alpha);
        report.score_laws = Some(ScoreLaws {
            score: "lac".to_owned(),
            calibration: (&law).into(),
            reweighted: None,
            sandwiches: vec![
                (&min_max(&candidates)?).into(),
                (&model_uniform(&candidates)?).into(),
            ],
            test: Some((&law_of(&test)?).into()),
            thresholds: vec![ThresholdMark { label: "uncorrected".to_owned(), threshold }],
        });
        Ok(())
    }

    /// Fig 2: at every alpha, how far the coverage of thresholds from the weighted law is from nominal.
    fn coverage_gaps(&self, report: &mut Report) -> Result<()> {
        let (calibration, unlabeled, test) = self.points(PaperFigure::CoverageGap)?;
        let severity = self.condition(PaperFigure::CoverageGap)?.severity;
        let test_law = law_of(&test)?;
        let uniform = TestMass::exchangeable(calibration.rows());
        let mut laws = vec![("uncorrected".to_owned(), law_of(&calibration)?, uniform)];
        let estimator = RatioEstimator::Telescoping(TelescopingSettings::default());
        let (old, new) = (calibration.table()?, unlabeled.table()?);
        let model = estimator.fit(old, new, self.settings.seed)?.model;
        let weights = Weights::normalised(model.ratios(old)?)?;
        let scores = scores_of(&calibration)?;
        // One law for all test points: without their own weights, which differ from point to point.
        laws.push((
            "likelihood ratio".to_owned(),
            WeightedEmpirical::new(&scores, &weights)?,
            TestMass::NONE,
        ));
        for id in ["ff-min-max", "ff-f-u"] {
            let method = ImageMethod::from_id(id)?;
            let calibrator = ShiftCalibrator {
                method: method.in_core(severity, Grid::LEARNING_POINTS)?,
                score: Score::Lac,
                alpha: self.settings.alpha,
                seed: self.settings.seed,
            };
            let fitted = calibrator.calibrate(
                &calibration.probabilities()?,
                &calibration.labels()?,
                &unlabeled.probabilities()?,
            )?;
            laws.push((method.words().to_owned(), fitted.law().clone(), fitted.test_mass()));
        }
        for (name, law, mass) in laws {
            let curve = gap_curve(&law, mass, &test_law, &percent_rates());
            let points = curve.iter().map(|point| (point.alpha.get(), point.gap)).collect();
            let total = total_coverage_gap(&law, &test_law);
            report.gap_curves.push(GapCurve { method: format!("{name} {total:.3}"), points });
        }
        Ok(())
    }
}

fn scores_of(points: &Subset) -> Result<Vec<f64>> {
    Ok(Score::Lac.label_scores(&points.probabilities()?, &points.labels()?)?)
}

fn law_of(points: &Subset) -> Result<WeightedEmpirical> {
    Ok(WeightedEmpirical::uniform(&scores_of(points)?)?)
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
