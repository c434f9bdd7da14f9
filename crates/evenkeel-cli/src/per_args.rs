//! Arguments about coverage for each class or group, as typed -> as resolved.

use clap::Args;
use evenkeel::level::Miscoverage;
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
    /// Coverage for each class (class), or for each group of a column: of the tables, or of --cal-groups and --unlabeled-groups.
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
    /// Opens the file, if one was given, or the column of the table that has the name of the groups; `by` is what the calibration
    /// calls them.
    pub(crate) fn open(&self, by: Option<&str>, table: &str) -> Result<Option<GroupFile>, Failure> {
        match (&self.groups, by) {
            (Some(file), _) => Ok(Some(GroupFile::open(file, by)?)),
            (None, Some(by)) => Ok(GroupFile::beside(table, by)?),
            (None, None) => Ok(None),
        }
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
    /// An error for words that do not go together; opens no file. Tables have columns to take groups from.
    pub(crate) fn check(&self, table: Option<&String>) -> Result<(), Failure> {
        match (self.per.as_deref(), &self.cal_groups) {
            (Some("class"), Some(_)) => Err(Failure::Argument(
                "--per class takes no groups: the labels are its groups; leave out --cal-groups and --unlabeled-groups, or give the \
                 column another name"
                    .into(),
            )),
            (Some(column), None) if column != "class" && table.is_none() => Err(Failure::Argument(format!(
                "--per {column} needs the group of each point; give --cal-groups and --unlabeled-groups, or a table that holds the \
                 column (--cal TABLE), or --per class"
            ))),
            _ => Ok(()),
        }
    }

    /// Columns of tables that are groups and no classes.
    pub(crate) fn columns(&self) -> Vec<String> {
        self.per.iter().filter(|per| *per != "class").cloned().collect()
    }

    /// An error for several rates: groups are merged until one is served.
    pub(crate) fn require_one(&self, rates: &[Miscoverage]) -> Result<(), Failure> {
        if !self.is_given() || rates.len() <= 1 {
            return Ok(());
        }
        Err(Failure::Argument(format!(
            "--alpha names {} rates, and --per takes one: small groups are merged for it; give one, and others to predict and evaluate",
            rates.len()
        )))
    }

    /// Opens the files, where there are groups; `tables` of calibration and target data may hold them in a column.
    pub(crate) fn resolve(&self, tables: Option<(&String, &[String])>) -> Result<Per, Failure> {
        self.check(tables.map(|(cal, _)| cal))?;
        let by = self.per.clone();
        match (by.as_deref(), self.cal_groups.as_ref().zip(self.unlabeled_groups.as_ref()), tables)
        {
            (_, Some((cal, unlabeled)), _) => Ok(Per::Group {
                cal: Box::new(GroupFile::open(cal, by.as_deref())?),
                unlabeled: Box::new(GroupFile::open(unlabeled, by.as_deref())?),
                by,
            }),
            (Some(column), None, Some((cal, unlabeled))) if column != "class" => {
                let open = |tables: &[String]| GroupFile::of_tables(tables, column);
                let cal = Box::new(open(std::slice::from_ref(cal))?);
                let unlabeled = Box::new(open(unlabeled)?);
                Ok(Per::Group { by, cal, unlabeled })
            }
            (Some(_), ..) => Ok(Per::Class),
            _ => Ok(Per::All),
        }
    }

    /// Whether groups are asked for, and not classes.
    fn has_groups(&self) -> bool {
        self.cal_groups.is_some() || self.per.as_deref().is_some_and(|per| per != "class")
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
            ("--other-groups", self.other_groups.is_some() && !per.has_groups()),
        ];
        match unused.into_iter().find(|(_, unused)| *unused) {
            None => Ok(()),
            Some((option, _)) => Err(Failure::Argument(format!(
                "{option} has no use without {}; leave it out",
                if option == "--small-groups" {
                    "--per"
                } else {
                    "groups (--per COLUMN, or --cal-groups)"
                }
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
