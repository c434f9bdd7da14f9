//! A command that writes, run once for each fault and once for each kill.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::running::{Scratch, binary, finish, program};
use crate::tree::{self, Compared, Tree};

const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENOMEM: i32 = 12;
const ENOSPC: i32 = 28;
/// As `shim.c` counts them.
const SHORT: i32 = -1;

/// Calls, and how each of them is made to fail.
pub(crate) const FAULTS: [(&str, &[i32]); 6] = [
    ("write", &[EIO, ENOSPC, EINTR, SHORT]),
    ("fsync", &[EIO, ENOSPC, EINTR]),
    ("rename", &[EIO, ENOSPC, EINTR]),
    ("open", &[EIO, ENOSPC, EINTR]),
    ("mmap", &[EIO, ENOSPC, ENOMEM]),
    ("alloc", &[ENOMEM]),
];

/// Kills of one command in the long form, with and without an earlier result: more than most of them make calls.
const MOST_KILLS: usize = 500;

/// The shim, compiled once. Whoever links Rust has a C compiler.
pub(crate) fn shim() -> &'static Path {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| compiled("shim.c", "faults-shim.so", &["-shared", "-fPIC"]))
}

/// The tracer, compiled once.
pub(crate) fn tracer() -> &'static Path {
    static TRACER: OnceLock<PathBuf> = OnceLock::new();
    TRACER.get_or_init(|| compiled("tracer.c", "faults-tracer", &[]))
}

fn compiled(source: &str, name: &str, flags: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults").join(source);
    let made = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut compiler = Command::new("cc");
    compiler.args(flags).args(["-O1", "-Wall", "-Wextra", "-Werror"]).arg(source);
    assert!(compiler.arg("-o").arg(&made).status().unwrap().success());
    made
}

/// A command that writes below a folder.
pub(crate) struct Subject {
    name: &'static str,
    pub(crate) scratch: Scratch,
    pub(crate) arguments: Vec<String>,
    /// A file that the command reads as its stdin; what it keeps of it goes below the folder too.
    pub(crate) stdin: Option<String>,
    /// Files that stand below the folder before, in every other run: what they held must be seen again.
    earlier: &'static [&'static str],
    /// Faults of each kind that the short form tries.
    sample: usize,
    /// Whether results hold seconds.
    pub(crate) compared: Compared,
}

/// How many runs were made, and what came of them.
#[derive(Default)]
struct Tally {
    faults: usize,
    kills: usize,
    calls: usize,
    left: usize,
    refused: usize,
    unharmed: usize,
    aborted: usize,
}

impl Subject {
    pub(crate) fn new(name: &'static str, earlier: &'static [&'static str], sample: usize) -> Self {
        let (scratch, arguments, compared) = (Scratch::new(), Vec::new(), Compared::ToTheByte);
        Self { name, scratch, arguments, stdin: None, earlier, sample, compared }
    }

    /// What the command reads and where it keeps that.
    fn with_stdin(&self, command: &mut Command) {
        if let Some(file) = &self.stdin {
            command.stdin(std::fs::File::open(file).unwrap()).env("TMPDIR", self.out());
        }
    }

    /// The folder the command writes to.
    fn out(&self) -> String {
        self.scratch.at("out")
    }

    fn command(&self) -> Command {
        let mut command = program();
        command.args(&self.arguments).current_dir(self.scratch.path());
        self.with_stdin(&mut command);
        command
    }

    /// The command with the shim in between.
    fn with_fault(&self, call: &str, at: usize, how: i32) -> Command {
        let mut command = self.command();
        command.env("LD_PRELOAD", shim()).env("FAULTS_CALL", call);
        command.env("FAULTS_AT", at.to_string()).env("FAULTS_HOW", how.to_string());
        command
    }

    /// An empty folder, or one with earlier results.
    fn prepare(&self, earlier: bool) {
        drop(std::fs::remove_dir_all(self.out()));
        std::fs::create_dir(self.out()).unwrap();
        for name in self.earlier.iter().filter(|_| earlier) {
            std::fs::write(PathBuf::from(self.out()).join(name), tree::EARLIER).unwrap();
        }
    }

    fn tree(&self) -> Tree {
        Tree::read(&PathBuf::from(self.out()))
    }

    /// How many calls of a kind a run makes.
    fn count(&self, call: &str) -> usize {
        self.prepare(false);
        let log = self.scratch.at("calls");
        let mut command = self.with_fault(call, 0, EIO);
        finish(command.env("FAULTS_LOG", OsString::from(&log))).done();
        let counted = std::fs::read_to_string(&log).unwrap_or_else(|error| {
            panic!("the shim was not loaded ({error}); these tests need a program linked to glibc")
        });
        counted.trim().parse().unwrap()
    }

    /// Runs the command once for each fault and each kill.
    pub(crate) fn run_all(&self) {
        let everything = std::env::var_os("EVENKEEL_FAULTS").is_some_and(|value| value == "all");
        self.prepare(false);
        finish(&mut self.command()).done();
        let expected = self.tree().expected(self.compared);
        let mut tally = Tally::default();
        for (call, kinds) in FAULTS {
            // The first page is the runtime's, before the first line of the program: it aborts without it.
            let before = usize::from(call == "mmap");
            let calls = self.count(call) - before;
            // Allocations go into the ten thousands: some of them, evenly spread, even in the long form.
            let most = match (everything, call) {
                (true, "alloc") => 50 * self.sample,
                (true, _) => usize::MAX,
                (false, _) => self.sample,
            };
            let tried = calls.min(most);
            for how in kinds {
                for k in 0..tried {
                    let at = before + 1 + k * calls / tried;
                    self.run_one(call, at, *how, &expected, &mut tally);
                }
            }
        }
        let most = if everything { MOST_KILLS } else { 4 * self.sample };
        self.kill_at_system_calls(most, &expected, &mut tally);
        let Tally { faults, kills, refused, unharmed, aborted, calls, left } = tally;
        println!(
            "{}: {faults} faults ({refused} refused with a sentence, {unharmed} made good, {aborted} ended by the runtime), \
             {kills} kills at {calls} system calls ({left} left a temporary file)",
            self.name
        );
        assert!(
            aborted * 20 <= faults,
            "{aborted} of {faults} allocations ended the process without a sentence"
        );
    }

    fn run_one(&self, call: &str, at: usize, how: i32, expected: &Tree, tally: &mut Tally) {
        let place = format!("{}: {call} number {at}, {how}", self.name);
        self.prepare(at.is_multiple_of(2));
        let output = ended(self.with_fault(call, at, how), &place);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let after = self.tree();
        after.assert_whole(expected, &place);
        tally.faults += 1;
        let code = output.status.code();
        assert!(after.leftovers() == 0 || code.is_none(), "{place}: {after:?}");
        match code {
            Some(0) => {
                tally.unharmed += 1;
                after.assert_complete(expected, &place);
            }
            Some(2) => {
                tally.refused += 1;
                let sentence = stderr.lines().last().unwrap_or_default();
                assert!(sentence.starts_with("error: "), "{place}: {stderr:?}");
                // A call that was only interrupted, or did part of the work, is done again.
                assert!(how != EINTR && how != SHORT, "{place}: {stderr}");
            }
            // Rust's runtime and the C library keep a few dozen bytes for each thread, which they get past our
            // allocator and cannot do without.
            None if call == "alloc" && stderr.contains("memory") => tally.aborted += 1,
            code => panic!("{place}: ended with {code:?}: {stderr}"),
        }
        self.run_again(expected, &place);
    }

    /// A clean run in the same place: complete, and nothing of the dead one left.
    fn run_again(&self, expected: &Tree, place: &str) {
        finish(&mut self.command()).done();
        let clean = self.tree();
        assert_eq!(clean.leftovers(), 0, "{place}: {clean:?}");
        clean.assert_complete(expected, place);
    }

    /// The command below the tracer, which kills it at this system call; 0: counts them.
    fn traced(&self, at: usize) -> Command {
        let mut command = Command::new(tracer());
        command.arg(at.to_string()).arg(self.scratch.at("calls")).arg(binary());
        command.args(&self.arguments).current_dir(self.scratch.path()).stdin(Stdio::null());
        self.with_stdin(&mut command);
        command
    }

    /// Kills the command at each of its system calls, evenly spread where they are more than `most`, with nothing in the target's
    /// place and with an earlier result there.
    fn kill_at_system_calls(&self, most: usize, expected: &Tree, tally: &mut Tally) {
        for earlier in [false, true] {
            self.prepare(earlier);
            let counted = ended(self.traced(0), self.name);
            assert!(counted.status.success(), "{}: {counted:?}", self.name);
            let log = std::fs::read_to_string(self.scratch.at("calls")).unwrap();
            let calls: usize = log.trim().parse().unwrap();
            tally.calls += calls;
            let tried = calls.min(most);
            for k in 0..tried {
                // The last call, which ends the process, is always among them.
                let at = (k + 1) * calls / tried;
                let place = format!("{}: killed at system call {at} of {calls}", self.name);
                self.prepare(earlier);
                let output = ended(self.traced(at), &place);
                assert!(output.status.success(), "{place}: {output:?}");
                tally.kills += 1;
                let after = self.tree();
                after.assert_whole(expected, &place);
                // Where nothing was left, a run in the same place is one in an untouched place, of which there are many.
                if after.leftovers() > 0 {
                    tally.left += 1;
                    self.run_again(expected, &place);
                }
            }
        }
    }
}

/// What a run left that must not wait forever.
pub(crate) fn ended(mut command: Command, place: &str) -> Output {
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while running.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            running.kill().unwrap();
            panic!("{place}: does not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    running.wait_with_output().unwrap()
}

/// Far longer than any of the commands takes.
const PATIENCE: Duration = Duration::from_secs(120);
