//! The traits of readers and writers of tokio; what they mean is that of the traits of futures-io.
use super::*;
use std::io::IoSlice;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};

impl<T: AsyncRead> AsyncRead for Interrupt<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll_with(cx, |value, cx| value.poll_read(cx, buffer), || Ok(()))
    }
}

impl<T: AsyncBufRead> AsyncBufRead for Interrupt<T> {
    fn poll_fill_buf(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let ready = |value: Pin<&mut T>, cx: &mut Context<'_>| {
            value.poll_fill_buf(cx).map(|buffer| buffer.map(|buffer| !buffer.is_empty()))
        };
        match self.as_mut().poll_with(cx, ready, || Ok(false)) {
            Poll::Ready(Ok(true)) => self.value().poll_fill_buf(cx),
            Poll::Ready(Ok(false)) => Poll::Ready(Ok(&[])),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }
    fn consume(self: Pin<&mut Self>, n: usize) {
        self.value().consume(n)
    }
}

/// Flushing and shutting down go on after the stop, so that nothing written before is lost.
impl<T: AsyncWrite> AsyncWrite for Interrupt<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_with(cx, |value, cx| value.poll_write(cx, buffer), || Ok(0))
    }
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_with(cx, |value, cx| value.poll_write_vectored(cx, buffers), || Ok(0))
    }
    fn is_write_vectored(&self) -> bool {
        (**self).is_write_vectored()
    }
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.value().poll_flush(cx)
    }
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.value().poll_shutdown(cx)
    }
}

impl<T: AsyncRead> AsyncRead for Guarded<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.value().poll_read(cx, buffer)
    }
}

impl<T: AsyncBufRead> AsyncBufRead for Guarded<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.value().poll_fill_buf(cx)
    }
    fn consume(self: Pin<&mut Self>, n: usize) {
        self.value().consume(n)
    }
}

impl<T: AsyncWrite> AsyncWrite for Guarded<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.value().poll_write(cx, buffer)
    }
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.value().poll_write_vectored(cx, buffers)
    }
    fn is_write_vectored(&self) -> bool {
        (**self).is_write_vectored()
    }
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.value().poll_flush(cx)
    }
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.value().poll_shutdown(cx)
    }
}
