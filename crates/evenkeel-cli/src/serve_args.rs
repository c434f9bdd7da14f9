//! Arguments of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What `serve` is asked for: to serve, or something about its tokens.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Example:
  evenkeel serve --store ek.sqlite
  curl -X PUT --data-binary @cal.json -H 'Content-Type: application/json' \\
    http://127.0.0.1:8750/v1/models/garments
  curl --data-binary @night.npy -H 'Content-Type: application/x-npy' -H 'Idempotency-Key: night-1' \\
    http://127.0.0.1:8750/v1/models/garments/batches

Without tokens only an address of this machine is served. TLS is the work of a proxy in front."
)]
pub(crate) struct ServeArgs {
    /// Make, list or revoke the tokens by which callers are known.
    #[command(subcommand)]
    pub about_tokens: Option<ServeCommand>,
    /// The store: one file, made where there is none.
    #[arg(long, value_name = "FILE", required = true)]
    pub store: Option<PathBuf>,
    /// Address and port to listen on.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8750")]
    pub listen: SocketAddr,
    /// A folder to take batches from: DIR/MODEL/anything.npy, .parquet, .arrow, .csv or .jsonl.
    #[arg(long, value_name = "DIR")]
    pub watch: Option<PathBuf>,
    /// Threads that check batches; results do not depend on it [default: all cores].
    #[arg(long)]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub webhooks: WebhookArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Whom to tell of alarms, proposals and decisions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Webhooks")]
pub(crate) struct WebhookArgs {
    /// An address to post alarms, proposals and decisions to; several may be given.
    #[arg(long, value_name = "URL", requires = "webhook_secret_file")]
    pub webhook: Vec<String>,
    /// A file with the secret that webhooks are signed with, at least 16 bytes.
    #[arg(long, value_name = "FILE")]
    pub webhook_secret_file: Option<PathBuf>,
}

/// What a request may bring.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Bytes of a body as it is sent.
    #[arg(long, value_name = "BYTES", default_value_t = 32 << 20)]
    pub max_body: usize,
    /// Bytes of what a body holds once inflated.
    #[arg(long, value_name = "BYTES", default_value_t = 128 << 20)]
    pub max_inflated: usize,
    /// Rows of a batch.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub max_rows: usize,
    /// Classes of a batch.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub max_classes: usize,
    /// Seconds that a body may take to arrive.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    pub max_seconds: f64,
    /// Batches that may wait; those beyond are answered with 429.
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub max_queue: usize,
    /// Bytes that must be free on the disk of the store for /readyz to call the server ready.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30)]
    pub min_free: u64,
}

/// Something about the server, and not the server itself.
#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Make, list or revoke the tokens by which callers are known.
    #[command(subcommand)]
    Token(TokenCommand),
}

/// Something about tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token and print it: once, it cannot be shown again.
    New(NewTokenArgs),
    /// All tokens, without their secrets.
    List(TokenStoreArgs),
    /// Take a token back.
    Revoke(RevokeArgs),
}

/// A token to be made.
#[derive(Debug, Args)]
pub(crate) struct NewTokenArgs {
    #[command(flatten)]
    pub at: TokenStoreArgs,
    /// What it is for: ingest, read, approve, admin, separated by commas.
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', required = true)]
    pub scopes: Vec<String>,
    /// Models it is for, separated by commas [default: all].
    #[arg(long, value_name = "MODELS", visible_alias = "model", value_delimiter = ',')]
    pub models: Vec<String>,
    /// Who or what will use it.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub name: String,
}

/// Where tokens are kept.
#[derive(Debug, Args)]
pub(crate) struct TokenStoreArgs {
    /// The store.
    #[arg(long, value_name = "FILE")]
    pub store: PathBuf,
    /// One JSON document on stdout and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// A token to be taken back.
#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    #[command(flatten)]
    pub at: TokenStoreArgs,
    /// Its id: what stands between the underscores.
    pub id: String,
}
