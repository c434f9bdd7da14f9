//! How rare is it that so many rows of a class fell into the window?
//!
//! ```text
//! P(x) = C(k, x) C(n + m - k, m - x) / C(n + m, m)        k of the n + m rows have the class, x of them among the m of the window
//! p    = 2 min(P(X <= x), P(X >= x)), at most 1
//! ```
//! Given how many rows of both data sets have the class, every division of the rows is equally likely while rows are
//! exchangeable: the p-value is exact (Fisher).

use crate::numeric::gamma::ln_gamma;

/// Terms smaller than this share of the sum are left out.
const NEGLIGIBLE: f64 = 1e-17;

/// The p-value of `x` rows of a class in a window of `m`, where `of_class` of all `rows` have it.
pub(super) fn two_sided(x: u64, m: u64, of_class: u64, rows: u64) -> f64 {
    // Mean of x: the tail on its own side is the smaller one.
    let mean = of_class as f64 * m as f64 / rows as f64;
    let above = x as f64 >= mean;
    (2.0 * tail(x, m, of_class, rows, above_or_below(above))).min(1.0)
}

#[derive(Clone, Copy, PartialEq)]
enum Tail {
    AtLeast,
    AtMost,
}

fn above_or_below(above: bool) -> Tail {
    if above { Tail::AtLeast } else { Tail::AtMost }
}

/// `P(X >= x)` or `P(X <= x)`, summed from `x` outward, where terms shrink.
fn tail(x: u64, m: u64, of_class: u64, rows: u64, side: Tail) -> f64 {
    let others = rows - of_class;
    let (least, most) = (m.saturating_sub(others), of_class.min(m));
    let choose = |n: u64, k: u64| {
        let (n, k) = (n as f64, k as f64);
        ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0)
    };
    let first = (choose(of_class, x) + choose(others, m - x) - choose(rows, m)).exp();
    let (mut term, mut sum, mut at) = (1.0_f64, 1.0_f64, x);
    while term > sum * NEGLIGIBLE {
        let (k, w) = (of_class as f64, m as f64);
        let here = at as f64;
        term *= match side {
            Tail::AtLeast if at < most => {
                (k - here) * (w - here) / ((here + 1.0) * (others as f64 - w + here + 1.0))
            }
            Tail::AtMost if at > least => {
                here * (others as f64 - w + here) / ((k - here + 1.0) * (w - here + 1.0))
            }
            _ => break,
        };
        sum += term;
        match side {
            Tail::AtLeast => at += 1,
            Tail::AtMost => at -= 1,
        }
    }
    (first * sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(n: u64, k: u64) -> f64 {
        (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
    }

    #[test]
    fn it_is_the_sum_of_its_terms() {
        for (m, of_class, rows) in
            [(5_u64, 4_u64, 12_u64), (7, 12, 15), (1, 1, 9), (9, 20, 40), (30, 30, 60)]
        {
            let (least, most) = (m.saturating_sub(rows - of_class), of_class.min(m));
            let density =
                |x: u64| choose(of_class, x) * choose(rows - of_class, m - x) / choose(rows, m);
            for x in least..=most {
                let below: f64 = (least..=x).map(density).sum();
                let above: f64 = (x..=most).map(density).sum();
                let (at_most, at_least) = (
                    tail(x, m, of_class, rows, Tail::AtMost),
                    tail(x, m, of_class, rows, Tail::AtLeast),
                );
                assert!(
                    (at_most - below).abs() < 1e-11,
                    "{x} {m} {of_class} {rows}: {at_most} {below}"
                );
                assert!(
                    (at_least - above).abs() < 1e-11,
                    "{x} {m} {of_class} {rows}: {at_least} {above}"
                );
                let expected = (2.0 * below.min(above)).min(1.0);
                assert!(two_sided(x, m, of_class, rows) >= expected - 1e-11);
            }
        }
    }
}
