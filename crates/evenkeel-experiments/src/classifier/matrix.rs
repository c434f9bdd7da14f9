//! Borrowed matrices and their product.

/// A number type the network runs in: `f32` in earnest, `f64` to check gradients against finite differences.
pub(crate) trait Scalar:
    Copy + PartialOrd + Send + Sync + From<f32> + Into<f64> + std::ops::AddAssign
{
    const ZERO: Self;

    fn from_f64(value: f64) -> Self;

    /// `out = a b` for matrices given by pointer, row stride and column stride; shapes `(m, k)`, `(k, n)`, `(m, n)`.
    ///
    /// # Safety
    /// Every entry that the shapes and strides name must lie in the caller's buffers.
    #[expect(
        unsafe_code,
        reason = "passes the matrix product's contract on to `multiply`, its only caller"
    )]
    unsafe fn product(shape: [usize; 3], a: Operand<Self>, b: Operand<Self>, out: *mut Self);
}

/// Pointer, row stride and column stride of a factor.
pub(crate) type Operand<T> = (*const T, isize, isize);

macro_rules! scalar {
    ($type:ty, $gemm:path) => {
        impl Scalar for $type {
            const ZERO: Self = 0.0;

            fn from_f64(value: f64) -> Self {
                value as Self
            }

            #[expect(unsafe_code, reason = "the crate of the matrix product takes pointers")]
            unsafe fn product(
                [m, k, n]: [usize; 3],
                (a, a_row, a_column): Operand<Self>,
                (b, b_row, b_column): Operand<Self>,
                out: *mut Self,
            ) {
                // SAFETY: the caller vouches for the buffers; the output is dense and row-major.
                unsafe {
                    $gemm(
                        m,
                        k,
                        n,
                        1.0,
                        a,
                        a_row,
                        a_column,
                        b,
                        b_row,
                        b_column,
                        0.0,
                        out,
                        n.cast_signed(),
                        1,
                    );
                }
            }
        }
    };
}
scalar!(f32, matrixmultiply::sgemm);
scalar!(f64, matrixmultiply::dgemm);

/// A borrowed dense matrix, as it lies in memory or transposed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrix<'a, T> {
    values: &'a [T],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, T: Scalar> Matrix<'a, T> {
    /// Views `values` as whole rows of `columns` entries.
    pub(crate) fn new(values: &'a [T], columns: usize) -> Self {
        assert!(columns > 0 && values.len().is_multiple_of(columns), "no whole number of rows");
        Self {
            values,
            rows: values.len() / columns,
            columns,
            row_stride: columns,
            column_stride: 1,
        }
    }

    /// The same entries, rows and columns exchanged.
    pub(crate) fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    fn operand(&self) -> Operand<T> {
        (self.values.as_ptr(), self.row_stride.cast_signed(), self.column_stride.cast_signed())
    }
}

/// `out = a b`, row-major.
pub(crate) fn multiply<T: Scalar>(a: Matrix<'_, T>, b: Matrix<'_, T>, out: &mut [T]) {
    // Asserted in release builds too: the product below trusts these numbers with raw pointers.
    assert_eq!(a.columns, b.rows, "inner dimensions differ");
    assert_eq!(out.len(), a.rows * b.columns, "the output has another shape");
    let shape = [a.rows, a.columns, b.columns];
    #[expect(unsafe_code, reason = "the crate of the matrix product takes pointers")]
    // SAFETY: `Matrix` covers its buffer exactly, and the output was just measured.
    unsafe {
        T::product(shape, a.operand(), b.operand(), out.as_mut_ptr());
    }
}

/// `a b` in a new buffer.
pub(crate) fn product<T: Scalar>(a: Matrix<'_, T>, b: Matrix<'_, T>) -> Vec<T> {
    let mut out = vec![T::ZERO; a.rows * b.columns];
    multiply(a, b, &mut out);
    out
}

/// Sums of the columns of a matrix with `out.len()` columns, from the first row to the last.
pub(crate) fn column_sums<T: Scalar>(values: &[T], out: &mut [T]) {
    out.fill(T::ZERO);
    for row in values.chunks_exact(out.len()) {
        for (sum, value) in out.iter_mut().zip(row) {
            *sum += *value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_and_its_transposes_agree_with_the_sums() {
        let a = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
        let b = [1.0_f32, -1.0, 0.5, 2.0, 0.0, 1.0];
        // (2 x 3)(3 x 2)
        assert_eq!(product(Matrix::new(&a, 3), Matrix::new(&b, 2)), [2.0, 6.0, 6.5, 12.0]);
        // (3 x 2)^T seen as stored transposed twice
        let twice = Matrix::new(&a, 3).transposed().transposed();
        assert_eq!(product(twice, Matrix::new(&b, 2)), [2.0, 6.0, 6.5, 12.0]);
        // a^T a
        let gram = product(Matrix::new(&a, 3).transposed(), Matrix::new(&a, 3));
        assert_eq!(gram, [17.0, 22.0, 27.0, 22.0, 29.0, 36.0, 27.0, 36.0, 45.0]);
    }

    #[test]
    fn columns_add_up() {
        let mut sums = [9.0_f64; 2];
        column_sums(&[1.0, 2.0, 3.0, 4.0], &mut sums);
        assert_eq!(sums, [4.0, 6.0]);
    }
}
