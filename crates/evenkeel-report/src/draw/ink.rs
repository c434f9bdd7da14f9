//! `series -> colour, dash, marker`: colours, dashes and which belong together.
//!
//! Series colours are the Okabe-Ito hues, darkened on white and lightened on black until each stands out from the
//! paper by 3 : 1 or more. Series also differ by dash and marker, for readers and printers without colour.

use super::marker::Marker;

/// What something is drawn in; the colour follows from the mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Words and numbers that matter.
    Text,
    /// Tick labels and axis titles.
    Muted,
    /// The lines of the axes and their ticks.
    Axis,
    /// The faint lines across a plot.
    Grid,
    /// The background, and rims that lift marks off what lies below.
    Paper,
    /// A series; numbers wrap around.
    Series(usize),
}

/// Class, colour on white, colour on black.
type Shade = (&'static str, &'static str, &'static str);

const TEXT: Shade = ("text", "#1b2430", "#e8ecf1");
const MUTED: Shade = ("muted", "#55606e", "#a7b1be");
const AXIS: Shade = ("axis", "#8a94a1", "#6d7886");
const GRID: Shade = ("grid", "#e3e7ec", "#313844");
const PAPER: Shade = ("paper", "#ffffff", "#1a1f27");
// The order is part of every figure: a method keeps its colour from page to page.
const SERIES: [Shade; 8] = [
    ("k0", "#0064ad", "#6cb8ff"),
    ("k1", "#c44e00", "#ff955c"),
    ("k2", "#007f5c", "#43d3a6"),
    ("k3", "#a23a78", "#f2a0cd"),
    ("k4", "#8a6100", "#f0c34f"),
    ("k5", "#3584b8", "#a3dbff"),
    ("k6", "#6b5bb0", "#b9adff"),
    ("k7", "#5f6368", "#c3c8ce"),
];

impl Ink {
    fn shade(self) -> Shade {
        match self {
            Self::Text => TEXT,
            Self::Muted => MUTED,
            Self::Axis => AXIS,
            Self::Grid => GRID,
            Self::Paper => PAPER,
            Self::Series(index) => SERIES[index % SERIES.len()],
        }
    }

    /// `class` and `fill` of a filled shape or text.
    pub(super) fn as_fill(self) -> String {
        let (class, colour, _) = self.shade();
        format!("class=\"f-{class}\" fill=\"{colour}\"")
    }

    /// `class` and `stroke` of a line.
    pub(super) fn as_stroke(self) -> String {
        let (class, colour, _) = self.shade();
        format!("class=\"s-{class}\" stroke=\"{colour}\"")
    }

    /// The colour on white.
    pub(super) fn on_white(self) -> &'static str {
        self.shade().1
    }
}

/// How a line is broken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dash {
    /// One unbroken line.
    Solid,
    /// Dashes and gaps of similar length.
    Dashed,
    /// Dots with gaps twice as long.
    Dotted,
    /// A dash and a dot.
    Mixed,
    /// Long dashes with short gaps.
    Long,
}

impl Dash {
    /// The value of `stroke-dasharray`.
    pub(super) fn pattern(self) -> Option<&'static str> {
        match self {
            Self::Solid => None,
            Self::Dashed => Some("6 4"),
            Self::Dotted => Some("1.5 3.5"),
            Self::Mixed => Some("7 3 1.5 3"),
            Self::Long => Some("12 3"),
        }
    }
}

/// A kind of line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    /// What the line is drawn in.
    pub(crate) ink: Ink,
    /// Its width in user units.
    pub(crate) width: f64,
    /// How the line is broken up.
    pub(crate) dash: Dash,
}

impl Stroke {
    /// A line of this kind.
    pub(crate) fn new(ink: Ink, width: f64, dash: Dash) -> Self {
        Self { ink, width, dash }
    }
}

/// How a method looks in every figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SeriesStyle {
    /// How its curve is drawn.
    pub(crate) stroke: Stroke,
    /// Shape of its points.
    pub(crate) marker: Marker,
}

impl SeriesStyle {
    /// The look of the `index`-th series. Eight colours and five dashes: the first forty differ in one or the other.
    pub(crate) fn of(index: usize) -> Self {
        const DASHES: [Dash; 5] =
            [Dash::Solid, Dash::Dashed, Dash::Mixed, Dash::Dotted, Dash::Long];
        let stroke = Stroke::new(Ink::Series(index), 2.0, DASHES[index % DASHES.len()]);
        // Shifted by one in the second round, so that two series of one colour differ in their
        // markers.
        Self { stroke, marker: Marker::of(index + index / SERIES.len()) }
    }
}

/// The style sheet of the inks: colours of both modes, and the classes that use them.
pub(crate) fn style_sheet() -> String {
    let shades: Vec<Shade> = [TEXT, MUTED, AXIS, GRID, PAPER].into_iter().chain(SERIES).collect();
    let variables = |pick: fn(&Shade) -> &'static str| -> String {
        shades.iter().map(|shade| format!("--{}:{};", shade.0, pick(shade))).collect()
    };
    let (light, dark) = (variables(|shade| shade.1), variables(|shade| shade.2));
    let classes: String = shades
        .iter()
        .map(|(class, ..)| {
            format!(
                ".f-{class},.sf-{class}{{fill:var(--{class})}}.s-{class},.sf-{class}{{stroke:var(--{class})}}"
            )
        })
        .collect();
    format!(
        ":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n@media print{{:root{{{light}}}}}\n\
         {classes}\n"
    )
}
