//! Guards, and values that hold one.
use super::*;
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

/// Work in progress: the node is not complete before it is dropped. Each clone counts by itself.
pub struct Guard {
    raw: sys::swansong_guard,
    node: *mut sys::swansong, // for equality; the guard keeps it
}

unsafe impl Send for Guard {}
unsafe impl Sync for Guard {}

/// A place in the program as text of C, which lives as long as the program.
#[derive(Clone, Copy)]
struct Place(*const c_char);

unsafe impl Send for Place {}

static PLACES: Mutex<Option<HashMap<&'static str, Place>>> = Mutex::new(None);
const RUST: *const c_char = b"rust\0".as_ptr() as *const c_char;

static NAMES_FILES: AtomicBool = AtomicBool::new(false);

/// Has guards know their file, for a report.
pub(crate) fn name_files() {
    NAMES_FILES.store(true, Ordering::Relaxed);
}

/// Without a report no name is needed, and none is looked up.
fn file_of(place: &'static Location<'static>) -> *const c_char {
    if !NAMES_FILES.load(Ordering::Relaxed) {
        return RUST;
    }
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    let text = || CString::new(place.file()).map_or(RUST, |text| text.into_raw() as *const c_char);
    places.get_or_insert_with(HashMap::new).entry(place.file()).or_insert_with(|| Place(text())).0
}

impl Guard {
    #[track_caller]
    pub(crate) fn new(node: &Arc<Node>) -> Self {
        let place = Location::caller();
        let file = file_of(place);
        let raw = unsafe { sys::swansong_guard_at(node.0, file, place.line(), RUST) };
        Self { raw, node: node.0 }
    }
}

impl Clone for Guard {
    #[track_caller]
    fn clone(&self) -> Self {
        let place = Location::caller();
        let file = file_of(place);
        let raw = unsafe { sys::swansong_guard_clone_at(&self.raw, file, place.line(), RUST) };
        Self { raw, node: self.node }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        unsafe { sys::swansong_guard_drop(&mut self.raw) };
    }
}

/// Guards of one node are equal.
impl PartialEq for Guard {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}
impl Eq for Guard {}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guard").field(&self.node).finish()
    }
}

/// A value and a guard, which is dropped after it.
#[derive(Clone, Debug)]
pub struct Guarded<T> {
    value: T,
    guard: Guard,
}

impl<T> Guarded<T> {
    pub(crate) fn new(value: T, guard: Guard) -> Self {
        Self { value, guard }
    }

    /// The value; the guard is dropped.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// The value is pinned with its wrapper, and never moved out of it while pinned.
    pub(crate) fn value(self: Pin<&mut Self>) -> Pin<&mut T> {
        unsafe { self.map_unchecked_mut(|guarded| &mut guarded.value) }
    }
}

impl<T> Deref for Guarded<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Guarded<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: PartialEq> PartialEq for Guarded<T> {
    fn eq(&self, other: &Self) -> bool {
        self.guard == other.guard && self.value == other.value
    }
}
impl<T: Eq> Eq for Guarded<T> {}

impl<T: Future> Future for Guarded<T> {
    type Output = T::Output;
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T::Output> {
        self.value().poll(cx)
    }
}

impl<T: Iterator> Iterator for Guarded<T> {
    type Item = T::Item;
    fn next(&mut self) -> Option<T::Item> {
        self.value.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.value.size_hint()
    }
}

#[cfg(feature = "futures-core")]
impl<T: futures_core::Stream> futures_core::Stream for Guarded<T> {
    type Item = T::Item;
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T::Item>> {
        self.value().poll_next(cx)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.value.size_hint()
    }
}

#[cfg(feature = "futures-io")]
mod io_traits {
    use super::*;
    use futures_io::{AsyncBufRead, AsyncRead, AsyncWrite};

    impl<T: AsyncRead> AsyncRead for Guarded<T> {
        fn poll_read(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &mut [u8],
        ) -> Poll<io::Result<usize>> {
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
        fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.value().poll_flush(cx)
        }
        fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.value().poll_close(cx)
        }
    }
}
