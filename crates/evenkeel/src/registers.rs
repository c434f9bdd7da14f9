//! The widest vector registers this processor has, asked for at run time.

/// Runs `work`, compiled for AVX2 where the processor has it.
///
/// Builds target every x86-64 processor, whose registers hold two doubles; most processors' hold four. Only the width
/// changes: no fused multiply-adds, and sums run in lanes of a fixed number, so the bits are the same everywhere. What
/// `work` calls must be inlined to profit.
#[inline(always)]
pub(crate) fn in_widest_registers<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn avx2<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "the processor was asked on the line above")]
            // SAFETY: the function needs AVX2 and nothing else, and this processor has it.
            return unsafe { avx2(work) };
        }
    }
    work()
}
