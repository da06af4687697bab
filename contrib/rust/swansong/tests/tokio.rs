//! Readers, writers and tasks of tokio, stopped by another thread.
use std::future::Future;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::thread;

use swansong::Swansong;
use tokio::io::{duplex, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::runtime::Builder;

fn run<F: Future>(future: F) -> F::Output {
    Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Stops a node when it is asked to: by then the task has been polled, or is about to be.
struct Stopper(mpsc::Sender<()>);

impl Stopper {
    fn new(root: &Swansong) -> Self {
        let (sender, receiver) = mpsc::channel();
        let root = root.clone();
        thread::spawn(move || {
            receiver.recv().unwrap();
            root.shut_down();
        });
        Self(sender)
    }

    /// A future that waits for the stop, which comes after its first poll.
    fn stop_during<F: Future>(self, future: F) -> StopDuring<F> {
        StopDuring(Box::pin(future), self)
    }
}

struct StopDuring<F>(Pin<Box<F>>, Stopper);

impl<F: Future> Future for StopDuring<F> {
    type Output = F::Output;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let result = self.0.as_mut().poll(cx);
        let _ = self.1 .0.send(()); // refused if the thread has ended
        result
    }
}

#[test]
fn a_reader_that_waits_ends_with_the_stop() {
    for _ in 0..100 {
        run(async {
            let root = Swansong::new();
            let (mut near, far) = duplex(64);
            let mut reader = root.guarded(root.interrupt(far));
            let mut buffer = [0; 8];
            near.write_all(b"hello").await.unwrap();
            assert_eq!(reader.read(&mut buffer).await.unwrap(), 5);
            let stopper = Stopper::new(&root);
            assert_eq!(stopper.stop_during(reader.read(&mut buffer)).await.unwrap(), 0);
            assert_eq!(reader.read(&mut buffer).await.unwrap(), 0);
            assert!(root.state().is_shutting_down());
            drop(reader);
            root.completion().await;
        });
    }
}

#[test]
fn input_that_was_not_read_before_the_stop_can_still_be_read() {
    run(async {
        let root = Swansong::new();
        let mut reader = root.interrupt(BufReader::new(&b"one\ntwo\n"[..]));
        let mut line = String::new();
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 4);
        root.shut_down();
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 0);
        let mut reader = reader.into_inner();
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 4);
        assert_eq!(line, "one\ntwo\n");
    });
}

#[test]
fn a_writer_that_waits_ends_with_the_stop_and_what_was_written_arrives() {
    run(async {
        let root = Swansong::new();
        let (near, mut far) = duplex(2);
        let mut writer = root.interrupt(root.guarded(near));
        assert_eq!(writer.write(b"hello").await.unwrap(), 2);
        let stopper = Stopper::new(&root);
        assert_eq!(stopper.stop_during(writer.write(b"llo")).await.unwrap(), 0);
        writer.flush().await.unwrap();
        writer.shutdown().await.unwrap();
        let mut text = String::new();
        far.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "he");
    });
}

#[test]
fn a_writer_of_many_buffers_stays_one() {
    run(async {
        let root = Swansong::new();
        let mut writer = root.interrupt(root.guarded(Vec::new()));
        assert!(writer.is_write_vectored());
        let buffers = [IoSlice::new(b"he"), IoSlice::new(b"llo")];
        assert_eq!(writer.write_vectored(&buffers).await.unwrap(), 5);
    });
}

#[test]
fn a_node_waits_for_the_tasks_that_hold_a_guard() {
    run(async {
        let root = Swansong::new();
        let (send, receive) = mpsc::channel();
        let local = tokio::task::spawn_blocking(move || receive.recv().unwrap());
        let task = tokio::spawn(root.guarded(async move { local.await.unwrap() }));
        let end = root.shut_down();
        assert!(!end.is_complete());
        send.send("done").unwrap();
        end.await;
        assert_eq!(task.await.unwrap(), "done");
    });
}
