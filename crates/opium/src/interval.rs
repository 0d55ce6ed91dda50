//! How far a share that was sampled may be off.

/// The standard normal quantile of a two-sided level of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// The interval that holds the true share of `part` in `whole` samples in 95 of 100 samplings, as numbers from 0 to 1; all of
/// that range if there is no sample.
///
/// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927). It
/// holds near 0 and 1 and for few samples, where the normal approximation does not. The samples must be
/// independent of each other; those of a program that repeats itself in step with the sampling are not.
pub fn share_interval(part: u64, whole: u64) -> (f64, f64) {
    if whole == 0 {
        return (0.0, 1.0);
    }
    let (n, share) = (whole as f64, part as f64 / whole as f64);
    let centre = share + Z * Z / (2.0 * n);
    let reach = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    (((centre - reach) / scale).max(0.0), ((centre + reach) / scale).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_agrees_with_published_values_and_narrows_with_more_samples() {
        // 10 of 100: 0.0552 to 0.1744 (R. G. Newcombe's method 3).
        let (low, high) = share_interval(10, 100);
        assert!((low - 0.0552).abs() < 1e-4 && (high - 0.1744).abs() < 1e-4, "{low} {high}");
        let (nearer_low, nearer_high) = share_interval(1000, 10_000);
        assert!(nearer_low > low && nearer_high < high);
        assert_eq!(share_interval(0, 0), (0.0, 1.0));
        assert!(share_interval(0, 50).0 < 1e-12 && share_interval(50, 50).1 > 1.0 - 1e-12);
    }
}
