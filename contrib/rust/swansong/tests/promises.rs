//! What the crate adds to the declarations: lifetimes, wakers and traits.
use std::future::{pending, ready, Future};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use swansong::{ShutdownState, Swansong};

/// Unparks a thread, and counts.
struct Unpark(Thread, AtomicU32);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.unpark();
    }
}

fn unpark() -> (Arc<Unpark>, Waker) {
    let unpark = Arc::new(Unpark(thread::current(), AtomicU32::new(0)));
    (unpark.clone(), unpark.into())
}

fn block_on<F: Future>(future: F) -> F::Output {
    let (_, waker) = unpark();
    let mut future = Box::pin(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

#[test]
fn a_node_passes_through_its_states_and_its_completion_latches() {
    let root = Swansong::new();
    let child = root.child();
    let guard = child.guard();
    let other = guard.clone();
    assert!(root.state().is_running());
    assert_eq!(root.guard_count(), 2);
    let completion = root.shut_down();
    assert_eq!(child.state(), ShutdownState::ShuttingDown);
    drop(guard);
    assert!(!completion.block_timeout(Duration::ZERO));
    drop(other);
    assert!(completion.block_timeout(Duration::ZERO));
    assert!(root.state().is_complete());
    let late = root.guard();
    assert!(root.state().is_shutting_down());
    assert!(completion.is_complete());
    drop(late);
    block_on(completion);
}

#[test]
fn a_task_is_woken_by_the_last_drop_of_another_thread() {
    for _ in 0..1000 {
        let root = Swansong::new();
        let guard = root.guard();
        let stopper = root.clone();
        let thread = thread::spawn(move || {
            stopper.shut_down();
            drop(guard);
        });
        block_on(root.completion());
        thread.join().unwrap();
    }
}

#[test]
fn a_task_is_woken_by_the_stop_of_another_thread() {
    for _ in 0..1000 {
        let root = Swansong::new();
        let stopper = root.clone();
        let interrupt = root.interrupt(pending::<()>()).guarded();
        let thread = thread::spawn(move || stopper.shut_down());
        assert_eq!(block_on(interrupt), None);
        block_on(thread.join().unwrap());
        block_on(root.shutting_down());
    }
}

#[test]
fn the_waker_of_the_last_poll_is_used_once() {
    let root = Swansong::new();
    let guard = root.guard();
    let mut completion = root.shut_down();
    let ((first, first_waker), (second, second_waker)) = (unpark(), unpark());
    for waker in [&first_waker, &second_waker] {
        assert!(Pin::new(&mut completion).poll(&mut Context::from_waker(waker)).is_pending());
    }
    drop(guard);
    assert_eq!(first.1.load(Ordering::SeqCst), 0);
    assert_eq!(second.1.load(Ordering::SeqCst), 1);
}

/// Drops the future that it wakes, inside of the function that libswansong calls.
struct DropsTask(std::sync::Mutex<Option<swansong::ShutdownCompletion>>);

impl Wake for DropsTask {
    fn wake(self: Arc<Self>) {
        drop(self.0.lock().unwrap().take());
    }
}

#[test]
fn a_waker_may_drop_its_task() {
    let root = Swansong::new();
    let guard = root.guard();
    let task = Arc::new(DropsTask(Some(root.shut_down()).into()));
    let waker = Waker::from(task.clone());
    let mut completion = task.0.lock().unwrap().take().unwrap();
    assert!(Pin::new(&mut completion).poll(&mut Context::from_waker(&waker)).is_pending());
    *task.0.lock().unwrap() = Some(completion);
    drop(guard);
    assert!(task.0.lock().unwrap().is_none());
}

#[test]
fn dropping_the_last_clone_of_a_root_stops_it_and_of_a_child_does_not() {
    let root = Swansong::new();
    let child = root.child();
    let mut of_child = child.interrupt(0..);
    let guard = child.guard();
    drop(child);
    assert_eq!(of_child.next(), Some(0));
    let mut of_root = root.interrupt(0..);
    drop(root.clone());
    assert_eq!(of_root.next(), Some(0));
    drop(root);
    assert_eq!((of_root.next(), of_child.next()), (None, None));
    drop(guard);
    assert_eq!(of_root.into_inner(), 1..);
}

#[test]
fn an_orphaned_interrupt_ends_and_so_does_its_clone() {
    let root = Swansong::new();
    let child = root.child();
    let interrupt = child.interrupt(0..);
    drop(child);
    assert!(interrupt.is_stopped());
    assert_eq!(interrupt.clone().next(), None);
    assert_eq!(interrupt.guarded().next(), None);
    assert_eq!(root.guard_count(), 0);
}

#[test]
fn values_with_guards_are_transparent() {
    let root = Swansong::new();
    let mut list = root.guarded(vec![1]);
    list.push(2);
    assert_eq!((list.len(), root.guard_count()), (2, 1));
    assert_eq!(list.clone(), list);
    assert_eq!(list.into_inner(), [1, 2]);
    assert_eq!(root.guard_count(), 0);
    assert_eq!(block_on(root.guarded(ready("yes"))), "yes");
    assert_eq!(block_on(root.interrupt(ready("yes")).guarded()), Some("yes"));
    assert_eq!(root.guard_count(), 0);
}

#[test]
fn equality_is_identity() {
    let (root, other) = (Swansong::new(), Swansong::new());
    assert_eq!(root, root.clone());
    assert_ne!(root, other);
    assert_ne!(root, root.child());
    assert_eq!(root.guard(), root.guard());
    assert_ne!(root.guard(), other.guard());
    assert_ne!(root.guarded(1), other.guarded(1));
    assert_eq!(root.interrupt(1), root.interrupt(1));
    assert_ne!(root.interrupt(1), other.interrupt(1));
    assert_eq!(root.interrupt(0..3).size_hint(), (0, Some(3)));
}

#[test]
fn the_only_clone_may_wait() {
    let root = Swansong::new();
    let guard = root.guard();
    let thread = thread::spawn(move || drop(guard));
    root.block_on_shutdown_completion();
    thread.join().unwrap();
}

#[test]
fn a_report_names_the_places_of_guards() {
    let root = Swansong::new();
    root.enable_guard_report().unwrap();
    assert_eq!(root.guard_report().unwrap().to_string(), "no outstanding guards");
    let (guard, line) = (root.guard(), line!());
    let clone = guard.clone();
    let report = root.guard_report().unwrap();
    assert_eq!(report.guard_count(), 2);
    assert!(report.entries().iter().any(|e| e.file == file!() && e.line == line && e.count == 1));
    assert!(report.to_string().starts_with("2 outstanding guards:\n1 × "));
    drop((guard, clone));
}

#[test]
fn a_signal_stops_a_node() {
    let root = Swansong::new();
    root.stop_on_signal(12).unwrap(); // SIGUSR2
    extern "C" {
        fn raise(signo: i32) -> i32;
    }
    unsafe { raise(12) };
    root.shutting_down().block();
    assert!(root.stop_on_signal(9).is_err());
}

#[cfg(feature = "futures-core")]
mod streams {
    use super::*;
    use futures_core::Stream;

    struct Ones;
    impl Stream for Ones {
        type Item = u8;
        fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<u8>> {
            Poll::Ready(Some(1))
        }
    }

    #[test]
    fn a_stream_ends_with_the_stop() {
        let root = Swansong::new();
        let (_, waker) = unpark();
        let mut cx = Context::from_waker(&waker);
        let mut stream = root.guarded(root.interrupt(Ones));
        assert_eq!(Pin::new(&mut stream).poll_next(&mut cx), Poll::Ready(Some(1)));
        root.shut_down();
        assert_eq!(Pin::new(&mut stream).poll_next(&mut cx), Poll::Ready(None));
    }
}

#[cfg(feature = "futures-io")]
mod readers {
    use super::*;
    use futures_io::{AsyncBufRead, AsyncRead, AsyncWrite};

    #[test]
    fn readers_and_writers_end_with_the_stop_and_lose_nothing() {
        let root = Swansong::new();
        let (_, waker) = unpark();
        let mut cx = Context::from_waker(&waker);
        let mut reader = root.guarded(root.interrupt(&b"hello"[..]));
        let mut writer = root.interrupt(root.guarded(Vec::new()));
        let mut buffer = [0; 2];
        let ready = Poll::Ready(2);
        assert_eq!(Pin::new(&mut reader).poll_read(&mut cx, &mut buffer).map(Result::unwrap), ready);
        assert_eq!(Pin::new(&mut writer).poll_write(&mut cx, b"he").map(Result::unwrap), ready);
        {
            let left = Pin::new(&mut reader).poll_fill_buf(&mut cx).map(Result::unwrap);
            assert_eq!(left, Poll::Ready(&b"llo"[..]));
        }
        Pin::new(&mut reader).consume(1);
        root.shut_down();
        let end = Poll::Ready(0);
        assert_eq!(Pin::new(&mut reader).poll_read(&mut cx, &mut buffer).map(Result::unwrap), end);
        assert_eq!(Pin::new(&mut writer).poll_write(&mut cx, b"he").map(Result::unwrap), end);
        assert!(Pin::new(&mut writer).poll_flush(&mut cx).is_ready());
        assert!(Pin::new(&mut writer).poll_close(&mut cx).is_ready());
        assert_eq!(reader.into_inner().into_inner(), b"lo");
        assert_eq!(writer.into_inner().into_inner(), b"he");
    }
}
