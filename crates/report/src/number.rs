//! Numbers for a reader: grouped, shortened, as shares, sizes and changes. Exact values are for JSON and CSV.

/// `12,345,678`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three digits and a factor: `999`, `12.3 k`, `1.23 M`, `45.0 G`.
pub(crate) fn short(number: u64) -> String {
    const FACTORS: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let value = number as f64;
    // 999,500 would be written 1000 k: the next factor begins where rounding reaches it.
    match FACTORS.iter().find(|(factor, _)| value >= factor * 0.9995) {
        Some((factor, letter)) if number >= 1000 => format!("{} {letter}", three_digits(value / factor)),
        _ => number.to_string(),
    }
}

/// Bytes with a binary factor: `64 B`, `4.00 KiB`, `12.5 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    const FACTORS: [(u64, &str); 4] =
        [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match FACTORS.iter().find(|(factor, _)| bytes >= *factor) {
        Some((factor, name)) => format!("{} {name}", three_digits(bytes as f64 / *factor as f64)),
        None => format!("{bytes} B"),
    }
}

/// A share of 1 in percent: `97 %`, `4.5 %`, `0 %`; a share of nothing is `-`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() {
        "-".to_owned()
    } else if percent > 0.0 && percent < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// `part` as a share of `whole`.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// Seconds, or another measure without a factor, with at least four digits: `123.4`, `1.234`, `0.001234`.
pub(crate) fn measure(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let digits_before = if value == 0.0 { 1.0 } else { value.abs().log10().floor() + 1.0 };
    let decimals = (4.0 - digits_before).clamp(1.0, 12.0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 1 to 12")]
    let decimals = decimals as usize;
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some((whole, part)) if value >= 1000.0 => {
            format!("{}.{part}", whole.parse().map_or(whole.to_owned(), grouped))
        }
        _ => text,
    }
}

/// A rate in bytes per second as `123.4` MB/s.
pub(crate) fn megabytes_per_second(bytes_per_s: f64) -> String {
    measure(bytes_per_s / 1e6)
}

/// How many times less or more there is after than before: `12.3× less`, `1.05× more`, `same`.
pub(crate) fn change(before: f64, after: f64) -> String {
    if !before.is_finite() || !after.is_finite() {
        return "-".to_owned();
    }
    if before == after {
        return "same".to_owned();
    }
    if after == 0.0 {
        return "none left".to_owned();
    }
    if before == 0.0 {
        return "new".to_owned();
    }
    let (factor, word) = if before > after { (before / after, "less") } else { (after / before, "more") };
    if factor < 1.005 { "same".to_owned() } else { format!("{}× {word}", self::factor(factor)) }
}

/// A factor: `2.31`, `12.3`, `1,234`.
pub(crate) fn factor(factor: f64) -> String {
    if factor < 999.5 {
        three_digits(factor)
    } else {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, and is positive"
        )]
        grouped(factor.round() as u64)
    }
}

/// Three significant digits of a number below 1,000, rounded.
fn three_digits(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn short_numbers_keep_three_digits() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1_000, "1.00 k"),
            (12_345, "12.3 k"),
            (999_499, "999 k"),
            (999_500, "1.00 M"),
        ];
        for (number, text) in cases {
            assert_eq!(short(number), text);
        }
        assert_eq!(short(45_000_000_000), "45.0 G");
    }

    #[test]
    fn sizes_have_binary_factors() {
        let cases = [(64, "64 B"), (1023, "1023 B"), (4096, "4.00 KiB"), (13_107_200, "12.5 MiB")];
        for (bytes, text) in cases {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn shares_of_nothing_are_not_shown_as_numbers() {
        assert_eq!(percent(share(0, 0)), "-");
        assert_eq!(
            [percent(0.0), percent(0.045), percent(0.97), percent(1.0)],
            ["0 %", "4.5 %", "97 %", "100 %"]
        );
    }

    #[test]
    fn measures_keep_four_digits() {
        let cases = [
            (0.0, "0.000"),
            (0.001_234_5, "0.001234"),
            (0.25, "0.2500"),
            (1.2345, "1.234"),
            (123.45, "123.5"),
            (12_345.67, "12,345.7"),
        ];
        for (value, text) in cases {
            assert_eq!(measure(value), text);
        }
        assert_eq!(measure(f64::NAN), "-");
    }

    #[test]
    fn changes_say_their_direction() {
        assert_eq!(change(123.0, 10.0), "12.3× less");
        assert_eq!(change(10.0, 10.5), "1.05× more");
        assert_eq!(change(1_000.0, 1_001.0), "same");
        assert_eq!(change(7.0, 0.0), "none left");
        assert_eq!(change(0.0, 7.0), "new");
        assert_eq!(change(0.0, 0.0), "same");
        assert_eq!(change(5_000.0, 2.0), "2,500× less");
    }
}
