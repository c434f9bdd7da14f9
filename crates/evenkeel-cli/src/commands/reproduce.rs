//! `evenkeel reproduce`: the paper's experiments.

use std::path::{Path, PathBuf};

use evenkeel_experiments::corruption::Corruption;
use evenkeel_experiments::fashion_mnist::DEFAULT_DIRECTORY;
use evenkeel_experiments::images::{
    DataFolder, FigureSettings, Figures, ImageMethod, ImageSettings, Images, LabelMarginal,
    LabelsSettings, LabelsStudy, SampleSize, SampleSizeSettings, ShiftedCondition, Tables,
    WhichClassifier, export_images, make_data_folder,
};
use evenkeel_experiments::regression::Regression;
use evenkeel_experiments::run::{self, Experiment, RunFolder, Table, Watcher};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::progress::Verbosity;
use crate::reproduce_args::{
    DataArgs, FewLabelsArgs, FiguresArgs, ImagesArgs, RegressionArgs, ReproduceCommand, RunArgs,
    SampleSizeArgs, SizeArgs, TightnessArgs,
};
use crate::settings::{Rates, on_threads};

pub(crate) fn run(command: &ReproduceCommand) -> Result<Outcome, Failure> {
    match command {
        ReproduceCommand::Regression(args) => regression(args),
        ReproduceCommand::Images(args) => images(args),
        ReproduceCommand::Tightness(args) => tightness(args),
        ReproduceCommand::SampleSize(args) => sample_size(args),
        ReproduceCommand::Figures(args) => figures(args),
        ReproduceCommand::FewLabels(args) => few_labels(args),
    }
}

fn regression(args: &RegressionArgs) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.run.common)?;
    let experiment = Regression {
        simulations: args.simulations,
        samples: args.samples,
        epochs: args.epochs.clone(),
        ..Regression::new(rates.alpha, rates.seed)
    };
    reproduce("regression", &experiment, &args.run)
}

fn images(args: &ImagesArgs) -> Result<Outcome, Failure> {
    if let Some(folder) = &args.export_images {
        return export(args, folder);
    }
    let methods = match &args.methods[..] {
        // Rows of which nothing is known are not waited for.
        [] if args.data.data.is_some() && args.second_data.is_none() => {
            let mut rows = ImageMethod::all();
            rows.retain(|row| !row.takes_a_second_opinion());
            rows
        }
        [] => ImageMethod::all(),
        ids => ids.iter().map(|id| ImageMethod::from_id(id)).collect::<Result<_, _>>()?,
    };
    let settings = ImageSettings { methods, ..image_settings(&args.run, &args.sizes)? };
    // Known before the data: a folder of another run is refused before images are classified for
    // minutes.
    let known = settings.configuration()?;
    let opinions = settings.methods.iter().any(|row| row.takes_a_second_opinion());
    let place = Place { name: "images", run: &args.run, data: &args.data };
    let data = place.folder(&args.severities, known.clone())?;
    let mut experiment = Images::new(data, settings)?;
    if opinions {
        let second = match (&args.second_data, &args.data.data) {
            (Some(folder), _) => DataFolder::open(folder)?.with_severities(&args.severities)?,
            (None, None) => place.made_by(WhichClassifier::Second, &args.severities, known)?,
            (None, Some(_)) => {
                return Err(Failure::Argument(
                    "--second-data is missing: a second opinion takes another classifier's softmax files for the images of --data".into(),
                ));
            }
        };
        experiment = experiment.with_second(second)?;
    }
    reproduce("images", &experiment, &args.run)
}

/// Writes the corrupted images.
fn export(args: &ImagesArgs, folder: &Path) -> Result<Outcome, Failure> {
    let data_set = args.data.fashion_mnist.clone().unwrap_or_else(|| DEFAULT_DIRECTORY.into());
    let verbosity = Verbosity::of(args.run.common.show.quiet);
    let bar = verbosity.cells("corrupting images");
    let step = |count: usize| match bar.length() {
        Some(0) => bar.set_length(count as u64),
        _ => bar.inc(count as u64),
    };
    on_threads(args.run.common.show.threads, || {
        Ok(export_images(folder, &data_set, &args.severities, &step)?)
    })?;
    bar.finish_and_clear();
    verbosity.note(&format!("wrote the images to {}", folder.display()));
    Ok(Outcome::Done)
}

fn tightness(args: &TightnessArgs) -> Result<Outcome, Failure> {
    let methods = ["ff-min-max", "ff-f-u", "ff-w1-min-max", "ff-w1-f-u"];
    let settings = ImageSettings {
        methods: methods.into_iter().map(ImageMethod::from_id).collect::<Result<_, _>>()?,
        marginals: vec![LabelMarginal::Same],
        tables: Tables::Tightness,
        ..image_settings(&args.run, &args.sizes)?
    };
    let known = settings.configuration()?;
    let data = Place { name: "tightness", run: &args.run, data: &args.data }
        .folder(&[args.severity], known)?;
    reproduce("tightness", &Images::new(data, settings)?, &args.run)
}

fn sample_size(args: &SampleSizeArgs) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.run.common)?;
    let settings = SampleSizeSettings {
        sizes: args.sizes.clone(),
        seeds: args.seeds,
        test: args.test,
        grid: args.grid,
        alpha: rates.alpha,
        seed: rates.seed,
    };
    let known = settings.configuration()?;
    let data = Place { name: "sample-size", run: &args.run, data: &args.data }
        .folder(&args.severities, known)?;
    reproduce("sample-size", &SampleSize::new(data, settings)?, &args.run)
}

fn figures(args: &FiguresArgs) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.run.common)?;
    let settings = FigureSettings {
        laws_of: args.figure_1.clone(),
        gap_of: args.figure_2.clone(),
        calibration: args.calibration,
        unlabeled: args.unlabeled,
        test: args.test,
        alpha: rates.alpha,
        seed: rates.seed,
    };
    let severities: Vec<u32> = [&args.figure_1, &args.figure_2]
        .into_iter()
        .map(|name| Ok(name.parse::<ShiftedCondition>()?.severity))
        .collect::<Result<_, Failure>>()?;
    let known = settings.configuration()?;
    let data =
        Place { name: "figures", run: &args.run, data: &args.data }.folder(&severities, known)?;
    reproduce("figures", &Figures::new(data, settings)?, &args.run)
}

fn few_labels(args: &FewLabelsArgs) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.run.common)?;
    let settings = LabelsSettings {
        labels: args.labels.clone(),
        seeds: args.seeds,
        calibration: args.calibration,
        unlabeled: args.unlabeled,
        test: args.test,
        ..LabelsSettings::new(rates.alpha, rates.seed)
    };
    let known = settings.configuration()?;
    let data = Place { name: "few-labels", run: &args.run, data: &args.data }
        .folder(&args.severities, known)?;
    reproduce("few-labels", &LabelsStudy::new(data, settings)?, &args.run)
}

fn image_settings(run: &RunArgs, sizes: &SizeArgs) -> Result<ImageSettings, Failure> {
    let rates = Rates::of(&run.common)?;
    Ok(ImageSettings {
        seeds: sizes.seeds,
        calibration: sizes.calibration,
        unlabeled: sizes.unlabeled,
        test: sizes.test,
        grid: sizes.grid,
        ..ImageSettings::new(rates.alpha, rates.seed)
    })
}

/// Where the softmax files of an experiment lie.
struct Place<'a> {
    name: &'a str,
    run: &'a RunArgs,
    data: &'a DataArgs,
}

impl Place<'_> {
    /// The user's data folder, or one made of Fashion-MNIST inside the run's folder.
    fn folder(&self, severities: &[u32], known: serde_json::Value) -> Result<DataFolder, Failure> {
        match &self.data.data {
            Some(folder) => Ok(DataFolder::open(folder)?.with_severities(severities)?),
            None => self.made_by(WhichClassifier::First, severities, known),
        }
    }

    /// One made of Fashion-MNIST inside the run's folder, which is refused before any work if it belongs to a run that differs in
    /// what is `known` of the configuration.
    fn made_by(
        &self,
        classifier: WhichClassifier,
        severities: &[u32],
        mut known: serde_json::Value,
    ) -> Result<DataFolder, Failure> {
        let run = self.run;
        let data_set = self.data.fashion_mnist.clone().unwrap_or_else(|| DEFAULT_DIRECTORY.into());
        let severities = {
            let mut found = severities.to_vec();
            // In one order, each once: the configuration of a run is compared as text.
            found.sort_unstable();
            found.dedup();
            found
        };
        known["severities"] = serde_json::json!(severities);
        RunFolder::check(&folder_of(self.name, run), &known)?;
        let folder = folder_of(self.name, run).join(match classifier {
            WhichClassifier::First => "softmax",
            WhichClassifier::Second => "second-softmax",
        });
        let bar = Verbosity::of(run.common.show.quiet).cells("classifying images");
        on_threads(run.common.show.threads, || {
            let step = |count: usize| match bar.length() {
                // The first call tells how many there will be, later ones how many are done.
                Some(0) => bar.set_length(count as u64),
                _ => bar.inc(count as u64),
            };
            Ok(make_data_folder(&folder, classifier, &data_set, &severities, &step)?)
        })?;
        bar.finish_and_clear();
        // The folder lists files by name; tables list corruptions as the paper does.
        let order = Corruption::ALL.map(Corruption::name);
        Ok(DataFolder::open(&folder)?.with_severities(&severities)?.in_order_of(&order))
    }
}

fn folder_of(name: &str, run: &RunArgs) -> PathBuf {
    run.out.clone().unwrap_or_else(|| PathBuf::from(format!("evenkeel-{name}")))
}

/// Runs an experiment in its folder and shows its tables.
fn reproduce<E: Experiment + Send>(
    name: &str,
    experiment: &E,
    args: &RunArgs,
) -> Result<Outcome, Failure> {
    let out = folder_of(name, args);
    let verbosity = Verbosity::of(args.common.show.quiet);
    let bar = Bar(verbosity.cells(name));
    let finished = on_threads(args.common.show.threads, || Ok(run::run(experiment, &out, &bar)?))?;
    bar.0.finish_and_clear();
    let document = Document {
        out: out.clone(),
        report: out.join("report.html"),
        cells: finished.cells,
        resumed: finished.resumed,
        tables: finished.outputs.tables.iter().map(ShownTable::of).collect(),
    };
    if args.common.show.json {
        print_json(&document)?;
    } else {
        let tables: Vec<String> = finished.outputs.tables.iter().map(Table::markdown).collect();
        print(&format!(
            "{}\nThe page with figures: {}\n",
            tables.join("\n"),
            document.report.display()
        ))?;
    }
    Ok(Outcome::Done)
}

#[derive(Debug, Serialize)]
struct Document {
    out: PathBuf,
    report: PathBuf,
    cells: usize,
    /// Cells that were found finished.
    resumed: usize,
    tables: Vec<ShownTable>,
}

/// A table as it stands in the Markdown files.
#[derive(Debug, Serialize)]
struct ShownTable {
    name: String,
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl ShownTable {
    fn of(table: &Table) -> Self {
        let shown = table.for_page();
        Self {
            name: table.name.clone(),
            title: shown.title,
            columns: shown.columns,
            rows: shown.rows,
        }
    }
}

/// A progress bar over cells.
struct Bar(ProgressBar);

impl Watcher for Bar {
    fn started(&self, total: usize, done: usize) {
        self.0.set_length(total as u64);
        self.0.set_position(done as u64);
        // Cells of an earlier run took no time of this one.
        self.0.reset_eta();
    }

    fn finished_cell(&self) {
        self.0.inc(1);
    }
}
