//! A connection that waits for its reader, and not for ever.
//!
//! ```text
//! patience     at most the limit; spent while a write waits, earned by bytes that are taken
//! a reader     that takes LEAST_BYTES in every limit is never cut off; one that takes nothing is, after the limit
//! ```
//! Without it a caller who sends requests and never reads the answers keeps a connection, and what it holds in memory, for good: it takes
//! a few hundred bytes to ask for megabytes.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

/// Bytes that a reader must take in the time of the limit: 2 kB a second at the default of 30 s.
const LEAST_BYTES: u32 = 64 << 10;

/// A connection whose writes fail once the other side has not read for too long.
#[derive(Debug)]
pub(crate) struct PatientStream {
    stream: TcpStream,
    limit: Duration,
    /// What is left of the limit.
    patience: Duration,
    /// Since when a write waits, and until when it may; none while none does.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl PatientStream {
    /// A connection whose reader may rest for so long.
    pub(crate) fn new(stream: TcpStream, limit: Duration) -> Self {
        Self { stream, limit, patience: limit, waiting: None }
    }

    /// What becomes of a write: patience is spent while it waits, and earned by what was taken.
    fn counted(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(done) => {
                if let Some((since, _)) = self.waiting.take() {
                    self.patience = self.patience.saturating_sub(since.elapsed());
                }
                if let Ok(bytes) = &done {
                    let bytes = u32::try_from(*bytes).unwrap_or(u32::MAX).min(LEAST_BYTES);
                    let earned = self.limit * bytes / LEAST_BYTES;
                    self.patience = self.patience.saturating_add(earned).min(self.limit);
                }
                Poll::Ready(done)
            }
            Poll::Pending => {
                let patience = self.patience;
                let (_, end) = self.waiting.get_or_insert_with(|| {
                    (Instant::now(), Box::pin(tokio::time::sleep(patience)))
                });
                ready!(end.as_mut().poll(context));
                // What lies in the system's buffers would stay there for minutes, for a reader who does not read.
                let _ = self.stream.set_zero_linger();
                let words = "the other side does not read its answer";
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, words)))
            }
        }
    }
}

impl AsyncRead for PatientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for PatientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.counted(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.counted(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    // Sockets hand over at once what is written; there is nothing to wait for.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::net::TcpListener;

    use super::*;

    async fn write_all(writer: &mut PatientStream, bytes: &[u8]) -> io::Result<()> {
        let mut left = bytes;
        while !left.is_empty() {
            let count = poll_fn(|context| Pin::new(&mut *writer).poll_write(context, left)).await?;
            left = &left[count..];
        }
        Ok(())
    }

    async fn pair(limit: Duration) -> (PatientStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let reader = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (writer, _) = listener.accept().await.unwrap();
        (PatientStream::new(writer, limit), reader)
    }

    fn run(work: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(work);
    }

    /// More than any buffer of the system.
    const MUCH: usize = 64 << 20;

    #[test]
    fn a_reader_who_takes_nothing_is_left_after_the_limit() {
        run(async {
            let limit = Duration::from_millis(300);
            let (mut writer, _reader) = pair(limit).await;
            let start = Instant::now();
            let error = write_all(&mut writer, &vec![0; MUCH]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert!((limit..10 * limit).contains(&start.elapsed()), "{:?}", start.elapsed());
        });
    }

    /// Small pieces with rests between them, for several times the limit: enough for all of it to be earned again and again.
    #[test]
    fn a_slow_reader_who_takes_enough_is_waited_for() {
        run(async {
            let limit = Duration::from_millis(600);
            let (mut writer, reader) = pair(limit).await;
            let reading = tokio::spawn(async move {
                let (mut buffer, mut all) = (vec![0; 2 << 20], 0);
                loop {
                    reader.readable().await.unwrap();
                    match reader.try_read(&mut buffer) {
                        Ok(0) => return all,
                        Ok(count) => all += count,
                        Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
                    }
                    tokio::time::sleep(Duration::from_millis(40)).await;
                }
            });
            let start = Instant::now();
            write_all(&mut writer, &vec![0; MUCH]).await.unwrap();
            drop(writer);
            assert_eq!(reading.await.unwrap(), MUCH);
            assert!(start.elapsed() > limit, "the reader was not slow: {:?}", start.elapsed());
        });
    }

    /// A byte now and then is not reading.
    #[test]
    fn patience_is_not_earned_by_crumbs() {
        run(async {
            let (mut stream, _reader) = pair(Duration::from_secs(10)).await;
            stream.patience = Duration::from_secs(1);
            let mut context = Context::from_waker(std::task::Waker::noop());
            let _ = stream.counted(&mut context, Poll::Ready(Ok(1)));
            assert!(stream.patience < Duration::from_millis(1001), "{:?}", stream.patience);
            let _ = stream.counted(&mut context, Poll::Ready(Ok(1 << 20)));
            assert_eq!(stream.patience, Duration::from_secs(10));
        });
    }
}
