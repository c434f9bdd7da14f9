//! Methods, scores and their options, as typed: made of the core's option table.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use evenkeel::method::{
    Choice, GivenValue, MethodName, OPTIONS, OptionKind, OptionSpec, OptionValues, Owners,
};

use crate::failure::Failure;

/// Options that were typed, or the first that cannot be meant: clap would add its usage to what the core says of it.
type Typed = Result<OptionValues, evenkeel::Error>;

/// Options of methods that were typed.
#[derive(Debug, Clone)]
pub(crate) struct MethodArgs(Typed);

/// The grid of a check's bounds, if typed.
#[derive(Debug, Clone)]
pub(crate) struct BoundGrid(Typed);

/// What a check assumes of the target data, or is told of them, if typed.
#[derive(Debug, Clone)]
pub(crate) struct Assumptions(Typed);

/// The score function and its options, as far as typed.
#[derive(Debug, Clone)]
pub(crate) struct Scoring(Typed);

/// Reads the name of a method.
pub(crate) fn method_parser() -> impl TypedValueParser<Value = MethodName> {
    let value = |method: MethodName| PossibleValue::new(method.as_str()).help(method.summary());
    PossibleValuesParser::new(MethodName::ALL.map(value))
        .try_map(|name: String| name.parse::<MethodName>())
}

/// The rows of the table that are of methods, those of one method together.
fn of_methods() -> impl Iterator<Item = &'static OptionSpec> {
    let mut seen: Vec<&str> = Vec::new();
    MethodName::ALL.into_iter().flat_map(MethodName::options).filter(move |spec| {
        // An option that two methods share is one flag, with the first of them.
        let new = !seen.contains(&spec.name);
        seen.push(spec.name);
        new
    })
}

fn of_scores() -> impl Iterator<Item = &'static OptionSpec> {
    OPTIONS.iter().filter(|spec| spec.is_of_scores())
}

fn the_bound_grid() -> impl Iterator<Item = &'static OptionSpec> {
    OPTIONS.iter().filter(|spec| spec.name == "bound-grid")
}

fn the_assumptions() -> impl Iterator<Item = &'static OptionSpec> {
    OPTIONS.iter().filter(|spec| matches!(spec.name, "assume" | "accuracy"))
}

/// What `--help` groups an option of a method or score under.
fn by_owner(spec: &OptionSpec) -> Option<String> {
    Some(match spec.owners {
        Owners::Methods(methods) => {
            let names: Vec<&str> = methods.iter().map(|method| method.as_str()).collect();
            format!("Options of {}", names.join(" and "))
        }
        Owners::Scores(_) | Owners::Everyone => "Score".to_owned(),
    })
}

fn none(_: &OptionSpec) -> Option<String> {
    None
}

/// The argument of a row. No default is given to clap: only what was typed counts as given, so that it can be refused
/// where it has no use.
fn argument(spec: &'static OptionSpec, heading: Option<String>) -> Arg {
    let mut help = spec.help.to_owned();
    let mut argument = Arg::new(spec.name).long(spec.name);
    if let Some(heading) = heading {
        argument = argument.help_heading(heading);
    }
    if let OptionKind::Flag = spec.kind {
        return argument.action(ArgAction::SetTrue).help(help);
    }
    let unset = spec.unset.map(str::to_owned).or_else(|| spec.default_text());
    help += &unset.map(|value| format!(" [default: {value}]")).unwrap_or_default();
    let argument = argument.help(help).value_name(placeholder(spec));
    match spec.kind {
        OptionKind::Choice(choices) => {
            let value = |choice: &Choice| PossibleValue::new(choice.word).help(choice.help);
            argument.value_parser(PossibleValuesParser::new(choices.iter().map(value)))
        }
        // Judged with all the others, in the words that every shell has for it.
        _ => argument.allow_negative_numbers(true),
    }
}

/// Stands for the value in `--help`.
fn placeholder(spec: &OptionSpec) -> String {
    match spec.kind {
        OptionKind::Count(_) => "N".to_owned(),
        OptionKind::NumberOrWord(_, choices) => {
            let words: Vec<&str> = choices.iter().map(|choice| choice.word).collect();
            format!("NUMBER|{}", words.join("|"))
        }
        OptionKind::Number(_) => "NUMBER".to_owned(),
        _ => spec.name.to_uppercase().replace('-', "_"),
    }
}

fn augmented(
    command: Command,
    rows: impl Iterator<Item = &'static OptionSpec>,
    heading: fn(&OptionSpec) -> Option<String>,
) -> Command {
    rows.fold(command, |command, spec| command.arg(argument(spec, heading(spec))))
}

/// What was typed.
fn given(matches: &ArgMatches, rows: impl Iterator<Item = &'static OptionSpec>) -> Typed {
    let mut values = OptionValues::default();
    for spec in rows {
        match spec.kind {
            // An absent flag sets false, which the core takes as not given.
            OptionKind::Flag => {
                values.set(spec.name, GivenValue::Flag(matches.get_flag(spec.name)))?;
            }
            _ => {
                if let Some(text) = matches.get_one::<String>(spec.name) {
                    values.set_text(spec.name, text)?;
                }
            }
        }
    }
    Ok(values)
}

/// Implements clap's traits for a wrapper of option values by rows of the table.
macro_rules! args_of_the_table {
    ($arguments:ident, $rows:ident, $heading:ident) => {
        impl $arguments {
            /// What was typed, in its ranges.
            pub(crate) fn values(&self) -> Result<&OptionValues, Failure> {
                // Raised when it is used and not while parsing, so that it is said as every other
                // error is.
                self.0.as_ref().map_err(|error| Failure::Core(error.clone()))
            }
        }

        impl FromArgMatches for $arguments {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                Ok(Self(given(matches, $rows())))
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl Args for $arguments {
            fn augment_args(command: Command) -> Command {
                augmented(command, $rows(), $heading)
            }

            fn augment_args_for_update(command: Command) -> Command {
                augmented(command, $rows(), $heading)
            }
        }
    };
}

args_of_the_table!(MethodArgs, of_methods, by_owner);
args_of_the_table!(Scoring, of_scores, by_owner);
args_of_the_table!(BoundGrid, the_bound_grid, none);
args_of_the_table!(Assumptions, the_assumptions, none);
