//! Densities of one quantity over many runs, one curve per method (the paper's Figs 3 and 5).

use evenkeel::measure::{Bandwidth, GaussianKde, Support, WeightedEmpirical};

use super::Drawing;
use crate::draw::{
    Axis, Canvas, Dash, Entry, Ink, Panel, Point, Range, SeriesStyle, StripMark, Stroke, Swatch,
    TickText, draw_legend, draw_strip,
};

const HEIGHT: f64 = 210.0;
/// Number of points at which a curve is evaluated.
const POINTS: usize = 240;
/// Narrowest kernel as a share of the axis: a method whose runs all agree is a peak, not a division by zero.
const NARROWEST: f64 = 2e-3;

/// How the horizontal axis is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DensityAxis {
    /// Values as plain numbers.
    Plain,
    /// Shares as percentages; the axis ends at 100 %.
    Percent,
}

/// The values of one method over all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct DensitySeries {
    /// Name of the method, for the legend.
    pub label: String,
    /// One value per run; those that are not finite are left out.
    pub values: Vec<f64>,
}

/// A figure of densities.
#[derive(Debug, Clone, PartialEq)]
pub struct DensityPlot {
    /// Name of the figure, fit for a file.
    pub name: String,
    /// Heading above the figure.
    pub title: String,
    /// How to read it, as plain text.
    pub caption: String,
    /// The quantity measured, the title of the horizontal axis.
    pub quantity: String,
    /// How the axis is written.
    pub axis: DensityAxis,
    /// A value to mark, and its name.
    pub mark: Option<(f64, String)>,
    /// The methods, in the order of the legend.
    pub series: Vec<DensitySeries>,
}

/// Draws the densities, by Gaussian kernels of Scott's width; none if there is no finite value.
///
/// The axis spans from the 0.5 % to the 99.5 % quantile of all values, so that one runaway run does not hide the rest.
pub fn density_plot(plot: &DensityPlot) -> Option<Drawing> {
    let range = shown_range(plot)?;
    let curves: Vec<Vec<(f64, f64)>> =
        plot.series.iter().map(|series| curve(&series.values, range)).collect();
    let highest =
        Range::around(curves.iter().flatten().map(|point| point.1))?.including(0.0).high();
    let mut canvas = Canvas::new();
    let entries: Vec<Entry> = plot
        .series
        .iter()
        .enumerate()
        .map(|(index, series)| {
            Entry::new(Swatch::Line(SeriesStyle::of(index).stroke), series.label.as_str())
        })
        .collect();
    let top = draw_legend(&mut canvas, &entries, 0.0);
    let text = match plot.axis {
        DensityAxis::Plain => TickText::Plain,
        DensityAxis::Percent => TickText::Percent,
    };
    let mut panel = Panel::new(
        top,
        HEIGHT,
        Axis::new(&plot.quantity, range, text),
        Axis::new("density over runs", Range::new(0.0, highest), TickText::Nothing),
    );
    let mut lines = Canvas::new();
    if let Some((x, label)) = &plot.mark {
        let stroke = Stroke::new(Ink::Text, 1.3, Dash::Dashed);
        draw_strip(&mut lines, &mut panel, &[StripMark { x: *x, label: label.clone(), stroke }]);
    }
    let height = panel.draw(&mut canvas);
    canvas.append(&lines);
    for (index, curve) in curves.iter().enumerate() {
        let points: Vec<Point> = curve.iter().map(|(x, y)| panel.at(*x, *y)).collect();
        canvas.curve(&points, SeriesStyle::of(index).stroke);
    }
    let svg = canvas.finish(&plot.name, &plot.title, &plot.caption, height);
    let (name, title) = (plot.name.clone(), plot.title.clone());
    Some(Drawing { name, title, caption: plot.caption.clone(), svg })
}

fn shown_range(plot: &DensityPlot) -> Option<Range> {
    let all = plot.series.iter().flat_map(|series| series.values.iter().copied());
    let mut values: Vec<f64> = all.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    // None of fewer than two hundred runs: of a few values none is an outlier.
    let cut = values.len() / 200;
    let range = Range::around([values[cut], values[last - cut]])?.padded(0.04, 0.04);
    let range = plot.mark.as_ref().map_or(range, |(mark, _)| range.including(*mark));
    Some(match plot.axis {
        DensityAxis::Plain => range,
        DensityAxis::Percent => range.within(Range::UNIT),
    })
}

/// The density at equally spaced values; empty if there is no finite value.
fn curve(values: &[f64], range: Range) -> Vec<(f64, f64)> {
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let width = range.high() - range.low();
    let kde = || -> evenkeel::Result<GaussianKde> {
        let bandwidth = Bandwidth::scott(&finite, 1.0, NARROWEST * width)?;
        // On the line, not mirrored at the ends: the axis cuts the data, and a mirror would invent
        // a bump.
        GaussianKde::new(&WeightedEmpirical::uniform(&finite)?, bandwidth, Support::Line)
    };
    // A method whose runs all failed has no curve; the others are drawn all the same.
    let Ok(kde) = kde() else { return Vec::new() };
    (0..=POINTS)
        .map(|index| range.low() + width * index as f64 / POINTS as f64)
        .map(|x| (x, kde.density(x)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(series: Vec<DensitySeries>) -> DensityPlot {
        DensityPlot {
            name: "coverage".into(),
            title: "Coverage".into(),
            caption: "Over runs.".into(),
            quantity: "coverage".into(),
            axis: DensityAxis::Percent,
            mark: Some((0.9, "level 90 %".into())),
            series,
        }
    }

    #[test]
    fn every_method_is_a_curve_and_the_target_is_marked() {
        let series = |label: &str, centre: f64| DensitySeries {
            label: label.into(),
            values: (0..50).map(|run| centre + 0.001 * f64::from(run)).collect(),
        };
        let drawn =
            density_plot(&plot(vec![series("one", 0.7), series("<two>", 0.85)])).unwrap().svg;
        let document = roxmltree::Document::parse(&drawn).unwrap();
        let texts: Vec<&str> =
            document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
        for text in ["one", "<two>", "level 90 %"] {
            assert!(texts.contains(&text), "{text} in {texts:?}");
        }
    }

    #[test]
    fn equal_and_missing_values_do_no_harm() {
        let series = |values: &[f64]| DensitySeries { label: "x".into(), values: values.to_vec() };
        assert!(density_plot(&plot(vec![series(&[1.0; 9])])).is_some());
        assert!(density_plot(&plot(vec![series(&[f64::NAN]), series(&[0.5])])).is_some());
        assert_eq!(density_plot(&plot(vec![series(&[f64::NAN])])), None);
        assert_eq!(density_plot(&plot(Vec::new())), None);
    }
}
