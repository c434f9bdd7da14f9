//! The reference of the command line in Markdown: every command with its options, from the table that parses them.

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};

/// Options that every command has, and that say nothing of it.
const OF_CLAP: [&str; 3] = ["help", "version", "subcommand"];

/// The whole reference of a program whose command is built.
pub(crate) fn markdown(program: &Command) -> String {
    let mut page = String::from("# Command line reference\n\n");
    page.push_str("Printed by `evenkeel manual --format markdown`, from the table that parses the arguments. ");
    page.push_str("[Options](../options.md) says which method takes which option, with its values and default.\n\n");
    let _ = writeln!(page, "{}", one_line(program.get_about()));
    after(&mut page, program);
    for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
        describe(&mut page, command, 2);
    }
    page
}

fn describe(page: &mut String, command: &Command, depth: usize) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let _ = write!(page, "\n{} {name}\n\n{}\n", "#".repeat(depth), one_line(command.get_about()));
    let mut parts: Vec<(String, Vec<&Arg>)> = Vec::new();
    for option in command.get_arguments() {
        if option.is_hide_set() || OF_CLAP.contains(&option.get_id().as_str()) {
            continue;
        }
        let part = match option.get_help_heading() {
            Some(heading) => heading.to_owned(),
            None if option.is_positional() => "Arguments".to_owned(),
            None => "Options".to_owned(),
        };
        match parts.iter_mut().find(|(known, _)| *known == part) {
            Some((_, options)) => options.push(option),
            None => parts.push((part, vec![option])),
        }
    }
    for (part, options) in parts {
        let _ = write!(page, "\n| {part} | |\n|---|---|\n");
        for option in options {
            let _ = writeln!(page, "| {} | {} |", spelled(option), meaning(option));
        }
    }
    after(page, command);
    let deeper = command.get_subcommands().filter(|command| command.get_name() != "help");
    for command in deeper {
        describe(page, command, depth + 1);
    }
}

/// What stands below the help of a command: examples, and what its words mean.
fn after(page: &mut String, command: &Command) {
    if let Some(text) = command.get_after_long_help().or(command.get_after_help()) {
        let _ = write!(page, "\n```text\n{}\n```\n", text.to_string().trim_end());
    }
}

/// An option as it is typed, with what it takes.
fn spelled(option: &Arg) -> String {
    let values: Vec<String> = match option.get_action().takes_values() {
        false => Vec::new(),
        true => option
            .get_value_names()
            .unwrap_or_default()
            .iter()
            .map(|name| format!("<{name}>"))
            .collect(),
    };
    let more =
        if option.get_num_args().is_some_and(|count| count.max_values() > 1) { "..." } else { "" };
    let names = option.get_long_and_visible_aliases().unwrap_or_default();
    let typed = match names.is_empty() {
        true => values.join(" "),
        false => {
            let names: Vec<String> = names.iter().map(|name| format!("--{name}")).collect();
            [names.join(", "), values.join(" ")].join(" ")
        }
    };
    format!("`{}{more}`", typed.trim_end())
}

/// What an option does, with its words, its default and whether it is needed or repeatable: a sentence each.
fn meaning(option: &Arg) -> String {
    let help = option.get_help().or(option.get_long_help());
    let help = one_line(help).replace('|', "\\|");
    let (help, default_in_words) = without_default(&help);
    let mut text = help.to_owned();
    if !text.ends_with('.') {
        text.push('.');
    }
    let possible: Vec<String> = match option.get_action().takes_values() {
        true => option
            .get_possible_values()
            .iter()
            .map(|value| format!("`{}`", value.get_name()))
            .collect(),
        false => Vec::new(),
    };
    if !possible.is_empty() {
        let _ = write!(text, " One of {}.", possible.join(", "));
    }
    let defaults: Vec<String> = option
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    if option.get_action().takes_values() && !defaults.is_empty() {
        let _ = write!(text, " Default: `{}`.", defaults.join(","));
    } else if let Some(default) = default_in_words {
        let _ = write!(text, " Default: {default}.");
    }
    if option.is_required_set() {
        text.push_str(" Required.");
    }
    if matches!(option.get_action(), ArgAction::Append) && option.get_value_delimiter().is_none() {
        text.push_str(" May be repeated.");
    }
    text
}

/// Help without the default that stands at its end, where it takes more than a value to say it, and that default.
fn without_default(help: &str) -> (&str, Option<&str>) {
    let found = help.trim_end_matches('.').strip_suffix(']');
    let parts = found.and_then(|rest| rest.rsplit_once(" [default: "));
    parts.map_or((help, None), |(words, default)| (words, Some(default)))
}

fn one_line(text: Option<&StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_an_option_is_sentences() {
        let option = Arg::new("out").long("out").value_name("DIR").help("Folder for the data");
        assert_eq!(meaning(&option), "Folder for the data.");
        assert_eq!(
            meaning(&option.clone().default_value("d")),
            "Folder for the data. Default: `d`."
        );
        let in_words =
            option.clone().help("Score [default: lac; in auto plan]").value_parser(["lac"]);
        assert_eq!(meaning(&in_words), "Score. One of `lac`. Default: lac; in auto plan.");
        let needed = option.help("File. Made where there is none.").required(true);
        assert_eq!(meaning(&needed), "File. Made where there is none. Required.");
    }
}
