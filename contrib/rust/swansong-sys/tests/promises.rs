//! The declarations are those of the library: what the C tests prove is tried once from here.
use std::mem::size_of;
use std::os::raw::{c_char, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use swansong_sys::*;

const FILE: *const c_char = b"promises.rs\0".as_ptr() as *const c_char;
const FUNCTION: *const c_char = b"test\0".as_ptr() as *const c_char;

fn new_root() -> *mut swansong {
    let mut root = null_mut();
    assert_eq!(unsafe { swansong_new(&mut root) }, 0);
    root
}

fn new_child(parent: *mut swansong) -> *mut swansong {
    let mut child = null_mut();
    assert_eq!(unsafe { swansong_child(parent, &mut child) }, 0);
    child
}

unsafe extern "C" fn count(arg: *mut c_void) {
    (*(arg as *const AtomicU32)).fetch_add(1, Ordering::SeqCst);
}

#[test]
fn a_guard_has_the_size_of_the_c_structure() {
    assert_eq!(size_of::<swansong_guard>(), 3 * size_of::<usize>() + 8);
}

#[test]
fn a_guard_of_a_child_delays_the_end_of_the_root() {
    let (root, calls) = (new_root(), AtomicU32::new(0));
    unsafe {
        let child = new_child(root);
        let mut guard = swansong_guard_at(child, FILE, line!(), FUNCTION);
        let mut completion = null_mut();
        assert_eq!(swansong_completion_new(root, &mut completion), 0);
        let arg = &calls as *const AtomicU32 as *mut c_void;
        assert_eq!(swansong_completion_notify(completion, count, arg), 0);

        swansong_shut_down(root);
        assert_eq!(swansong_state(root), SWANSONG_SHUTTING_DOWN);
        assert_eq!(swansong_guard_count(root), 1);
        assert!(!swansong_completion_done(completion));

        thread::spawn(move || swansong_guard_drop(&mut guard)).join().unwrap();
        assert!(swansong_completion_done(completion));
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        assert_eq!(swansong_state(root), SWANSONG_COMPLETE);
        assert_eq!(swansong_wait(root, u64::MAX), 0);

        swansong_completion_unref(completion);
        swansong_unref(child);
        swansong_unref(root);
    }
}

#[test]
fn a_stop_interrupts_a_sleep() {
    let root = new_root();
    unsafe {
        let mut interrupt = null_mut();
        assert_eq!(swansong_interrupt_new(root, &mut interrupt), 0);
        assert!(!swansong_interrupted(interrupt));
        let address = root as usize;
        let stopper = thread::spawn(move || swansong_shut_down(address as *mut swansong));
        assert!(!swansong_interrupt_sleep(interrupt, u64::MAX));
        assert!(swansong_interrupted(interrupt));
        stopper.join().unwrap();
        swansong_interrupt_unref(interrupt);
        swansong_unref(root);
    }
}

#[test]
fn a_report_names_the_place_of_a_guard() {
    let root = new_root();
    unsafe {
        assert_eq!(swansong_report_enable(root), 0);
        let mut guard = swansong_guard_at(root, FILE, 4711, FUNCTION);
        let mut report = null_mut();
        assert_eq!(swansong_report(root, &mut report), 0);
        assert_eq!((*report).guards, 1);
        assert_eq!((*report).n, 1);
        assert_eq!((*(*report).sites).line, 4711);
        swansong_report_free(report);
        swansong_guard_drop(&mut guard);
        swansong_unref(root);
    }
}
