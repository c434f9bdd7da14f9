//! Arguments of `evenkeel reproduce`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::OneRate;
use crate::typed_numbers::{MOST, whole};

/// The experiments.
#[derive(Debug, Subcommand)]
pub(crate) enum ReproduceCommand {
    /// Figs 3 and 5: coverage and set size over simulations of a regression with a known shift.
    Regression(RegressionArgs),
    /// Tables 1, 4, 5 and 6: coverage, size and gap of all methods on corrupted images.
    Images(ImagesArgs),
    /// Table 5: bounds against measured gaps at severity 5.
    Tightness(TightnessArgs),
    /// Tables 2 and 3: the total coverage gap by numbers of labeled and unlabeled points.
    SampleSize(SampleSizeArgs),
    /// Figs 1 and 2: laws of scores, and the coverage gap over alpha.
    Figures(FiguresArgs),
    /// Distance of the coverage from the level, and set sizes, by the number of labels of the target data.
    FewLabels(FewLabelsArgs),
}

/// What every experiment takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// Folder for tables, figures, the page and finished cells; a run that was interrupted goes on in it
    /// [default: evenkeel-EXPERIMENT].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub common: OneRate,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel reproduce regression --out regression --simulations 100 --epochs 10,30,100")]
pub(crate) struct RegressionArgs {
    /// Repetitions, each with samples of its own.
    #[arg(long, default_value_t = 500, value_parser = whole::<usize>(1..=MOST))]
    pub simulations: usize,
    /// Points of each of the four samples.
    #[arg(long, default_value_t = 1000, value_parser = whole::<usize>(2..=MOST))]
    pub samples: usize,
    /// Epochs of the predictor's training, increasing; all methods are run after each. The paper does not name its
    /// number, and the outcome depends on it.
    #[arg(long, default_value = "30", value_delimiter = ',', value_name = "LIST", value_parser = whole::<usize>(1..=MOST))]
    pub epochs: Vec<usize>,
    #[command(flatten)]
    pub run: RunArgs,
}

/// Where softmax outputs come from.
#[derive(Debug, Clone, Args)]
pub(crate) struct DataArgs {
    /// Folder of your own softmax files, clean.npz and NAME_SEVERITY.npz (as fog_3.npz), each with the arrays probs or
    /// logits, labels and image_id; without it, the shipped classifier is run on corrupted Fashion-MNIST.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder of Fashion-MNIST [default: that of the Debian package dataset-fashion-mnist].
    #[arg(long, value_name = "DIR", conflicts_with = "data")]
    pub fashion_mnist: Option<PathBuf>,
}

/// Sizes of the image experiments.
#[derive(Debug, Clone, Args)]
pub(crate) struct SizeArgs {
    /// Repetitions of every condition.
    #[arg(long, default_value_t = 10, value_parser = whole::<u64>(1..=MOST))]
    pub seeds: u64,
    /// Labeled clean points; weight functions take twice as many.
    #[arg(long, default_value_t = 300, value_name = "N", value_parser = whole::<usize>(1..=MOST))]
    pub calibration: usize,
    /// Unlabeled points.
    #[arg(long, default_value_t = 300, value_name = "M", value_parser = whole::<usize>(1..=MOST))]
    pub unlabeled: usize,
    /// Test points at most.
    #[arg(long, default_value_t = 30_000, value_name = "N", value_parser = whole::<usize>(1..=MOST))]
    pub test: usize,
    /// Grid points of the paper's objective; its answer depends on them.
    #[arg(long, default_value_t = 100, value_name = "K", value_parser = whole::<usize>(2..=MOST))]
    pub grid: usize,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel reproduce images --out images
  evenkeel reproduce images --data imagenet-c --out imagenet-c-tables \\
    --methods uncorrected,oracle,ff-f-u

With label shift, the class frequencies of the target data are drawn from a Dirichlet law. The largest sample without replacement \
that has them is used; half of it is unlabeled if it holds fewer than twice --unlabeled points. Frequencies that allow fewer than \
100 points are drawn again, at most 100 times; then the cell is left out, and tables and page say so.

With 1000 classes, likelihood-ratio takes 7 to 9 seconds per cell, and all other methods together less than one. Leave it out with \
--methods, or plan for it.")]
pub(crate) struct ImagesArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub sizes: SizeArgs,
    /// Folder of another classifier's softmax files for the same images, as that of --data, for the row of second opinions; without
    /// it and --data, the second classifier that ships is run.
    #[arg(long, value_name = "DIR")]
    pub second_data: Option<PathBuf>,
    /// Write the corrupted images to this folder, as NAME_SEVERITY.npz with the arrays images, labels and image_id, and stop.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["data", "second_data"])]
    pub export_images: Option<PathBuf>,
    /// Severities.
    #[arg(long, default_value = "1,3,5", value_delimiter = ',', value_name = "LIST", value_parser = whole::<u32>(0..=u32::MAX.into()))]
    pub severities: Vec<u32>,
    /// Rows of the tables, separated by commas [default: all]. `conditional` is measured on 2000 test points at most.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub methods: Vec<String>,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  evenkeel reproduce tightness --out tightness")]
pub(crate) struct TightnessArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub sizes: SizeArgs,
    /// The severity.
    #[arg(long, default_value_t = 5, value_parser = whole::<u32>(0..=u32::MAX.into()))]
    pub severity: u32,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  evenkeel reproduce sample-size --out sample-size --sizes 30,100,300"
)]
pub(crate) struct SampleSizeArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Repetitions of every condition.
    #[arg(long, default_value_t = 10, value_parser = whole::<u64>(1..=MOST))]
    pub seeds: u64,
    /// Numbers of labeled and of unlabeled points.
    #[arg(
        long,
        default_value = "30,100,300,1000,3000",
        value_delimiter = ',',
        value_name = "LIST", value_parser = whole::<usize>(2..=MOST))]
    pub sizes: Vec<usize>,
    /// Test points at most.
    #[arg(long, default_value_t = 30_000, value_name = "N", value_parser = whole::<usize>(1..=MOST))]
    pub test: usize,
    /// Grid points of the paper's objective; its answer depends on them.
    #[arg(long, default_value_t = 100, value_name = "K", value_parser = whole::<usize>(2..=MOST))]
    pub grid: usize,
    /// Severities.
    #[arg(long, default_value = "1", value_delimiter = ',', value_name = "LIST", value_parser = whole::<u32>(0..=u32::MAX.into()))]
    pub severities: Vec<u32>,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  evenkeel reproduce figures --out figures --figure-2 fog_5")]
pub(crate) struct FiguresArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Condition of Fig 1.
    #[arg(long, default_value = "gaussian_noise_3", value_name = "NAME_SEVERITY")]
    pub figure_1: String,
    /// Condition of Fig 2.
    #[arg(long, default_value = "fog_3", value_name = "NAME_SEVERITY")]
    pub figure_2: String,
    /// Labeled clean points.
    #[arg(long, default_value_t = 300, value_name = "N", value_parser = whole::<usize>(1..=MOST))]
    pub calibration: usize,
    /// Unlabeled points.
    #[arg(long, default_value_t = 300, value_name = "M", value_parser = whole::<usize>(1..=MOST))]
    pub unlabeled: usize,
    /// Test points at most.
    #[arg(long, default_value_t = 30_000, value_name = "N", value_parser = whole::<usize>(1..=MOST))]
    pub test: usize,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel reproduce few-labels --out few-labels

Clean images and every corruption, without and with label shift. The labels are those of target points drawn at random; test points \
are others.")]
pub(crate) struct FewLabelsArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Repetitions of every condition.
    #[arg(long, default_value_t = 10, value_parser = whole::<u64>(1..=MOST))]
    pub seeds: u64,
    /// Numbers of labels; 0 is always among them.
    #[arg(long, default_value = "10,20,30,50,100,200", value_delimiter = ',', value_name = "LIST", value_parser = whole::<usize>(1..=MOST))]
    pub labels: Vec<usize>,
    /// Labeled clean points.
    #[arg(long, default_value_t = 300, value_name = "N", value_parser = whole::<usize>(1..=MOST))]
    pub calibration: usize,
    /// Points of the target data, the labeled ones among them.
    #[arg(long, default_value_t = 300, value_name = "M", value_parser = whole::<usize>(1..=MOST))]
    pub unlabeled: usize,
    /// Test points at most.
    #[arg(long, default_value_t = 30_000, value_name = "N", value_parser = whole::<usize>(1..=MOST))]
    pub test: usize,
    /// Severities.
    #[arg(long, default_value = "1,2,3,4,5", value_delimiter = ',', value_name = "LIST", value_parser = whole::<u32>(0..=u32::MAX.into()))]
    pub severities: Vec<u32>,
    #[command(flatten)]
    pub run: RunArgs,
}
