//! Values that end with the stop.
use super::*;
use std::ops::{Deref, DerefMut};

/// The interrupt of C, with the waker that it calls.
struct Stop {
    raw: *mut sys::swansong_interrupt,
    wake: Option<Arc<Wake>>,
}

unsafe impl Send for Stop {}
unsafe impl Sync for Stop {}

impl Stop {
    fn new(node: &Arc<Node>) -> Self {
        let mut raw = null_mut();
        allocated(unsafe { sys::swansong_interrupt_new(node.0, &mut raw) });
        Self { raw, wake: None }
    }

    fn has_come(&self) -> bool {
        unsafe { sys::swansong_interrupted(self.raw) }
    }

    /// Has the task woken. Returns true if the stop has come.
    fn poll(&mut self, cx: &Context<'_>) -> bool {
        let raw = self.raw;
        Wake::register(&mut self.wake, cx, |call, arg| unsafe {
            sys::swansong_interrupt_notify(raw, call, arg)
        });
        self.has_come()
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        unsafe { sys::swansong_interrupt_unref(self.raw) };
    }
}

/// A value that ends at the stop of its node, or once the node is gone: as a future with `None`, as
/// an iterator or a stream with its end, as a reader or a writer with 0 bytes. It delays nothing
/// unless it is [`guarded`](Interrupt::guarded).
pub struct Interrupt<T> {
    value: T,
    stop: Option<Stop>, // None for a clone that was made when the node was gone
    node: Weak<Node>,
    guard: Option<Guard>,
}

impl<T> Interrupt<T> {
    pub(crate) fn new(node: &Arc<Node>, value: T) -> Self {
        Self { value, stop: Some(Stop::new(node)), node: Arc::downgrade(node), guard: None }
    }

    /// Holds a guard from now on, if a [`Swansong`] of the node is left.
    #[must_use]
    #[track_caller]
    pub fn guarded(mut self) -> Self {
        if self.guard.is_none() {
            self.guard = match self.node.upgrade() {
                Some(node) => Some(Guard::new(&node)),
                None => None,
            };
        }
        self
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.as_ref().map_or(true, Stop::has_come)
    }

    /// The value; a guard is dropped.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// The value is pinned with its wrapper, and never moved out of it while pinned.
    pub(crate) fn value(self: Pin<&mut Self>) -> Pin<&mut T> {
        unsafe { self.map_unchecked_mut(|interrupt| &mut interrupt.value) }
    }

    pub(crate) fn poll_with<R>(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut T>, &mut Context<'_>) -> Poll<R>,
        end: impl FnOnce() -> R,
    ) -> Poll<R> {
        if self.is_stopped() {
            return Poll::Ready(end());
        }
        let result = poll(self.as_mut().value(), cx);
        if result.is_pending() {
            // Nothing is moved: only the other members are used.
            let this = unsafe { self.get_unchecked_mut() };
            if this.stop.as_mut().map_or(true, |stop| stop.poll(cx)) {
                return Poll::Ready(end());
            }
        }
        result
    }
}

impl<T> Deref for Interrupt<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Interrupt<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: Clone> Clone for Interrupt<T> {
    fn clone(&self) -> Self {
        let node = self.node.upgrade();
        Self {
            value: self.value.clone(),
            stop: node.as_ref().map(Stop::new),
            node: self.node.clone(),
            guard: self.guard.clone(),
        }
    }
}

impl<T: PartialEq> PartialEq for Interrupt<T> {
    fn eq(&self, other: &Self) -> bool {
        self.node.ptr_eq(&other.node) && self.value == other.value
    }
}
impl<T: Eq> Eq for Interrupt<T> {}

impl<T: fmt::Debug> fmt::Debug for Interrupt<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupt")
            .field("value", &self.value)
            .field("is_stopped", &self.is_stopped())
            .field("is_guarded", &self.guard.is_some())
            .finish()
    }
}

impl<T: Future> Future for Interrupt<T> {
    type Output = Option<T::Output>;
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T::Output>> {
        self.poll_with(cx, |value, cx| value.poll(cx).map(Some), || None)
    }
}

impl<T: Iterator> Iterator for Interrupt<T> {
    type Item = T::Item;
    fn next(&mut self) -> Option<T::Item> {
        if self.is_stopped() {
            return None;
        }
        self.value.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.value.size_hint().1)
    }
}

#[cfg(feature = "futures-core")]
impl<T: futures_core::Stream> futures_core::Stream for Interrupt<T> {
    type Item = T::Item;
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T::Item>> {
        self.poll_with(cx, |value, cx| value.poll_next(cx), || None)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.value.size_hint().1)
    }
}

#[cfg(feature = "futures-io")]
mod io_traits {
    use super::*;
    use futures_io::{AsyncBufRead, AsyncRead, AsyncWrite};

    impl<T: AsyncRead> AsyncRead for Interrupt<T> {
        fn poll_read(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &mut [u8],
        ) -> Poll<io::Result<usize>> {
            self.poll_with(cx, |value, cx| value.poll_read(cx, buffer), || Ok(0))
        }
    }

    impl<T: AsyncBufRead> AsyncBufRead for Interrupt<T> {
        fn poll_fill_buf(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<io::Result<&[u8]>> {
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

    /// Flushing and closing go on after the stop, so that nothing written before is lost.
    impl<T: AsyncWrite> AsyncWrite for Interrupt<T> {
        fn poll_write(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.poll_with(cx, |value, cx| value.poll_write(cx, buffer), || Ok(0))
        }
        fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.value().poll_flush(cx)
        }
        fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.value().poll_close(cx)
        }
    }
}

/// Ready at the stop; see [`Swansong::shutting_down`].
#[derive(Debug)]
pub struct ShuttingDown(Interrupt<Pending<()>>);

impl ShuttingDown {
    pub(crate) fn new(swansong: &Swansong) -> Self {
        Self(swansong.interrupt(std::future::pending()))
    }

    /// Blocks the thread until the stop.
    pub fn block(self) {
        if let Some(stop) = &self.0.stop {
            unsafe { sys::swansong_interrupt_wait(stop.raw, u64::MAX) };
        }
    }
}

impl Future for ShuttingDown {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(drop)
    }
}
