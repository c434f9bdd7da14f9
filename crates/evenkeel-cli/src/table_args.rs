//! Columns of tables, as typed: one table may hold probabilities, labels, ids and more.

use clap::Args;
use evenkeel_io::ColumnPatterns;

use crate::failure::Failure;

/// Which columns of tables hold what.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Tables")]
pub(crate) struct ColumnArgs {
    /// Columns of the class probabilities: names, a range p_0..p_9, or a pattern p_* whose star is the name of the class
    /// [default: all columns of numbers, or those of the calibration].
    #[arg(long, value_name = "COLUMNS")]
    pub prob_cols: Option<String>,
    /// Column of the labels, in tables that hold them beside the probabilities.
    #[arg(long, value_name = "NAME")]
    pub label_col: Option<String>,
}

impl ColumnArgs {
    /// The patterns of the classes' columns, taken apart.
    pub(crate) fn patterns(&self) -> Result<Option<ColumnPatterns>, Failure> {
        let parsed = self.prob_cols.as_deref().map(ColumnPatterns::parse).transpose();
        parsed.map_err(|reason| Failure::Argument(format!("--prob-cols: {reason}")))
    }

    /// The labels of a table, as the argument of a column.
    pub(crate) fn labels_of(&self, table: &str, option: &str) -> Result<String, Failure> {
        match &self.label_col {
            Some(column) => Ok(format!("{table}:{column}")),
            None => Err(Failure::Argument(format!(
                "{option} {table}: say which column holds the labels (--label-col NAME)"
            ))),
        }
    }
}

/// Several files as one name: the first, and how many follow.
pub(crate) fn named_together(files: &[String]) -> String {
    match files {
        [] => String::new(),
        [one] => one.clone(),
        [first, more @ ..] => format!("{first} and {} more", more.len()),
    }
}

/// An option with several files, as a shell takes it.
pub(crate) fn option_words(option: &str, files: &[String]) -> Vec<String> {
    let files = files.iter().map(|file| crate::page::quoted(file));
    std::iter::once(option.to_owned()).chain(files).collect()
}

/// Names typed with commas between them.
pub(crate) fn listed(names: &str) -> Vec<String> {
    names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Probabilities and labels of calibration or test points: files, or one file and its columns.
#[derive(Debug, Clone)]
pub(crate) struct LabeledPaths {
    /// The matrix argument.
    pub probs: String,
    /// The argument of the labels.
    pub labels: String,
}

impl LabeledPaths {
    /// Of one table, or of two files; none where neither was given.
    pub(crate) fn of(
        (option, table): (&str, Option<&String>),
        probs: Option<&String>,
        labels: Option<&String>,
        columns: &ColumnArgs,
    ) -> Result<Option<Self>, Failure> {
        Ok(match (table, probs, labels) {
            (Some(table), ..) => {
                Some(Self { probs: table.clone(), labels: columns.labels_of(table, option)? })
            }
            (None, Some(probs), Some(labels)) => {
                Some(Self { probs: probs.clone(), labels: labels.clone() })
            }
            _ => None,
        })
    }
}
