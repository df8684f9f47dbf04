//! Where chance comes from: the caller, as a function that gives 64 random bits a call.
//!
//! The reference draws from a generator of its process, whose sequence depends on its build; what can be the
//! same is the distribution. So any good generator will do, and [`SplitMix64`] is here for who has none at hand.

/// A small seeded generator for sampling: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators", 2014). The sequence of a seed is part of this crate's promise. Not for secrets.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator; equal seeds give equal sequences.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A number of `[0, 1)`, evenly.
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// An index, with a probability in proportion to its weight. Weights that are no positive number count as 0;
/// if all are, the first index is taken.
pub(crate) fn choose(weights: &[f64], random: &mut impl FnMut() -> u64) -> usize {
    let counts = |weight: &f64| weight.is_finite() && *weight > 0.0;
    let total: f64 = weights.iter().filter(|weight| counts(weight)).sum();
    let mut left = unit(random()) * total;
    let mut chosen = 0;
    for (index, weight) in weights.iter().enumerate().filter(|(_, w)| counts(w)) {
        chosen = index;
        if left < *weight {
            break;
        }
        left -= weight;
    }
    chosen
}

/// A number from the standard Gumbel distribution, which is the greatest of many independent ones, shifted.
pub(crate) fn gumbel(random: &mut impl FnMut() -> u64) -> f64 {
    // Half a step inside the ends, where the logarithms are finite.
    let inner = ((random() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64);
    -(-inner.ln()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = SplitMix64::new(1_234_567);
        let drawn = [(); 3].map(|()| random.next_u64());
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn weights_that_do_not_count_are_never_chosen() {
        let mut random = SplitMix64::new(1);
        let weights = [0.0, f64::NAN, 2.0, -1.0, f64::INFINITY, 1.0, 0.0];
        let mut counts = [0; 7];
        for _ in 0..3000 {
            counts[choose(&weights, &mut || random.next_u64())] += 1;
        }
        assert_eq!(counts[2] + counts[5], 3000);
        assert!((1850..2150).contains(&counts[2]), "{counts:?}");
        // The greatest draw stays inside.
        assert_eq!(choose(&weights, &mut || u64::MAX), 5);
        assert_eq!(choose(&[0.0, f64::NAN], &mut || u64::MAX), 0);
    }

    #[test]
    fn gumbel_numbers_are_finite_and_distributed_as_they_should_be() {
        for bits in [0, u64::MAX] {
            assert!(gumbel(&mut || bits).is_finite());
        }
        let mut random = SplitMix64::new(2);
        let drawn: Vec<f64> = (0..20_000)
            .map(|_| gumbel(&mut || random.next_u64()))
            .collect();
        // P(X <= 0) = exp(-1); the mean is Euler's constant.
        let below = drawn.iter().filter(|&&x| x <= 0.0).count() as f64 / 20_000.0;
        assert!((below - (-1f64).exp()).abs() < 0.015, "{below}");
        let mean = drawn.iter().sum::<f64>() / 20_000.0;
        assert!((mean - 0.577_215_66).abs() < 0.05, "{mean}");
    }
}
