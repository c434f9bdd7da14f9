//! What a command writes must not be what it reads: a slip of the tab key would replace the data.

use std::path::{Path, PathBuf};

use evenkeel_io::write::{FileIdentity, identity};
use evenkeel_io::{GroupFile, MatrixSource, text_of_path};

use crate::args::{
    BesideArgs, CalibrateArgs, CheckArgs, Command, CompareArgs, Deferred, SecondArgs,
};
use crate::args::{CalibrationFiles, EvaluateArgs, PredictArgs, Reading};
use crate::failure::Failure;
use crate::label_args::LabelArgs;
use crate::monitor_args::{MonitorCommand, StoreArgs};
use crate::per_args::PerArgs;

/// A flag and the file it names.
type Named = (&'static str, PathBuf);

/// Refuses a command that would replace one of its inputs, or write two outputs to one file. Links of both kinds are
/// followed. Before anything is read or written.
pub(crate) fn require_apart(command: &Command) -> Result<(), Failure> {
    let (inputs, outputs) = match command {
        Command::Check(Deferred(args)) => of_check(args),
        Command::Calibrate(Deferred(args)) => of_calibrate(args),
        Command::Predict(Deferred(args)) => of_predict(args),
        Command::Compare(Deferred(args)) => of_compare(args),
        Command::Evaluate(Deferred(args)) => of_evaluate(args),
        Command::Label(Deferred(args)) => of_label(args),
        // It writes to its store, which it alone names.
        #[cfg(feature = "serve")]
        Command::Serve(_) => return Ok(()),
        Command::Monitor(command) => of_monitor(command),
        // These write to stdout, or into a folder under names of their own.
        Command::Demo(_) | Command::Reproduce(_) | Command::Completions(_) | Command::Manual(_) => {
            return Ok(());
        }
    };
    refuse_two_stdins(&inputs)?;
    let identified = |files: Vec<Named>| -> Vec<(Named, FileIdentity)> {
        files.into_iter().filter_map(|file| Some((file.clone(), identity(&file.1)?))).collect()
    };
    let folders = of_folders(&inputs);
    let (inputs, outputs) = (identified(inputs), identified(outputs));
    for (at, ((flag, path), output)) in outputs.iter().enumerate() {
        if let Some((input, folder)) = folders.iter().find(|(_, folder)| folder.would_read(path)) {
            return Err(Failure::Argument(format!(
                "{flag} {} would be one of the tables of {input} {folder} when these are read again; write it elsewhere",
                path.display()
            )));
        }
        if let Some(((input, _), _)) = inputs.iter().find(|(_, input)| input == output) {
            return Err(Failure::Argument(format!(
                "{flag} {} is the file of {input}, which it would replace; choose another name",
                path.display()
            )));
        }
        if let Some(((other, _), _)) = outputs[..at].iter().find(|(_, other)| other == output) {
            return Err(Failure::Argument(format!(
                "{other} and {flag} name the same file, {}; choose two names",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Where the command that follows a check may write: the first of the names that is no file of the check, then the last of
/// them with a number. [`require_apart`] would refuse one that is.
pub(crate) fn name_beside(args: &CheckArgs, names: [&str; 2], extension: &str) -> String {
    free_name(&of_check(args).0, names, extension)
}

/// The same for the command that follows an evaluation.
pub(crate) fn name_beside_evaluated(
    args: &EvaluateArgs,
    names: [&str; 2],
    extension: &str,
) -> String {
    free_name(&of_evaluate(args).0, names, extension)
}

fn free_name(inputs: &[Named], [first, other]: [&str; 2], extension: &str) -> String {
    let read: Vec<FileIdentity> = inputs.iter().filter_map(|(_, path)| identity(path)).collect();
    // A folder of that name has no identity, and cannot be written to.
    let is_free =
        |name: &String| identity(Path::new(name)).is_some_and(|found| !read.contains(&found));
    let numbered = (2..=read.len() + 2).map(|number| format!("{other}-{number}"));
    let mut names = [first.to_owned(), other.to_owned()].into_iter().chain(numbered);
    let named = names.find_map(|name| Some(format!("{name}.{extension}")).filter(is_free));
    named.unwrap_or_else(|| format!("{first}.{extension}"))
}

/// The inputs that stand for all tables of a folder, or for those that fit a pattern.
fn of_folders(inputs: &[Named]) -> Vec<(&'static str, MatrixSource)> {
    let source = |(flag, path): &Named| {
        let source = MatrixSource::parse(&text_of_path(path)).ok()?;
        (path.as_os_str() != STDIN).then_some((*flag, source))
    };
    // What is one file is compared by its identity.
    inputs.iter().filter(|(_, path)| !path.is_file()).filter_map(source).collect()
}

/// An error if calibration data and other rows are both to come on stdin, which is one table.
fn refuse_two_stdins(inputs: &[Named]) -> Result<(), Failure> {
    let typed = |(_, path): &&Named| path.as_os_str() == STDIN;
    let cal = inputs.iter().filter(typed).find(|(flag, _)| flag.starts_with("--cal"));
    let other = inputs.iter().filter(typed).find(|(flag, _)| !flag.starts_with("--cal"));
    match (cal, other) {
        (Some((one, _)), Some((two, _))) => Err(Failure::Argument(format!(
            "{one} and {two} are both stdin, which holds one table; give one of them as a file"
        ))),
        _ => Ok(()),
    }
}

/// What stands for stdin.
const STDIN: &str = "-";

/// Inputs and outputs.
type Files = (Vec<Named>, Vec<Named>);

fn of_check(args: &CheckArgs) -> Files {
    let mut inputs = labeled(&args.reference.files);
    inputs.extend(plain("--calibration", args.reference.calibration.as_deref()));
    inputs.extend(several("--unlabeled", &args.unlabeled));
    inputs.extend(optional("--target-labels", args.target_labels.as_deref()));
    inputs.extend(second(&args.second));
    inputs.extend(groups(&args.per));
    inputs.extend(names(&args.reading));
    (inputs, plain("--html", args.page.html.as_deref()))
}

fn of_calibrate(args: &CalibrateArgs) -> Files {
    let mut inputs = labeled(&args.made_of.files);
    inputs.extend(plain("--update", args.made_of.update.as_deref()));
    inputs.extend(plain("--calibration", args.made_of.calibration.as_deref()));
    inputs.extend(several("--unlabeled", &args.unlabeled));
    inputs.extend(beside(&args.beside));
    inputs.extend(groups(&args.per));
    inputs.extend(names(&args.reading));
    (inputs, plain("--out", Some(&args.out)))
}

fn of_predict(args: &PredictArgs) -> Files {
    let mut inputs = plain("--calibration", Some(&args.calibration));
    inputs.extend(matrix("--probs", &args.probs));
    inputs.extend(optional("--features", args.beside.features.as_deref()));
    inputs.extend(optional("--ratios", args.beside.ratios.as_deref()));
    inputs.extend(group_file("--groups", args.groups.groups.as_deref()));
    inputs.extend(names(&args.reading));
    (inputs, crate::commands::outs(args).iter().flat_map(|out| plain("--out", Some(out))).collect())
}

fn of_evaluate(args: &EvaluateArgs) -> Files {
    let mut inputs = plain("--calibration", Some(&args.calibration));
    inputs.extend(matrix("--probs", &args.probs));
    inputs.extend(optional("--labels", args.labels.as_deref()));
    inputs.extend(optional("--features", args.beside.features.as_deref()));
    inputs.extend(optional("--ratios", args.beside.ratios.as_deref()));
    inputs.extend(group_file("--groups", args.groups.groups.as_deref()));
    inputs.extend(names(&args.reading));
    (inputs, plain("--html", args.page.html.as_deref()))
}

fn of_compare(args: &CompareArgs) -> Files {
    let mut inputs = labeled(&args.labeled.files);
    inputs.extend(several("--unlabeled", &args.unlabeled));
    inputs.extend(matrix("--test-probs", &args.test_probs));
    inputs.extend(optional("--test-labels", args.test_labels.as_deref()));
    inputs.extend(beside(&args.beside));
    inputs.extend(optional("--test-features", args.test_features.as_deref()));
    inputs.extend(optional("--test-ratios", args.test_ratios.as_deref()));
    inputs.extend(names(&args.reading));
    let mut outputs = plain("--html", args.page.html.as_deref());
    outputs.extend(plain("--csv", args.csv.as_deref()));
    (inputs, outputs)
}

fn of_label(args: &LabelArgs) -> Files {
    let mut inputs = several("--unlabeled", &args.unlabeled);
    inputs.extend(plain("--calibration", args.calibration.as_deref()));
    inputs.extend(plain("--ids", args.ids.as_deref()));
    // A sheet of before stays: what is half filled in must not be lost to a slip.
    inputs.extend(plain("--resume", args.resume.as_deref()));
    inputs.extend(names(&args.reading));
    (inputs, plain("--out", args.out.as_deref()))
}

fn of_monitor(command: &MonitorCommand) -> Files {
    let store = |store: &StoreArgs| plain("--store", Some(&store.file.store));
    match command {
        MonitorCommand::Add(Deferred(args)) => {
            let mut inputs = plain("--reference", Some(&args.reference));
            inputs.extend(optional("--baseline", args.watch.baseline.as_deref()));
            inputs.extend(names(&args.reading));
            (inputs, store(&args.store))
        }
        MonitorCommand::Run(Deferred(args)) => {
            let mut inputs = plain("--reference", args.reference.as_deref());
            inputs.extend(several("--batches", &args.batches));
            inputs.extend(optional("--baseline", args.watch.baseline.as_deref()));
            inputs.extend(names(&args.reading));
            let mut outputs = store(&args.store);
            outputs.extend(plain("--prometheus", args.written.prometheus.as_deref()));
            outputs.extend(plain("--html", args.written.html.as_deref()));
            (inputs, outputs)
        }
        MonitorCommand::Status(Deferred(args)) => {
            let mut outputs = plain("--prometheus", args.written.prometheus.as_deref());
            outputs.extend(plain("--html", args.written.html.as_deref()));
            (store(&args.store), outputs)
        }
        MonitorCommand::Export(Deferred(args)) => {
            (store(&args.store), plain("--out", Some(&args.out)))
        }
        MonitorCommand::Labels(Deferred(args)) => {
            (optional("--labels", Some(&args.labels)), store(&args.store))
        }
        MonitorCommand::Propose(Deferred(args)) => (Vec::new(), store(&args.store)),
        MonitorCommand::Approve(Deferred(args)) | MonitorCommand::Reject(Deferred(args)) => {
            (store(&args.store), plain("--out", args.out.as_deref()))
        }
        MonitorCommand::Calibration(Deferred(args)) => {
            (store(&args.store), plain("--out", Some(&args.out)))
        }
        MonitorCommand::Backup(Deferred(args)) => {
            (plain("--store", Some(&args.store.store)), plain("--out", Some(&args.out)))
        }
    }
}

fn labeled(labeled: &CalibrationFiles) -> Vec<Named> {
    let mut files = optional("--cal-probs", labeled.cal_probs.as_deref());
    files.extend(optional("--cal-labels", labeled.cal_labels.as_deref()));
    files.extend(optional("--cal", labeled.cal.as_deref()));
    files
}

fn beside(beside: &BesideArgs) -> Vec<Named> {
    let mut files = optional("--cal-features", beside.cal_features.as_deref());
    files.extend(optional("--unlabeled-features", beside.unlabeled_features.as_deref()));
    files.extend(optional("--cal-ratios", beside.cal_ratios.as_deref()));
    files.extend(optional("--weights-file", beside.weights_file.as_deref()));
    files.extend(optional("--target-labels", beside.target_labels.as_deref()));
    files.extend(second(&beside.second));
    files
}

fn second(second: &SecondArgs) -> Vec<Named> {
    let mut files = several("--second-cal-probs", &second.second_cal_probs);
    files.extend(several("--second-probs", &second.second_probs));
    files
}

fn groups(per: &PerArgs) -> Vec<Named> {
    let mut files = group_file("--cal-groups", per.cal_groups.as_deref());
    files.extend(group_file("--unlabeled-groups", per.unlabeled_groups.as_deref()));
    files
}

/// The file of a column of groups, without the column.
fn group_file(flag: &'static str, argument: Option<&str>) -> Vec<Named> {
    argument.and_then(GroupFile::path_of).map(|path| (flag, path)).into_iter().collect()
}

fn names(reading: &Reading) -> Vec<Named> {
    plain("--class-names", reading.class_names.as_deref())
}

fn optional(flag: &'static str, argument: Option<&str>) -> Vec<Named> {
    argument.map(|argument| matrix(flag, argument)).unwrap_or_default()
}

fn several(flag: &'static str, arguments: &[String]) -> Vec<Named> {
    arguments.iter().flat_map(|argument| matrix(flag, argument)).collect()
}

/// The file of a matrix argument, without its selector. What names no matrix is refused where it is read, in better words.
fn matrix(flag: &'static str, argument: &str) -> Vec<Named> {
    // Not read here: it is no file, and nothing written can replace it.
    if argument == STDIN || argument.starts_with("-:") {
        return vec![(flag, PathBuf::from(STDIN))];
    }
    let Ok(source) = MatrixSource::parse(argument) else { return Vec::new() };
    let files = source.files().into_iter().chain([source.path().to_path_buf()]);
    files.map(|path| (flag, path)).collect()
}

fn plain(flag: &'static str, path: Option<&Path>) -> Vec<Named> {
    path.map(|path| (flag, path.to_path_buf())).into_iter().collect()
}
