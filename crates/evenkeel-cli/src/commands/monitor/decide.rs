//! What people bring: late labels, decisions.

use evenkeel_io::{AtomicFile, read_labels_of_ids, read_labels_of_rows};
use evenkeel_monitor::{BatchQuery, Choice, Decision, LateLabels, Model, Monitor, ProposalState};

use super::show::{status_lines, tell_alarm};
use super::{now, the_model};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::named_by;
use crate::monitor_args::{CalibrationArgs, DecideArgs, LabelsArgs, ProposeArgs};
use crate::output::{print, print_json};
use crate::progress::Verbosity;

pub(super) fn labels(args: &LabelsArgs) -> Result<Outcome, Failure> {
    let monitor = Monitor::open(&args.store.file.store)?;
    let model = the_model(&monitor, &args.store)?;
    let batch = numbered(&monitor, &model, &args.batch)?;
    let labels = labels_of(args, &monitor, &model, batch)?;
    let late = LateLabels { batch, labels: &labels, who: &args.who.who, at: now() };
    let received = monitor.add_labels(&model.name, &late)?;
    if let Some(alarm) = &received.alarm {
        tell_alarm(alarm, batch);
    }
    let outcome = if received.alarm.is_some() { Outcome::ConditionHolds } else { Outcome::Done };
    if args.show.json {
        print_json(&received)?;
        return Ok(outcome);
    }
    let (counted, since) = (&received.measured, &received.since_approval);
    print(&format!(
        "batch {batch}: {} of {} labels covered, {:.0} % ({:.0}-{:.0}); {} new.\n\
         since the last decision: {}, e-value {:.2}.\n",
        counted.covered,
        counted.k,
        100.0 * counted.value,
        100.0 * counted.low,
        100.0 * counted.high,
        received.new,
        since.words(),
        since.alarm.e_value(),
    ))?;
    Ok(outcome)
}

/// Rows and labels of the sheet; rows are numbered there, or named by the ids they came with.
fn labels_of(
    args: &LabelsArgs,
    monitor: &Monitor,
    model: &Model,
    batch: u64,
) -> Result<Vec<(u64, u64)>, Failure> {
    let reference = monitor.reference(model)?;
    let names = args.reading.table(&named_by(reference.calibration()), &[])?.names;
    let Some(column) = &args.id_col else {
        let found = read_labels_of_rows(&args.labels, &names)?;
        return Ok(found.pairs.iter().map(|(row, label)| (*row as u64, *label as u64)).collect());
    };
    let label_column = args.reading.columns.label_col.as_deref();
    if label_column == Some(column) {
        return Err(Failure::Argument(format!(
            "--id-col and --label-col both name {column}; ids and labels stand in two columns"
        )));
    }
    let found = read_labels_of_ids(&args.labels, column, label_column, &names)?;
    let (ids, labels): (Vec<String>, Vec<usize>) = found.into_iter().unzip();
    let rows = monitor.rows_of_ids(&model.name, batch, &ids)?;
    Ok(rows.into_iter().zip(labels.into_iter().map(|label| label as u64)).collect())
}

/// The number of a batch, typed as such or as the name of its file.
fn numbered(monitor: &Monitor, model: &Model, typed: &str) -> Result<u64, Failure> {
    if let Ok(number) = typed.parse() {
        return Ok(number);
    }
    let batches = monitor.history(&model.name, &BatchQuery::default())?;
    let mut named = batches.iter().filter(|batch| batch.name == typed).map(|batch| batch.batch);
    match (named.next(), named.next()) {
        (Some(number), None) => Ok(number),
        (None, _) => Err(Failure::Argument(format!(
            "--batch {typed}: no batch has this name; give its number, as `monitor run` prints it"
        ))),
        (Some(_), Some(_)) => Err(Failure::Argument(format!(
            "--batch {typed}: several batches have this name; give the number"
        ))),
    }
}

pub(super) fn propose(args: &ProposeArgs) -> Result<Outcome, Failure> {
    let monitor = Monitor::open(&args.store.file.store)?;
    let model = the_model(&monitor, &args.store)?;
    let number = monitor.propose(&model.name, now())?;
    let made =
        monitor.proposals(&model.name)?.into_iter().find(|proposal| proposal.proposal == number);
    match (args.show.json, made) {
        (true, made) => print_json(&made)?,
        (false, made) => {
            print(&status_lines(&monitor.status(&model.name)?, &args.store))?;
            if let Some(account) =
                made.map(|made| made.account).filter(|account| !account.is_empty())
            {
                print(&format!("{account}\n"))?;
            }
        }
    }
    Ok(Outcome::Done)
}

pub(super) fn approve(args: &DecideArgs) -> Result<Outcome, Failure> {
    decide(args, Choice::Approve)
}

pub(super) fn reject(args: &DecideArgs) -> Result<Outcome, Failure> {
    decide(args, Choice::Reject)
}

fn decide(args: &DecideArgs, choice: Choice) -> Result<Outcome, Failure> {
    let monitor = Monitor::open(&args.store.file.store)?;
    let model = the_model(&monitor, &args.store)?;
    let proposals = monitor.proposals(&model.name)?;
    let open = proposals.iter().find(|proposal| proposal.state == ProposalState::Open);
    let Some(proposal) = args.proposal.or(open.map(|proposal| proposal.proposal)) else {
        return Err(Failure::Argument(format!(
            "{} has no proposal that waits for a decision; `evenkeel monitor propose` makes one of batches whose rows were kept",
            model.name
        )));
    };
    // Before the decision, which cannot be taken back: a file that cannot be written must not follow it.
    let out = args.out.as_deref().map(AtomicFile::create).transpose()?;
    let decision = Decision { proposal, choice, who: &args.who, why: &args.why, at: now() };
    let model = monitor.decide(&model.name, &decision)?;
    if let Some(file) = out {
        file.write_whole(monitor.calibration(&model.name, None)?.calibration)?;
    }
    if args.show.json {
        print_json(&model)?;
        return Ok(Outcome::Done);
    }
    let done = match choice {
        Choice::Approve => format!("version {} of the calibration is in use", model.version),
        Choice::Reject => format!("version {} of the calibration stays in use", model.version),
    };
    print(&format!(
        "{}: {done}. The alarms begin anew with the rows of proposal {proposal}.\n",
        model.name
    ))?;
    Ok(Outcome::Done)
}

pub(super) fn calibration(args: &CalibrationArgs) -> Result<Outcome, Failure> {
    let monitor = Monitor::open(&args.store.file.store)?;
    let model = the_model(&monitor, &args.store)?;
    let version = monitor.calibration(&model.name, args.version)?;
    AtomicFile::create(&args.out)?.write_whole(&version.calibration)?;
    if args.show.json {
        print_json(&version)?;
    } else {
        let wrote = format!("wrote version {} to {}", version.version, args.out.display());
        Verbosity::of(args.show.quiet).note(&wrote);
    }
    Ok(Outcome::Done)
}
