//! How long things took, in the buckets of a Prometheus histogram.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::Duration;

/// Upper ends of the buckets, in seconds: from a small check to a body at its limit.
const ENDS: [f64; 12] = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 30.0];

#[derive(Debug, Default)]
struct Counted {
    /// Of each bucket alone; the text adds them up.
    buckets: [u64; ENDS.len()],
    count: u64,
    sum: f64,
}

/// A histogram of durations.
#[derive(Debug, Default)]
pub(crate) struct SecondsHistogram(Mutex<Counted>);

impl SecondsHistogram {
    /// Counts one.
    pub(crate) fn add(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let mut counted = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(place) = ENDS.iter().position(|end| seconds <= *end) {
            counted.buckets[place] += 1;
        }
        counted.count += 1;
        counted.sum += seconds;
    }

    /// Its lines, with the two that describe it.
    pub(crate) fn write(&self, name: &str, help: &str, text: &mut String) {
        let counted = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
        let mut below = 0;
        for (end, count) in ENDS.iter().zip(counted.buckets) {
            below += count;
            let _ = writeln!(text, "{name}_bucket{{le=\"{end}\"}} {below}");
        }
        let Counted { count, sum, .. } = *counted;
        let _ = writeln!(
            text,
            "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {sum}\n{name}_count {count}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up() {
        let histogram = SecondsHistogram::default();
        for seconds in [0.001, 0.004, 0.004, 60.0] {
            histogram.add(Duration::from_secs_f64(seconds));
        }
        let mut text = String::new();
        histogram.write("x_seconds", "Time.", &mut text);
        assert!(
            text.contains("x_seconds_bucket{le=\"0.002\"} 1\nx_seconds_bucket{le=\"0.005\"} 3\n"),
            "{text}"
        );
        assert!(text.contains("{le=\"30\"} 3\nx_seconds_bucket{le=\"+Inf\"} 4\n"), "{text}");
        assert!(text.ends_with("x_seconds_count 4\n"), "{text}");
    }
}
