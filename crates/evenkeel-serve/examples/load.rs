//! How many batches a server takes: `cargo run --release -p evenkeel-serve --example load -- 127.0.0.1:8750 MODEL ...`.
//!
//! ```text
//! load ADDRESS MODEL [--connections 8] [--seconds 20] [--rate BATCHES_A_SECOND] [--rows 300] [--classes 10] [--like FILE.npy]
//! ```
//! With `--like`, batches are rows of a file drawn with replacement; without, numbers that differ from any calibration data: every
//! batch is a shift then, which takes a check several times as long.
//!
//! Without a rate every connection sends as soon as it is answered; with one, batches leave at that rate whether or not
//! the server keeps up, and the time of an answer counts from when its batch should have left. The address must be of
//! this machine. Prints answers by status, batches a second, and the times of those that were taken.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use evenkeel_io::{MatrixSource, read_matrix};

#[derive(Debug, Clone)]
struct Load {
    address: SocketAddr,
    model: String,
    connections: usize,
    seconds: f64,
    rate: Option<f64>,
    rows: usize,
    classes: usize,
    /// Rows to draw from.
    like: Option<Vec<f32>>,
}

impl Load {
    fn parse() -> Result<Self, String> {
        let mut words = std::env::args().skip(1);
        let address = words.next().ok_or("which address?")?;
        let address: SocketAddr =
            address.parse().map_err(|_| format!("{address} is no address with a port"))?;
        if !address.ip().is_loopback() {
            return Err(format!("{address} is not an address of this machine"));
        }
        let model = words.next().ok_or("which model?")?;
        let mut load = Self {
            address,
            model,
            connections: 8,
            seconds: 20.0,
            rate: None,
            rows: 300,
            classes: 10,
            like: None,
        };
        while let Some(flag) = words.next() {
            let value = words.next().ok_or_else(|| format!("{flag} needs a value"))?;
            if flag == "--like" {
                let source = MatrixSource::parse(&value).map_err(|error| error.to_string())?;
                let matrix = read_matrix(&source).map_err(|error| error.to_string())?;
                load.classes = matrix.columns();
                let values = matrix.values().to_f64();
                load.like = Some(values.into_iter().map(|value| value as f32).collect());
                continue;
            }
            let number: f64 = value.parse().map_err(|_| format!("{flag} needs a number"))?;
            match flag.as_str() {
                "--connections" => load.connections = number as usize,
                // Bounded: a load that is forgotten ends by itself.
                "--seconds" => load.seconds = number.min(7200.0),
                "--rate" => load.rate = Some(number),
                "--rows" => load.rows = number as usize,
                "--classes" => load.classes = number as usize,
                _ => return Err(format!("{flag} is not known")),
            }
        }
        Ok(load)
    }
}

/// A matrix of probabilities as npy; another one for every number.
fn npy(load: &Load, number: u64) -> Vec<u8> {
    let Load { rows, classes, .. } = *load;
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {classes}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend(header.as_bytes());
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = || {
        // xorshift64*: any numbers do, as long as they differ from batch to batch.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as f32 / (1_u32 << 24) as f32
    };
    if let Some(values) = &load.like {
        let count = values.len() / classes;
        for _ in 0..rows {
            let row = ((uniform() * count as f32) as usize).min(count - 1);
            let row = &values[row * classes..(row + 1) * classes];
            bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
        }
        return bytes;
    }
    for row in 0..rows {
        let mut masses: Vec<f32> = (0..classes).map(|_| -(1.0 - uniform()).ln()).collect();
        masses[row % classes] += 8.0;
        let sum: f32 = masses.iter().sum();
        bytes.extend(masses.iter().flat_map(|mass| (mass / sum).to_le_bytes()));
    }
    bytes
}

#[derive(Debug, Default)]
struct Seen {
    statuses: BTreeMap<String, u64>,
    taken: Vec<Duration>,
}

fn main() -> ExitCode {
    let load = match Load::parse() {
        Ok(load) => Arc::new(load),
        Err(why) => {
            eprintln!("load: {why}");
            return ExitCode::from(2);
        }
    };
    let (seen, next) = (Arc::new(Mutex::new(Seen::default())), Arc::new(AtomicU64::new(0)));
    // Keys of another run must not meet these: they would be answered as repeated.
    let run = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
    let start = Instant::now();
    let senders: Vec<_> = (0..load.connections)
        .map(|_| {
            let (load, seen, next) = (Arc::clone(&load), Arc::clone(&seen), Arc::clone(&next));
            std::thread::spawn(move || send(&load, start, run, &next, &seen))
        })
        .collect();
    for sender in senders {
        if sender.join().is_err() {
            eprintln!("load: a connection ended early");
        }
    }
    let took = start.elapsed().as_secs_f64();
    let mut seen = seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    seen.taken.sort_unstable();
    let quantile = |share: f64| {
        let place = (seen.taken.len() as f64 * share) as usize;
        let found = seen.taken.get(place.min(seen.taken.len().saturating_sub(1)));
        found.map_or(f64::NAN, |took| took.as_secs_f64() * 1000.0)
    };
    println!("answers: {:?}", seen.statuses);
    println!(
        "taken: {} in {took:.1} s, {:.1} batches/s, p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
        seen.taken.len(),
        seen.taken.len() as f64 / took,
        quantile(0.5),
        quantile(0.99),
        quantile(1.0),
    );
    ExitCode::SUCCESS
}

fn send(load: &Load, start: Instant, run: u128, next: &AtomicU64, seen: &Mutex<Seen>) {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let url = format!("http://{}/v1/models/{}/batches", load.address, load.model);
    let token = std::env::var("EVENKEEL_TOKEN").ok();
    while start.elapsed().as_secs_f64() < load.seconds {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let body = npy(load, number);
        let due = match load.rate {
            Some(rate) => start + Duration::from_secs_f64(number as f64 / rate),
            None => Instant::now(),
        };
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let mut request =
            agent.post(&url).header("Idempotency-Key", format!("load-{run}-{number}"));
        request = request.header("Content-Type", "application/x-npy");
        if let Some(token) = &token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let answered = request.send(&body[..]).map(|mut answer| {
            // To the end, so that the connection can be used again.
            drop(answer.body_mut().read_to_vec());
            answer.status().as_u16()
        });
        let took = due.elapsed();
        let mut seen = seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let status =
            answered.as_ref().map_or_else(|error| format!("no answer: {error}"), u16::to_string);
        *seen.statuses.entry(status).or_default() += 1;
        if matches!(answered, Ok(200 | 201)) {
            seen.taken.push(took);
        }
    }
}
