//! `evenkeel manual`: the manual page, in roff, with every subcommand.

use clap::CommandFactory;

use crate::args::Cli;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn run() -> Result<Outcome, Failure> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    // Built first: subcommands know their full names and inherited options only then.
    command.build();
    let render = |command: clap::Command, page: &mut Vec<u8>| {
        clap_mangen::Man::new(command).render(page).map_err(Failure::Stdout)
    };
    render(command.clone(), &mut page)?;
    // `help` is clap's own and says nothing that the page does not.
    for subcommand in command.get_subcommands().filter(|command| command.get_name() != "help") {
        render(subcommand.clone(), &mut page)?;
    }
    print(&String::from_utf8_lossy(&page))?;
    Ok(Outcome::Done)
}
