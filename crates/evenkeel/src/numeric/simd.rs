//! The widest vector registers this processor has, asked for at run time.
//!
//! ```text
//! f(x) = avx512(x) if the processor has it, else avx2(x), else body(x)    the same bits each time
//! ```

/// Defines a function that is compiled three times, for any processor, for AVX2 with fused multiply-adds and for AVX-512, and
/// picks one when called.
///
/// Builds target every x86-64 processor, whose registers hold two doubles; most processors' hold four, many eight. Only
/// the width changes: multiply-adds are fused only where `mul_add` says so, which the C library computes alike where the processor
/// cannot, and sums run in lanes of a fixed number, so the bits are the same everywhere. What the body calls must be `#[inline(always)]` to profit. Generic parameters stand in square brackets.
macro_rules! in_widest_registers {
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident[$($generics:tt)*]($($argument:ident: $type:ty),* $(,)?) -> $output:ty
        $body:block
    ) => {
        $(#[$attribute])*
        $visibility fn $name<$($generics)*>($($argument: $type),*) -> $output {
            #[inline(always)]
            // Always inlined: called as a function it would be compiled once, for the narrowest
            // registers.
            fn body<$($generics)*>($($argument: $type),*) -> $output $body

            // Elsewhere the portable body uses what every processor of the target has.
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
                fn avx512<$($generics)*>($($argument: $type),*) -> $output {
                    body($($argument),*)
                }
                #[target_feature(enable = "avx2,fma")]
                fn avx2<$($generics)*>($($argument: $type),*) -> $output {
                    body($($argument),*)
                }
                if $crate::numeric::simd::has_avx512() {
                    #[expect(unsafe_code, reason = "the processor was asked on the line above")]
                    // SAFETY: the function needs these instructions and no others, and this processor has them.
                    return unsafe { avx512($($argument),*) };
                }
                if $crate::numeric::simd::has_avx2() {
                    #[expect(unsafe_code, reason = "the processor was asked on the line above")]
                    // SAFETY: as above.
                    return unsafe { avx2($($argument),*) };
                }
            }
            body($($argument),*)
        }
    };
}

pub(crate) use in_widest_registers;

/// Whether the processor has the instructions of the AVX-512 build.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn has_avx512() -> bool {
    // All of them: the compiler was told of all, and early AVX-512 processors lack some.
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512vl")
        && std::arch::is_x86_feature_detected!("fma")
}

/// Whether the processor has the instructions of the AVX2 build, and the one that counts bits, which loops written in vector
/// instructions (`sketch/distance_cells.rs`) use beside them; no processor with AVX2 lacks it.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("fma")
        && std::arch::is_x86_feature_detected!("popcnt")
}

/// Has a place of a slice brought into the first cache before it is read; does nothing where there is no such place.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(value) = values.get(place) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "prefetching takes an address")]
        // SAFETY: every x86-64 processor has the instruction, which reads nothing that a program could see.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, place);
}
