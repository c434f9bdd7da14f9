//! Pages of every kind from sample data, to look at:
//! `cargo run -p evenkeel-report --example pages -- FOLDER`.
//!
//! The numbers are made up to look like a classifier of garments; nothing is computed.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::expect_used,
    missing_docs,
    unreachable_pub
)]

mod check;
mod comparison;
mod demo;
mod evidence;
mod study;

use evenkeel_report::render;

fn main() -> evenkeel::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let pages = [
        ("ok", render(&check::ok()?)),
        ("watch", render(&check::watch()?)),
        ("unknown", render(&check::unknown()?)),
        ("loss", render(&check::loss()?)),
        ("demo", render(&demo::demo()?)),
        ("compare", render(&comparison::comparison()?)),
        ("study", study::study()),
    ];
    for (name, page) in pages {
        let path = format!("{folder}/page-{name}.html");
        std::fs::write(&path, &page).expect("the page can be written");
        println!("{path}: {} bytes", page.len());
    }
    Ok(())
}
