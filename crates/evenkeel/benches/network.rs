//! One pass of the weight function's network, there and back, next to the matrix products a dense implementation of the
//! same pass would need; and Adam.

#![expect(clippy::unwrap_used, reason = "the inputs are made here and are valid")]

use divan::{Bencher, black_box};
use evenkeel::learning::network::{Batch, Mlp};
use evenkeel::learning::optimise::{Adam, AdamSettings};
use evenkeel::seed::Seed;

/// Shows allocations next to the times; a pass has none to show.
#[global_allocator]
static ALLOCATIONS: divan::AllocProfiler = divan::AllocProfiler::system();

const SIZES: [usize; 3] = [300, 3_000, 30_000];

fn main() {
    divan::main();
}

fn uniform(n: usize, purpose: &str) -> Vec<f64> {
    let mut stream = Seed::new(1).stream(purpose);
    (0..n).map(|_| stream.uniform()).collect()
}

#[divan::bench(args = SIZES)]
fn forward(bencher: Bencher, n: usize) {
    let network: Mlp = Mlp::initialised(Seed::new(1));
    let mut batch = Batch::new(&uniform(n, "scores")).unwrap();
    bencher.bench_local(|| black_box(batch.forward(black_box(&network)).log_weights()[0]));
}

#[divan::bench(args = SIZES)]
fn forward_and_backward(bencher: Bencher, n: usize) {
    let network: Mlp = Mlp::initialised(Seed::new(1));
    let mut batch = Batch::new(&uniform(n, "scores")).unwrap();
    let slopes = uniform(n, "slopes");
    let mut gradient = vec![0.0; <Mlp>::PARAMETERS];
    bencher.bench_local(|| {
        batch.forward(black_box(&network)).backward(&slopes, &mut gradient).unwrap();
        black_box(gradient[0])
    });
}

/// As in training: the parameters move, so the hinges must be put in order again at every step.
#[divan::bench(args = SIZES)]
fn forward_backward_and_adam(bencher: Bencher, n: usize) {
    let mut network: Mlp = Mlp::initialised(Seed::new(1));
    let mut batch = Batch::new(&uniform(n, "scores")).unwrap();
    let slopes: Vec<f64> = uniform(n, "slopes").iter().map(|u| u - 0.5).collect();
    let mut gradient = vec![0.0; <Mlp>::PARAMETERS];
    let mut adam = Adam::new(AdamSettings::default(), <Mlp>::PARAMETERS);
    bencher.bench_local(|| {
        batch.forward(&network).backward(&slopes, &mut gradient).unwrap();
        adam.step(network.parameters_mut(), &gradient).unwrap();
    });
}

#[divan::bench(args = [1_000, 100_000])]
fn evaluate_curve(bencher: Bencher, n: usize) {
    let network: Mlp = Mlp::initialised(Seed::new(1));
    let scores = uniform(n, "scores");
    let mut log_weights = vec![0.0; n];
    bencher.bench_local(|| network.curve().log_weights(&scores, &mut log_weights).unwrap());
}

/// The products of a dense forward and backward pass, nothing else.
#[divan::bench(args = SIZES)]
fn bare_matrix_products(bencher: Bencher, n: usize) {
    // (rows, inner, columns): three forward, then two backward for each of them but the first input's.
    let shapes = [
        (n, 256, 16),
        (n, 16, 8),
        (n, 8, 1),
        (8, n, 1),
        (n, 1, 8),
        (16, n, 8),
        (n, 8, 16),
        (256, n, 16),
        (n, 16, 256),
    ];
    let mut operands: Vec<_> = shapes
        .iter()
        .map(|(rows, inner, columns)| {
            let (a, b) = (uniform(rows * inner, "a"), uniform(inner * columns, "b"));
            (a, b, vec![0.0; rows * columns])
        })
        .collect();
    bencher.bench_local(|| {
        for (shape, (a, b, c)) in shapes.iter().zip(&mut operands) {
            product(*shape, black_box(a), black_box(b), c);
        }
    });
}

#[divan::bench(args = [4_500, 1_000_000])]
fn adam_step(bencher: Bencher, parameters: usize) {
    let gradient: Vec<f64> = uniform(parameters, "gradient").iter().map(|u| u - 0.5).collect();
    let mut theta = uniform(parameters, "parameters");
    let mut adam = Adam::new(AdamSettings::default(), parameters);
    bencher.bench_local(|| adam.step(black_box(&mut theta), &gradient).unwrap());
}

/// `c = a b`, all row by row.
fn product((rows, inner, columns): (usize, usize, usize), a: &[f64], b: &[f64], c: &mut [f64]) {
    assert_eq!((a.len(), b.len(), c.len()), (rows * inner, inner * columns, rows * columns));
    let stride = |width: usize| (width.cast_signed(), 1);
    let ((ra, ca), (rb, cb), (rc, cc)) = (stride(inner), stride(columns), stride(columns));
    #[expect(unsafe_code, reason = "matrixmultiply takes pointers; lengths are asserted above")]
    // SAFETY: every matrix is row-major, contiguous and exactly as long as its shape says, and `c` is borrowed alone.
    unsafe {
        matrixmultiply::dgemm(
            rows,
            inner,
            columns,
            1.0,
            a.as_ptr(),
            ra,
            ca,
            b.as_ptr(),
            rb,
            cb,
            0.0,
            c.as_mut_ptr(),
            rc,
            cc,
        );
    }
}
