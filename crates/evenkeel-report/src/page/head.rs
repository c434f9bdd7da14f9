//! Title, date, data and level, and the words a reader needs.

use crate::content::{DataSet, Report};
use crate::text::{escape, grouped, percent_chosen, prose};

pub(super) fn head(report: &Report) -> String {
    let title = escape(&report.title);
    let date = report
        .date
        .as_ref()
        .map_or(String::new(), |date| format!(" <span class=\"date\">{}</span>", escape(date)));
    let run = report
        .run
        .as_ref()
        .map_or(String::new(), |run| format!("<p class=\"run\">{}</p>\n", escape(run)));
    let level = percent_chosen(report.level());
    format!(
        "<p class=\"brand\">Evenkeel{date}</p>\n<h1>{title}</h1>\n{run}\
         <p class=\"subtitle\">{}Asked for: <strong>{level}</strong> coverage.</p>\n\
         <p class=\"terms\">A <dfn>prediction set</dfn> holds the labels that the model cannot rule out for a row. \
         <dfn>Coverage</dfn> is the share of rows whose set holds the true label. \
         The <dfn>level</dfn>, {level} here, is the coverage asked for.</p>\n",
        data(report)
    )
}

/// `1000 labeled calibration rows (calibration.npy), ..., 10 classes. `
fn data(report: &Report) -> String {
    let mut items: Vec<String> = report.data.iter().map(data_set).collect();
    items.extend(report.class_count.map(|classes| format!("{} classes", grouped(classes))));
    if items.is_empty() { String::new() } else { format!("{}. ", items.join(", ")) }
}

fn data_set(data: &DataSet) -> String {
    let name = data.name.as_ref().map_or(String::new(), |name| format!(" ({})", escape(name)));
    format!("{} {}{name}", grouped(data.rows), prose(&data.what))
}
