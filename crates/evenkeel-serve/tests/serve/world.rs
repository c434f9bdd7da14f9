//! A server on this machine, a model of the demo data, and a caller.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::Method;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel_io::{MatrixSource, read_labels, read_matrix};
use evenkeel_jobs::{LabeledData, MemorySource, Unobserved, calibrate};
use evenkeel_serve::{Running, Settings, start};
use serde_json::Value;

/// A folder of one test, removed with it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "evenkeel-serve-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.0.join("ek.sqlite")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn demo(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/demo").join(file)
}

/// A file of the demo data, as bytes.
pub(crate) fn demo_bytes(file: &str) -> Vec<u8> {
    std::fs::read(demo(file)).unwrap()
}

fn demo_matrix(file: &str) -> evenkeel_io::Matrix {
    read_matrix(&MatrixSource::parse(demo(file).to_str().unwrap()).unwrap()).unwrap()
}

/// The calibration that a model is made from, as JSON.
pub(crate) fn calibration_json(alpha: f64) -> String {
    let matrix = demo_matrix("calibration_probs.npy");
    let (columns, probs) = (matrix.columns(), matrix.values().to_f64());
    let source = MatrixSource::parse(demo("calibration_labels.npy").to_str().unwrap()).unwrap();
    let labels = read_labels(&source, None).unwrap();
    let labeled = LabeledData::new("cal", &probs, columns, "labels", labels).unwrap();
    let mut target =
        MemorySource::new("cal", evenkeel_jobs::AnyRows::f64(&probs, columns).unwrap());
    let calibrator = ShiftCalibrator {
        method: Method::Uncorrected,
        score: Score::Lac,
        alpha: Miscoverage::new(alpha).unwrap(),
        seed: Seed::new(0),
    };
    let made = calibrate(&calibrator, &labeled, &mut target, &mut Unobserved).unwrap();
    serde_json::to_string(&made.calibration).unwrap()
}

/// The rows `rows` of a demo file as npy.
pub(crate) fn npy(file: &str, rows: std::ops::Range<usize>) -> Vec<u8> {
    let matrix = demo_matrix(file);
    let columns = matrix.columns();
    let values = &matrix.values().to_f64()[rows.start * columns..rows.end * columns];
    npy_of(values, columns)
}

/// Numbers as npy, in single precision.
pub(crate) fn npy_of(values: &[f64], columns: usize) -> Vec<u8> {
    let rows = values.len() / columns;
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|value| (*value as f32).to_le_bytes()));
    bytes
}

/// Labels of a demo file.
pub(crate) fn labels(file: &str, rows: std::ops::Range<usize>) -> Vec<usize> {
    read_labels(&MatrixSource::parse(demo(file).to_str().unwrap()).unwrap(), None).unwrap()[rows]
        .to_vec()
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The same, if the status is this.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }
}

/// A caller, with a token or without.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub address: SocketAddr,
    pub token: Option<String>,
    agent: ureq::Agent,
}

impl Caller {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(std::time::Duration::from_secs(60)));
        Self { address, token: None, agent: config.build().into() }
    }

    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// Sends a request; an error where no answer came.
    pub(crate) fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, ureq::Error> {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut answer = match method {
            "GET" | "HEAD" => self.agent.run(request.body(()).unwrap())?,
            _ => self.agent.run(request.body(body.to_vec()).unwrap())?,
        };
        let headers = answer.headers().iter();
        let headers = headers
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(64 << 20).read_to_vec()?;
        Ok(Answer { status, headers, body })
    }

    #[track_caller]
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        self.try_send(method, path, headers, body).unwrap()
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], &[])
    }

    #[track_caller]
    pub(crate) fn post_json(&self, path: &str, body: &Value) -> Answer {
        self.send(
            "POST",
            path,
            &[("content-type", "application/json")],
            body.to_string().as_bytes(),
        )
    }

    #[track_caller]
    pub(crate) fn put_model(&self, model: &str) -> Answer {
        let json = calibration_json(0.1);
        let path = format!("/v1/models/{model}?keep=rows");
        self.send("PUT", &path, &[("content-type", "application/json")], json.as_bytes())
    }

    #[track_caller]
    pub(crate) fn post_batch(&self, model: &str, key: &str, body: &[u8]) -> Answer {
        self.post_batch_at(model, key, None, body)
    }

    #[track_caller]
    pub(crate) fn post_batch_at(
        &self,
        model: &str,
        key: &str,
        time: Option<&str>,
        body: &[u8],
    ) -> Answer {
        let mut headers = vec![("content-type", "application/x-npy"), ("idempotency-key", key)];
        headers.extend(time.map(|time| ("x-batch-time", time)));
        self.send("POST", &format!("/v1/models/{model}/batches"), &headers, body)
    }
}

/// A server with its folder; stopped and removed with the test.
pub(crate) struct World {
    pub folder: Folder,
    pub caller: Caller,
    running: Option<Running>,
}

impl World {
    /// A server with the defaults.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A server with other settings.
    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = Folder::new();
        let running = start_in(&folder, change);
        let caller = Caller::new(running.address());
        Self { folder, caller, running: Some(running) }
    }

    /// A server with the model `garments`.
    pub(crate) fn with_model() -> Self {
        let world = Self::new();
        world.caller.put_model("garments").expect(201);
        world
    }

    /// Stops the server in good order and starts another on the same store.
    pub(crate) fn restart(&mut self) {
        self.restart_with(|_| {});
    }

    /// The same with other settings.
    pub(crate) fn restart_with(&mut self, change: impl FnOnce(&mut Settings)) {
        self.stop();
        let running = start_in(&self.folder, change);
        self.caller = Caller::new(running.address());
        self.running = Some(running);
    }

    pub(crate) fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts a server on a port that the system chooses.
pub(crate) fn start_in(folder: &Folder, change: impl FnOnce(&mut Settings)) -> Running {
    let mut settings = Settings::new(folder.store());
    settings.listen.set_port(0);
    change(&mut settings);
    start(&settings).unwrap()
}

/// Waits until something holds, at most two minutes: machines that run tests are busy.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed().as_secs() < 120, "{what}: not within 120 s");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// The numbers of an npy made by [`npy_of`].
pub(crate) fn floats(npy: &[u8]) -> Vec<f64> {
    let header = usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    let numbers = npy[10 + header..].chunks(4);
    numbers.map(|bytes| f64::from(f32::from_le_bytes(bytes.try_into().unwrap()))).collect()
}

/// Numbers as a parquet table of float columns.
pub(crate) fn parquet_of(values: &[f64], columns: usize) -> Vec<u8> {
    let names: Vec<String> = (0..columns).map(|column| format!("p{column}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    parquet_with(values, &names, &[])
}

/// Numbers as a parquet table of float columns of these names, and beside them a column `id` where there are ids.
pub(crate) fn parquet_with(values: &[f64], names: &[&str], ids: &[&str]) -> Vec<u8> {
    use parquet::data_type::{ByteArray, ByteArrayType, FloatType};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    let columns = names.len();
    let mut fields: String = names.iter().map(|name| format!("required float {name}; ")).collect();
    if !ids.is_empty() {
        fields += "required binary id (UTF8);";
    }
    let schema = parse_message_type(&format!("message batch {{ {fields} }}")).unwrap();
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema.into(), std::sync::Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for column in 0..columns {
        let one: Vec<f32> =
            values.iter().skip(column).step_by(columns).map(|value| *value as f32).collect();
        let mut open = group.next_column().unwrap().unwrap();
        open.typed::<FloatType>().write_batch(&one, None, None).unwrap();
        open.close().unwrap();
    }
    if !ids.is_empty() {
        let cells: Vec<ByteArray> = ids.iter().map(|id| ByteArray::from(*id)).collect();
        let mut open = group.next_column().unwrap().unwrap();
        open.typed::<ByteArrayType>().write_batch(&cells, None, None).unwrap();
        open.close().unwrap();
    }
    group.close().unwrap();
    writer.into_inner().unwrap()
}
