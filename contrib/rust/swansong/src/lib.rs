//! Graceful shutdown for threads and tasks, by libswansong; the model is in libswansong(3).
//!
//! ```no_run
//! use swansong::Swansong;
//!
//! let swansong = Swansong::attached().unwrap(); // below swansongd, or an ordinary root
//! swansong.stop_on_signal(15).unwrap();
//! let guard = swansong.guard();                 // work in progress
//! std::thread::spawn(move || drop(guard));
//! for number in swansong.interrupt(1..) {       // until the stop
//!     println!("{number}");
//! }
//! swansong.block_on_shutdown_completion();      // until no guard is held
//! ```
//!
//! A [`Swansong`] and a [`ShutdownCompletion`] can be awaited, and an [`Interrupt`] or a [`Guarded`]
//! is a future, an iterator, a stream (feature `futures-core`) or a reader or writer (`futures-io`)
//! if the type in it is one. Tasks are woken on the thread that stops the node or drops its last
//! guard; no executor is needed. A task must not be dropped while a lock is held that its waker takes.
use std::ffi::{c_void, CStr, CString};
use std::fmt;
#[cfg(feature = "into-future")]
use std::future::IntoFuture;
use std::future::{Future, Pending};
use std::io;
use std::os::raw::{c_char, c_int};
use std::panic::{catch_unwind, AssertUnwindSafe, Location};
use std::pin::Pin;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use swansong_sys as sys;

mod guard;
mod interrupt;
mod report;
#[cfg(feature = "tokio")]
mod tokio_io;
pub use guard::{Guard, Guarded};
pub use interrupt::{Interrupt, ShuttingDown};
pub use report::{GuardReport, GuardReportEntry};

fn checked(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-result));
    }
    Ok(result)
}

/// Panics without memory, as an allocation does.
fn allocated(result: c_int) {
    checked(result).expect("libswansong");
}

fn deadline(timeout: Duration) -> u64 {
    let usec = u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX);
    unsafe { sys::swansong_deadline_in(usec) }
}

/// A reference to a node of C, which all clones share.
#[derive(Debug)]
struct Node(*mut sys::swansong);

// The functions of C may be called from any thread.
unsafe impl Send for Node {}
unsafe impl Sync for Node {}

impl Drop for Node {
    fn drop(&mut self) {
        unsafe { sys::swansong_unref(self.0) };
    }
}

/// A name for a set of guards, and what stops them. A clone is the same node; equality is identity.
/// Dropping the last clone of a root stops it, of a child does not.
#[derive(Clone)]
pub struct Swansong(Arc<Node>);

/// See [`Swansong::state`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutdownState {
    /// Not stopped.
    Running,
    /// Stopped, with guards in the subtree.
    ShuttingDown,
    /// Stopped, with no guard in the subtree.
    Complete,
}

impl ShutdownState {
    pub fn is_running(&self) -> bool {
        *self == Self::Running
    }
    pub fn is_shutting_down(&self) -> bool {
        *self == Self::ShuttingDown
    }
    pub fn is_complete(&self) -> bool {
        *self == Self::Complete
    }
}

impl Swansong {
    fn from_raw(raw: *mut sys::swansong) -> Self {
        Self(Arc::new(Node(raw)))
    }

    /// A root.
    pub fn new() -> Self {
        let mut raw = null_mut();
        allocated(unsafe { sys::swansong_new(&mut raw) });
        Self::from_raw(raw)
    }

    /// The root of a program that may run below swansongd: swansong_attach(3). No other thread may use
    /// the environment meanwhile.
    pub fn attached() -> io::Result<Self> {
        let mut raw = null_mut();
        checked(unsafe { sys::swansong_attach(&mut raw) })?;
        Ok(Self::from_raw(raw))
    }

    /// A node below this one; that of a stopped node is born stopped.
    pub fn child(&self) -> Self {
        let mut raw = null_mut();
        allocated(unsafe { sys::swansong_child(self.0 .0, &mut raw) });
        Self::from_raw(raw)
    }

    /// Stops the node and all below it; does not wait. The completion can be awaited or ignored.
    pub fn shut_down(&self) -> ShutdownCompletion {
        unsafe { sys::swansong_shut_down(self.0 .0) };
        self.completion()
    }

    /// Ready when the node is stopped and no guard is held, without a stop of its own.
    pub fn completion(&self) -> ShutdownCompletion {
        ShutdownCompletion::new(self.0.clone())
    }

    /// Has a signal stop the node, on a thread of libswansong.
    pub fn stop_on_signal(&self, signo: i32) -> io::Result<()> {
        checked(unsafe { sys::swansong_stop_on_signal(self.0 .0, signo) }).map(drop)
    }

    /// Blocks the thread until the node is stopped and no guard is held.
    pub fn block_on_shutdown_completion(self) {
        let completion = self.completion();
        drop(self); // the last clone of a root stops it
        completion.block();
    }

    pub fn state(&self) -> ShutdownState {
        match unsafe { sys::swansong_state(self.0 .0) } {
            sys::SWANSONG_RUNNING => ShutdownState::Running,
            sys::SWANSONG_SHUTTING_DOWN => ShutdownState::ShuttingDown,
            _ => ShutdownState::Complete,
        }
    }

    /// The number of guards in the subtree.
    pub fn guard_count(&self) -> usize {
        unsafe { sys::swansong_guard_count(self.0 .0) as usize }
    }

    /// Counts the guards of a busy node for each processor apart.
    pub fn enable_percpu(&self) -> io::Result<()> {
        checked(unsafe { sys::swansong_percpu_enable(self.0 .0) }).map(drop)
    }

    /// Work in progress, until it is dropped.
    #[track_caller]
    pub fn guard(&self) -> Guard {
        Guard::new(&self.0)
    }

    /// The value, and a guard for as long as it lives.
    #[track_caller]
    pub fn guarded<T>(&self, value: T) -> Guarded<T> {
        Guarded::new(value, self.guard())
    }

    /// The value, which ends with the stop.
    pub fn interrupt<T>(&self, value: T) -> Interrupt<T> {
        Interrupt::new(&self.0, value)
    }

    /// A future that is ready at the stop, whatever guards are held.
    pub fn shutting_down(&self) -> ShuttingDown {
        ShuttingDown::new(self)
    }

    /// Switches the report on, for the whole tree.
    pub fn enable_guard_report(&self) -> io::Result<()> {
        guard::name_files();
        checked(unsafe { sys::swansong_report_enable(self.0 .0) }).map(drop)
    }

    /// The guards that are held in the subtree, and where they were taken.
    pub fn guard_report(&self) -> io::Result<GuardReport> {
        GuardReport::new(&self.0)
    }
}

impl Default for Swansong {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Swansong {
    fn eq(&self, other: &Self) -> bool {
        self.0 .0 == other.0 .0
    }
}
impl Eq for Swansong {}

impl fmt::Debug for Swansong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Swansong")
            .field("state", &self.state())
            .field("guard_count", &self.guard_count())
            .finish()
    }
}

/// As [`Swansong::completion`]; needs Rust 1.64, and the feature `into-future`.
#[cfg(feature = "into-future")]
impl IntoFuture for Swansong {
    type Output = ();
    type IntoFuture = ShutdownCompletion;

    fn into_future(self) -> ShutdownCompletion {
        self.completion()
    }
}

/// The waker of the task that has polled last.
#[derive(Debug, Default)]
struct Wake(Mutex<Option<Waker>>);

impl Wake {
    /// Has the task woken: the first time, `notify` gets the function and its argument. The event must
    /// be looked at again afterwards.
    fn register(
        wake: &mut Option<Arc<Self>>,
        cx: &Context<'_>,
        notify: impl FnOnce(unsafe extern "C" fn(*mut c_void), *mut c_void) -> c_int,
    ) {
        let set = |wake: &Self| {
            *wake.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        };
        if let Some(wake) = wake {
            return set(wake);
        }
        let wake = wake.insert(Arc::default());
        set(wake);
        allocated(notify(Self::call, Arc::as_ptr(wake) as *mut c_void));
    }

    /// The function that libswansong calls. The task may drop its future inside of it.
    unsafe extern "C" fn call(arg: *mut c_void) {
        Arc::increment_strong_count(arg as *const Self);
        let wake = Arc::from_raw(arg as *const Self);
        let waker = wake.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let woken = catch_unwind(AssertUnwindSafe(|| waker.map(Waker::wake)));
        if woken.is_err() {
            std::process::abort();
        }
    }
}

/// The end of a node, which latches: to be awaited, or to be blocked on. It keeps no node running.
pub struct ShutdownCompletion {
    raw: *mut sys::swansong_completion,
    wake: Option<Arc<Wake>>, // dropped after the completion, which uses it
}

unsafe impl Send for ShutdownCompletion {}
unsafe impl Sync for ShutdownCompletion {}

impl ShutdownCompletion {
    fn new(node: Arc<Node>) -> Self {
        let mut raw = null_mut();
        allocated(unsafe { sys::swansong_completion_new(node.0, &mut raw) });
        Self { raw, wake: None }
    }

    pub fn is_complete(&self) -> bool {
        unsafe { sys::swansong_completion_done(self.raw) }
    }

    /// Blocks the thread until the end.
    pub fn block(self) {
        unsafe { sys::swansong_completion_wait(self.raw, u64::MAX) };
    }

    /// Blocks the thread until the end, or for that time. Returns whether the end has come.
    pub fn block_timeout(&self, timeout: Duration) -> bool {
        unsafe { sys::swansong_completion_wait(self.raw, deadline(timeout)) == 0 }
    }
}

impl Drop for ShutdownCompletion {
    fn drop(&mut self) {
        unsafe { sys::swansong_completion_unref(self.raw) };
    }
}

impl Future for ShutdownCompletion {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_complete() {
            return Poll::Ready(());
        }
        let raw = self.raw;
        Wake::register(&mut self.wake, cx, |call, arg| unsafe {
            sys::swansong_completion_notify(raw, call, arg)
        });
        if self.is_complete() {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl fmt::Debug for ShutdownCompletion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShutdownCompletion").field("is_complete", &self.is_complete()).finish()
    }
}
