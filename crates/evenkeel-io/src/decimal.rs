//! Decimals as people write them: `-12.50`.

/// A whole number of units of `10^-scale`.
pub(crate) fn decimal(units: i128, scale: i32) -> String {
    let Ok(places) = usize::try_from(scale) else {
        let zeros = scale.unsigned_abs() as usize;
        // A scale beyond any number is damage; 38 digits are the most there are.
        return if units == 0 {
            "0".to_owned()
        } else {
            format!("{units}{:0<1$}", "", zeros.min(76))
        };
    };
    let sign = if units < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", units.unsigned_abs(), width = places.min(76) + 1);
    match digits.split_at(digits.len() - places.min(76)) {
        (whole, "") => format!("{sign}{whole}"),
        (whole, rest) => format!("{sign}{whole}.{rest}"),
    }
}

/// The number of up to 16 bytes, the highest first, with its sign.
pub(crate) fn from_high_byte_first(bytes: &[u8]) -> Option<i128> {
    let mut all = match bytes.first() {
        Some(first) if *first >= 0x80 => [0xff; 16],
        _ => [0; 16],
    };
    let start = all.len().checked_sub(bytes.len())?;
    all[start..].copy_from_slice(bytes);
    Some(i128::from_be_bytes(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_places() {
        for (units, scale, text) in [
            (1250, 2, "12.50"),
            (-5, 2, "-0.05"),
            (0, 3, "0.000"),
            (7, 0, "7"),
            (7, -2, "700"),
            (0, -2, "0"),
            (i128::MIN, 0, "-170141183460469231731687303715884105728"),
        ] {
            assert_eq!(decimal(units, scale), text);
        }
        assert!(!decimal(1, i32::MAX).is_empty() && !decimal(1, i32::MIN).is_empty());
    }

    #[test]
    fn bytes_have_a_sign() {
        assert_eq!(from_high_byte_first(&[0x04, 0xe2]), Some(1250));
        assert_eq!(from_high_byte_first(&[0xff, 0xfb]), Some(-5));
        assert_eq!(from_high_byte_first(&[]), Some(0));
        assert_eq!(from_high_byte_first(&[0; 17]), None);
    }
}
