//! What cannot be meant is refused, in words that name no shell; a shell adds its own.

use evenkeel::error::{Error, Input, Spelling};
use evenkeel::method::{
    GivenValue, KnownRatios, Method, MethodName, OptionValues, require_a_user_among,
    require_and_refuse,
};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel::side_inputs::{PointSet, SideInput};

fn given(pairs: &[(&str, &str)]) -> OptionValues {
    OptionValues::from_pairs(pairs.iter().copied()).unwrap()
}

fn refused(name: MethodName, pairs: &[(&str, &str)]) -> String {
    Method::from_options(name, &given(pairs), KnownRatios::Absent).unwrap_err().to_string()
}

/// A shell that shouts.
struct Loud;

impl Spelling for Loud {
    fn spell(&self, input: Input) -> String {
        match input {
            Input::Option(name) => name.to_uppercase(),
            Input::Side(side, points) => format!("{points:?} {side:?}").to_uppercase(),
            _ => "LOGITS!".to_owned(),
        }
    }
}

#[test]
fn an_option_of_another_method() {
    assert_eq!(
        refused(MethodName::Ot, &[("gamma", "3")]),
        "method ot does not use gamma; conditional does"
    );
    assert_eq!(
        refused(MethodName::Auto, &[("steps", "3")]),
        "method auto does not use steps; ot does"
    );
    let pairs = given(&[("score", "lac"), ("raps-k", "3")]);
    let error = Score::from_options(&pairs, Seed::new(0)).unwrap_err();
    assert_eq!(error.to_string(), "score lac does not use raps-k; raps does");
    assert_eq!(error.spelled(&Loud), "score lac does not use RAPS-K; raps does");
    let randomised = given(&[("randomised", "true")]);
    let error = Score::from_options(&randomised, Seed::new(0)).unwrap_err();
    assert_eq!(error.to_string(), "score lac does not use randomised; aps and raps do");
    let error = given(&[("gamma", "2")]).require_used_by_check().unwrap_err();
    assert_eq!(error.to_string(), "check does not use gamma; conditional does");
    given(&[("bound-grid", "50"), ("score", "aps")]).require_used_by_check().unwrap();
}

#[test]
fn a_comparison_gives_every_method_its_own() {
    let options = given(&[("gamma", "3"), ("steps", "7"), ("score", "aps")]);
    let both = [MethodName::Ot, MethodName::Conditional];
    options.require_an_owner_among(&both).unwrap();
    for name in both {
        let own = options.of_method(name);
        Method::from_options(name, &own, KnownRatios::Absent).unwrap();
        assert!(own.get("score").is_some());
    }
    let error = options.require_an_owner_among(&[MethodName::Ot, MethodName::Ecp]).unwrap_err();
    assert_eq!(error.to_string(), "this comparison does not use gamma; conditional does");
}

#[test]
fn names_that_are_not_there() {
    let unknown = |name: &str| OptionValues::default().set_text(name, "1").unwrap_err().to_string();
    assert_eq!(unknown("stpes"), "there is no option \"stpes\"; did you mean steps?");
    assert_eq!(
        unknown("learning_rate"),
        "there is no option \"learning_rate\"; did you mean learning-rate?"
    );
    assert!(unknown("zzz").contains("the options are score, "), "{}", unknown("zzz"));
    let error = "ott".parse::<MethodName>().unwrap_err();
    assert_eq!(error.to_string(), "there is no method \"ott\"; did you mean ot?");
}

#[test]
fn values_out_of_their_range() {
    for (name, text, words) in [
        ("grid", "1", "grid is 1; it must be a whole number from 2 to 10000000"),
        ("steps", "many", "steps is \"many\"; it must be a whole number from 0 to 100000000"),
        ("ecp-power", "3", "ecp-power is 3; it must be a whole number from 1 to 2"),
        ("learning-rate", "NaN", "learning-rate is NaN; it must be a positive, finite number"),
        ("sandwich", "f_u", "sandwich is \"f_u\"; it must be one of f-u, min-max"),
        (
            "lambda",
            "best",
            "lambda is \"best\"; it must be a positive number between 1e-100 and 1e100, or cv",
        ),
    ] {
        assert_eq!(OptionValues::default().set_text(name, text).unwrap_err().to_string(), words);
    }
    let typed = OptionValues::default().set("steps", GivenValue::Number(1.5)).unwrap_err();
    assert_eq!(typed.spelled(&Loud), "STEPS is 1.5; it must be a whole number from 0 to 100000000");
    // Text is no number where types tell the two apart.
    assert!(OptionValues::default().set("steps", GivenValue::Word("5")).is_err());
}

#[test]
fn values_that_exclude_each_other() {
    let words = refused(MethodName::Ot, &[("sampling", "sampled"), ("sandwich", "min-max")]);
    assert_eq!(words, "sampling sampled does not go with sandwich min-max, which draws no labels");
}

#[test]
fn no_steps_where_steps_are_needed() {
    for options in [
        &[("steps", "0"), ("objective", "paper-grid")][..],
        &[("steps", "0"), ("objective", "finite-sample")],
        &[("steps", "0"), ("weights", "function")],
        &[("steps", "0"), ("sampling", "sampled")],
    ] {
        assert!(refused(MethodName::Ot, options).contains("give a number of steps"), "{options:?}");
    }
    let words = refused(MethodName::Ot, &[("steps", "0"), ("learning-rate", "0.01")]);
    assert!(words.contains("a learning rate without steps"), "{words}");
}

/// Who names a step size asks for steps; who names nothing gets the minimiser where there is one.
#[test]
fn steps_are_taken_where_they_are_asked_for_or_needed() {
    use evenkeel::method::Search::{Descent, Minimiser};
    for (options, expected) in [
        (&[][..], Minimiser),
        (&[("objective", "weighted-cdf")], Minimiser),
        (&[("sandwich", "min-max"), ("steps", "0")], Minimiser),
        (&[("steps", "7")], Descent),
        (&[("learning-rate", "0.01")], Descent),
        (&[("objective", "paper-grid")], Descent),
        (&[("weights", "function")], Descent),
    ] {
        let method = Method::from_options(MethodName::Ot, &given(options), KnownRatios::Absent);
        let Ok(Method::OptimalTransport(settings)) = method else { panic!("{options:?}") };
        assert_eq!(settings.search, expected, "{options:?}");
    }
}

#[test]
fn side_inputs_are_required_and_refused_by_one_rule() {
    use SideInput::{Features, Ratios, Weights};
    let judged = |name: MethodName, options: &[(&str, &str)], side: &[SideInput]| {
        let method = Method::from_options(name, &given(options), KnownRatios::Absent).unwrap();
        require_and_refuse(&method, PointSet::Calibration, side)
    };
    let words = |outcome: Result<(), Error>| outcome.unwrap_err().to_string();
    assert_eq!(
        words(judged(MethodName::Ot, &[], &[Features])),
        "method ot does not use calibration features; likelihood-ratio and conditional do"
    );
    assert_eq!(
        words(judged(MethodName::Fixed, &[], &[])),
        "method fixed needs calibration weights: one weight per calibration point"
    );
    assert_eq!(
        words(judged(MethodName::LikelihoodRatio, &[("ratio", "logistic")], &[Ratios])),
        "method likelihood-ratio with ratio logistic does not use calibration ratios; \
         likelihood-ratio with ratio known does"
    );
    let missing = judged(MethodName::LikelihoodRatio, &[("ratio", "known")], &[]).unwrap_err();
    assert_eq!(
        missing.spelled(&Loud),
        "method likelihood-ratio with RATIO known needs CALIBRATION RATIOS: one likelihood ratio per calibration point"
    );
    judged(MethodName::LikelihoodRatio, &[], &[Features]).unwrap();
    judged(MethodName::Conditional, &[], &[]).unwrap();
    judged(MethodName::Fixed, &[], &[Weights]).unwrap();
    let among =
        |methods: &[MethodName]| require_a_user_among(methods, PointSet::Calibration, &[Features]);
    among(&[MethodName::Ot, MethodName::Conditional]).unwrap();
    assert!(words(among(&[MethodName::Ot])).contains("conditional do"));
}

/// No message of the core names a flag: shells have names of their own.
#[test]
fn errors_name_no_flags() {
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let mut folders = vec![std::path::PathBuf::from(sources)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for (number, line) in text.lines().enumerate() {
                let code = line.split("//").next().unwrap_or_default();
                let flag = code
                    .split("--")
                    .skip(1)
                    .any(|after| after.starts_with(|first: char| first.is_ascii_lowercase()));
                assert!(!flag, "{}:{}: {line}", path.display(), number + 1);
            }
        }
    }
}
