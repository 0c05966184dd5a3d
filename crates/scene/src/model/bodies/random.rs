//! Random numbers for the formulas of bodies.

/// A number in [0, 1) that is a function of its arguments alone (SplitMix64).
pub(super) fn random(seed: u64, record: u64, i: u64, which: u64) -> f64 {
    let mut x = seed;
    for part in [record, i, which] {
        x = x.wrapping_add(part.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^= x >> 31;
    }
    (x >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::random;

    #[test]
    fn random_numbers_are_spread_and_depend_on_every_argument() {
        let n = 10_000;
        let mean = (0..n).map(|i| random(1, 0, i, 0)).sum::<f64>() / n as f64;
        // Standard deviation of the mean: 1/√(12 n) = 0.0029.
        assert!((mean - 0.5).abs() < 0.0145, "{mean}");
        let one = random(1, 0, 7, 0);
        for other in [random(2, 0, 7, 0), random(1, 1, 7, 0), random(1, 0, 8, 0), random(1, 0, 7, 1)] {
            assert!((0.0..1.0).contains(&other) && other != one);
        }
    }
}
