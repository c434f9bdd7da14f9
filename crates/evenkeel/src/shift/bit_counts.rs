//! How many bits of some words are set, by the processor's own instruction where it has one.
//!
//! Builds target every x86-64 processor, the first of which had none: a count then takes a dozen instructions.

/// Defines a function that is compiled twice, for any processor and for those that count bits, and picks one when called.
macro_rules! with_bit_counts {
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $output:ty
        $body:block
    ) => {
        $(#[$attribute])*
        #[inline]
        $visibility fn $name($($argument: $type),*) -> $output {
            #[inline(always)]
            // Always inlined: called as a function it would be compiled once, for any processor.
            fn body($($argument: $type),*) -> $output $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "popcnt")]
                fn popcnt($($argument: $type),*) -> $output {
                    body($($argument),*)
                }
                if std::arch::is_x86_feature_detected!("popcnt") {
                    #[expect(unsafe_code, reason = "the processor was asked on the line above")]
                    // SAFETY: the function needs this instruction and no others, and this processor has it.
                    return unsafe { popcnt($($argument),*) };
                }
            }
            body($($argument),*)
        }
    };
}

with_bit_counts! {
    /// Bits that are set.
    pub(super) fn count_ones(words: &[u64]) -> u32 {
        words.iter().map(|word| word.count_ones()).sum()
    }
}

with_bit_counts! {
    /// Bits that a set has in common with each of several, which stand one after the other.
    pub(super) fn count_common(set: &[u64], others: &[u64], counts: &mut [u32]) -> () {
        for (count, other) in counts.iter_mut().zip(others.chunks_exact(set.len().max(1))) {
            *count = set.iter().zip(other).map(|(one, other)| (one & other).count_ones()).sum();
        }
    }
}
