//! Options -> settings -> options.

use evenkeel::level::FailureProbability;
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::{
    KnownRatios, Method, MethodName, OPTIONS, OptionKind, OptionSpec, OptionValues, Owners,
    TransportSettings,
};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use proptest::prelude::*;

/// Every method that is fitted, with nothing asked for.
fn fitted() -> impl Iterator<Item = MethodName> {
    MethodName::ALL.into_iter().filter(|name| *name != MethodName::Oracle)
}

fn made(name: MethodName, given: &OptionValues) -> Method {
    Method::from_options(name, given, KnownRatios::Absent).unwrap()
}

/// Some text that a row accepts, chosen by `pick`.
fn text_for(spec: &OptionSpec, pick: u64) -> String {
    let small = |numbers: &[&str]| numbers[pick as usize % numbers.len()].to_owned();
    match spec.kind {
        OptionKind::Choice(choices) => choices[pick as usize % choices.len()].word.to_owned(),
        OptionKind::Count(range) => {
            let most = range.most.unwrap_or(range.least + 5000);
            (range.least + pick as usize % (most - range.least + 1)).to_string()
        }
        OptionKind::NumberOrWord(_, choices) if pick.is_multiple_of(3) => {
            choices[pick as usize / 3 % choices.len()].word.to_owned()
        }
        OptionKind::Number(_) | OptionKind::NumberOrWord(..) if spec.name == "min-effective" => {
            small(&["1", "12.5", "1e9"])
        }
        OptionKind::Number(_) | OptionKind::NumberOrWord(..) => {
            small(&["0.1", "1e-7", "0.30000000000000004", "0.999"])
        }
        _ => pick.is_multiple_of(2).to_string(),
    }
}

proptest! {
    /// What a method says of its settings makes the same method again, whatever was asked for.
    #[test]
    fn a_method_is_made_again_of_its_options(picks in prop::collection::vec(any::<u64>(), OPTIONS.len())) {
        for name in fitted() {
            let mut given = OptionValues::default();
            for (spec, pick) in OPTIONS.iter().zip(&picks) {
                // Every third is left to its default.
                if spec.is_of_method(name) && pick % 3 != 1 {
                    given.set_text(spec.name, &text_for(spec, pick / 3)).unwrap();
                }
            }
            let Ok(method) = Method::from_options(name, &given, KnownRatios::Absent) else {
                prop_assert_eq!(given.get("sampling").map(|word| word.to_string()), Some("sampled".to_owned()));
                continue;
            };
            prop_assert!(method.is_made_of_options(), "{:?}", method);
            let again = OptionValues::from_pairs(method.options()).unwrap();
            prop_assert_eq!(made(name, &again), method);
            prop_assert_eq!(method.name(), name);
        }
    }

    #[test]
    fn a_score_is_made_again_of_its_options(picks in prop::collection::vec(any::<u64>(), OPTIONS.len()), seed in any::<u64>()) {
        for score in ["lac", "aps", "raps", "margin"] {
            let mut given = OptionValues::from_pairs([("score", score)]).unwrap();
            for (spec, pick) in OPTIONS.iter().zip(&picks) {
                if matches!(spec.owners, Owners::Scores(scores) if scores.contains(&score)) {
                    given.set_text(spec.name, &text_for(spec, *pick)).unwrap();
                }
            }
            let made = Score::from_options(&given, Seed::new(seed)).unwrap();
            let again = OptionValues::from_pairs(made.options()).unwrap();
            prop_assert_eq!(Score::from_options(&again, Seed::new(seed)).unwrap(), made);
        }
    }
}

#[test]
fn nothing_given_gives_the_settings_own_defaults() {
    let nothing = OptionValues::default();
    let ot = Method::OptimalTransport(TransportSettings::default());
    assert_eq!(made(MethodName::Ot, &nothing), ot);
    let Method::Auto(auto) = made(MethodName::Auto, &nothing) else { panic!("auto is auto") };
    assert_eq!(auto.level, FailureProbability::FIVE_PERCENT);
    assert_eq!(auto.permutations, 999);
    assert_eq!(Score::from_options(&nothing, Seed::new(3)).unwrap(), Score::Lac);
}

#[test]
fn every_row_has_a_default_or_says_what_holds_without() {
    for spec in OPTIONS {
        let default = spec.default_text();
        assert!(default.is_some() != spec.unset.is_some(), "{}: {default:?}", spec.name);
        let Some(text) = default else { continue };
        OptionValues::default().set_text(spec.name, &text).unwrap();
    }
    assert_eq!(OptionSpec::named("bandwidth-factor").unwrap().default_text().unwrap(), "0.1");
    assert_eq!(OptionSpec::named("raps-k").unwrap().default_text().unwrap(), "5");
}

#[test]
fn names_are_there_once() {
    for (index, spec) in OPTIONS.iter().enumerate() {
        assert!(OPTIONS[..index].iter().all(|other| other.name != spec.name), "{}", spec.name);
    }
}

#[test]
fn given_ratios_are_used_unless_an_estimator_was_asked_for() {
    let ratio = |given: &OptionValues, ratios| {
        Method::from_options(MethodName::LikelihoodRatio, given, ratios).unwrap().options()
    };
    let nothing = OptionValues::default();
    assert_eq!(ratio(&nothing, KnownRatios::Given), [("ratio", "known".to_owned())]);
    assert_eq!(ratio(&nothing, KnownRatios::Absent), [("ratio", "logistic".to_owned())]);
    let network = OptionValues::from_pairs([("ratio", "network")]).unwrap();
    assert_eq!(ratio(&network, KnownRatios::Given), [("ratio", "network".to_owned())]);
}

#[test]
fn settings_that_no_option_stands_for_are_noticed() {
    let by_hand = Method::OptimalTransport(TransportSettings {
        restriction: Some(evenkeel::level::MiscoverageRange::new(0.05, 0.2).unwrap()),
        ..TransportSettings::default()
    });
    assert!(!by_hand.is_made_of_options());
}

/// What a check at this level promises is what `auto` delivers: the same relabelings, the same failure probability.
#[test]
fn auto_and_check_at_a_level_agree() {
    let alpha = evenkeel::level::Miscoverage::new(0.1).unwrap();
    for (level, permutations) in [(0.05, 999), (0.01, 999), (0.001, 2000)] {
        let delta = FailureProbability::new(level).unwrap();
        let auto = AutoSettings::new(delta);
        let check = evenkeel::check::CheckSettings::new(alpha, delta, Seed::new(0));
        assert_eq!((auto.permutations, check.permutations), (permutations, permutations));
        assert_eq!(auto.plan.delta, delta);
    }
}
