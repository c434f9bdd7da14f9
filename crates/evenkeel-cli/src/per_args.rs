//! Arguments about coverage for each class or group, as typed -> as resolved.

use clap::Args;
use evenkeel::per_group::SmallGroups;
use evenkeel_io::GroupFile;
use evenkeel_jobs::grouped::{GroupJob, OtherGroups};

use crate::args::file_parser;
use crate::failure::Failure;

const PER_GROUP: &str = "Coverage for each class or group";

/// Whose coverage is to hold, for jobs that have calibration and target data.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = PER_GROUP)]
pub(crate) struct PerArgs {
    /// Coverage for each class (class), or for each group of a column, which --cal-groups and --unlabeled-groups hold.
    #[arg(long, value_name = "class|COLUMN")]
    pub per: Option<String>,
    /// The group of each calibration point: a csv file with a header, FILE.csv:COLUMN, or whole numbers.
    #[arg(long, value_name = "FILE", value_parser = file_parser(), requires = "unlabeled_groups")]
    pub cal_groups: Option<String>,
    /// The group of each target point.
    #[arg(long, value_name = "FILE", value_parser = file_parser(), requires = "cal_groups")]
    pub unlabeled_groups: Option<String>,
}

/// What becomes of small and of unknown groups.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = PER_GROUP)]
pub(crate) struct SmallArgs {
    /// Classes or groups with too few points for the level: merge them, refuse them, or give them all-labels [default: merge].
    #[arg(long, value_name = "WHAT", value_parser = SmallGroups::NAMES)]
    pub small_groups: Option<String>,
    /// Rows of groups without calibration points: refuse them, or use the pooled threshold of all groups [default: refuse].
    #[arg(long, value_name = "WHAT", value_parser = ["refuse", "pooled"])]
    pub other_groups: Option<String>,
}

/// The groups of points to predict.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = PER_GROUP)]
pub(crate) struct GroupsOfPoints {
    /// The group of each of these points: a csv file with a header, FILE.csv:COLUMN, or whole numbers.
    #[arg(long, value_name = "FILE", value_parser = file_parser())]
    pub groups: Option<String>,
}

impl GroupsOfPoints {
    /// Opens the file, if one was given; `by` is what the calibration calls its groups.
    pub(crate) fn open(&self, by: Option<&str>) -> Result<Option<GroupFile>, Failure> {
        Ok(self.groups.as_deref().map(|file| GroupFile::open(file, by)).transpose()?)
    }
}

/// Whose coverage is to hold.
#[derive(Debug)]
pub(crate) enum Per {
    /// That of all points together.
    All,
    /// That of each class.
    Class,
    /// That of each group.
    Group { by: Option<String>, cal: Box<GroupFile>, unlabeled: Box<GroupFile> },
}

impl PerArgs {
    /// An error for words that do not go together; opens no file.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match (self.per.as_deref(), &self.cal_groups) {
            (Some("class"), Some(_)) => Err(Failure::Argument(
                "--per class takes no groups: the labels are its groups; leave out --cal-groups and --unlabeled-groups, or give the \
                 column another name"
                    .into(),
            )),
            (Some(column), None) if column != "class" => Err(Failure::Argument(format!(
                "--per {column} needs the group of each point; give --cal-groups and --unlabeled-groups, or --per class"
            ))),
            _ => Ok(()),
        }
    }

    /// Opens the files, where there are groups.
    pub(crate) fn resolve(&self) -> Result<Per, Failure> {
        self.check()?;
        let by = self.per.clone();
        match (by.as_deref(), &self.cal_groups, &self.unlabeled_groups) {
            (_, Some(cal), Some(unlabeled)) => Ok(Per::Group {
                cal: Box::new(GroupFile::open(cal, by.as_deref())?),
                unlabeled: Box::new(GroupFile::open(unlabeled, by.as_deref())?),
                by,
            }),
            (Some(_), ..) => Ok(Per::Class),
            _ => Ok(Per::All),
        }
    }

    pub(crate) fn is_given(&self) -> bool {
        self.per.is_some() || self.cal_groups.is_some()
    }
}

impl SmallArgs {
    /// An error for options that change nothing.
    pub(crate) fn check(&self, per: &PerArgs) -> Result<(), Failure> {
        let unused = [
            ("--small-groups", self.small_groups.is_some() && !per.is_given()),
            ("--other-groups", self.other_groups.is_some() && per.cal_groups.is_none()),
        ];
        match unused.into_iter().find(|(_, unused)| *unused) {
            None => Ok(()),
            Some((option, _)) => Err(Failure::Argument(format!(
                "{option} has no use without {}; leave it out",
                if option == "--small-groups" { "--per" } else { "--cal-groups" }
            ))),
        }
    }

    /// What becomes of small groups.
    pub(crate) fn small(&self) -> Result<SmallGroups, Failure> {
        Ok(self.small_groups.as_deref().map(SmallGroups::of_name).transpose()?.unwrap_or_default())
    }

    /// The same for groups that are called `by`.
    pub(crate) fn job(&self, by: Option<String>) -> Result<GroupJob, Failure> {
        let others = match self.other_groups.as_deref() {
            Some("pooled") => OtherGroups::Pooled,
            _ => OtherGroups::Refuse,
        };
        Ok(GroupJob { by, small: self.small()?, others })
    }
}
