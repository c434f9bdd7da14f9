//! The first screen: every model, the worst first.

use std::cmp::Reverse;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use evenkeel_monitor::{History as _, Light, Model, Outbox as _};

use super::card::Card;
use super::visitor::{Reader, Visitor};
use crate::app::App;
use crate::facts::{Facts, facts};

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage<'a> {
    visitor: &'a Visitor,
    headline: String,
    models: Vec<Card>,
    dead_letters: usize,
    host: String,
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Reader { visitor, caller }: Reader,
) -> Response {
    let found = app.read(move |store| {
        let models =
            store.models()?.into_iter().filter(|model| caller.may_see(model.name.as_str()));
        let models: Vec<Model> = models.collect();
        let all: Result<Vec<Facts>, _> =
            models.into_iter().map(|model| facts(store, model)).collect();
        let dead = store.dead()?.into_iter().filter(|letter| caller.may_see(&letter.model)).count();
        Ok((all?, dead))
    });
    let (all, dead_letters) = match found.await {
        Ok(found) => found,
        Err(problem) => return super::trouble(&visitor, &problem),
    };
    let mut models: Vec<Card> = all.iter().map(Card::of).collect();
    models.sort_by_key(|card| Reverse(card.light));
    let page = OverviewPage {
        headline: headline(&models),
        models,
        dead_letters,
        host: visitor.host(),
        visitor: &visitor,
    };
    super::page(&visitor, StatusCode::OK, &page)
}

/// The answer before the list.
fn headline(models: &[Card]) -> String {
    let count = |light| models.iter().filter(|card| card.light == Some(light)).count();
    match (models.len(), count(Light::Red), count(Light::Amber)) {
        (0, ..) => "No models yet".into(),
        (all, 0, 0) if models.iter().all(|card| card.light.is_some()) => match all {
            1 => "Coverage holds".into(),
            all => format!("All {all} models hold their coverage"),
        },
        (_, 0, 0) => "Nothing to do".into(),
        (_, 0, 1) => "1 model to look at".into(),
        (_, 0, watch) => format!("{watch} models to look at"),
        (_, 1, _) => "1 model loses coverage".into(),
        (_, lost, _) => format!("{lost} models lose coverage"),
    }
}
