//! `evenkeel manual`: the manual page, in roff or Markdown, with every subcommand.

use clap::CommandFactory;

use crate::args::{Cli, ManualArgs, ManualFormat};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output::print;
use crate::reference::markdown;

pub(crate) fn run(args: &ManualArgs) -> Result<Outcome, Failure> {
    let mut command = Cli::command();
    // Built first: subcommands know their full names and inherited options only then.
    command.build();
    match args.format {
        ManualFormat::Man => print(&man(&command)?)?,
        ManualFormat::Markdown => print(&markdown(&command))?,
    }
    Ok(Outcome::Done)
}

fn man(command: &clap::Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    let render = |command: clap::Command, page: &mut Vec<u8>| {
        clap_mangen::Man::new(command).render(page).map_err(Failure::Stdout)
    };
    render(command.clone(), &mut page)?;
    // `help` is clap's own and says nothing that the page does not.
    for subcommand in command.get_subcommands().filter(|command| command.get_name() != "help") {
        render(subcommand.clone(), &mut page)?;
    }
    Ok(String::from_utf8_lossy(&page).into_owned())
}
