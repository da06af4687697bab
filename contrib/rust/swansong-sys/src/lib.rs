//! Declarations of libswansong, as in its C headers; the contracts are in the pages of section 3,
//! first libswansong(3).
//!
//! Times are in microseconds of `CLOCK_MONOTONIC`, deadlines are absolute, and `u64::MAX` is none.
//! Functions that return `c_int` return 0 or more, or a negative errno. A guard is a value that is
//! dropped exactly once: [`swansong_guard`] does not implement `Copy` or `Drop`.
#![allow(non_camel_case_types)]

use std::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_int, c_uint, c_void};

/// A type that only libswansong knows.
macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub struct $name {
            data: [u8; 0],
            marker: PhantomData<(*mut u8, PhantomPinned)>,
        }
    )*};
}

opaque! {
    /// A node of a tree, swansong_new(3).
    swansong;
    /// See swansong_interrupt_new(3).
    swansong_interrupt;
    /// See swansong_completion_new(3).
    swansong_completion;
    /// See swansong_registry_new(3).
    swansong_registry;
    /// `struct iovec` of the C library.
    iovec;
    /// `struct msghdr` of the C library.
    msghdr;
    /// `struct pollfd` of the C library.
    pollfd;
    /// `struct sockaddr` of the C library.
    sockaddr;
}

/// `enum swansong_state`
pub type swansong_state_t = c_uint;
pub const SWANSONG_RUNNING: swansong_state_t = 0;
pub const SWANSONG_SHUTTING_DOWN: swansong_state_t = 1;
pub const SWANSONG_COMPLETE: swansong_state_t = 2;

/// Work in progress on a node, swansong_guard(3). All zero is the empty guard; the members are
/// private to the library.
#[repr(C)]
#[derive(Debug)]
pub struct swansong_guard {
    node: *mut swansong,
    file: *const c_char,
    function: *const c_char,
    line: c_uint,
    record: c_uint,
}

/// A guard may be dropped by another thread than the one that took it.
unsafe impl Send for swansong_guard {}

/// `enum swansong_registry_step`
pub type swansong_registry_step = c_uint;
pub const SWANSONG_REGISTRY_NOTIFY: swansong_registry_step = 0;
pub const SWANSONG_REGISTRY_JOIN: swansong_registry_step = 1;
pub const SWANSONG_REGISTRY_ACT: swansong_registry_step = 2;

/// See swansong_registry_new(3).
#[repr(C)]
pub struct swansong_worker {
    pub name: *const c_char,
    pub arg: *mut c_void,
    pub notify: Option<unsafe extern "C" fn(arg: *mut c_void) -> c_int>,
    pub join: Option<unsafe extern "C" fn(arg: *mut c_void, deadline: u64) -> c_int>,
    pub timeout: u64,
}

/// The guards that were taken at one place, swansong_report(3).
#[repr(C)]
pub struct swansong_report_site {
    pub file: *const c_char,
    pub function: *const c_char,
    pub line: c_uint,
    pub guards: u64,
    pub oldest: u64,
}

/// See swansong_report(3).
#[repr(C)]
pub struct swansong_report_t {
    pub guards: u64,
    pub unknown: u64,
    pub n: usize,
    pub sites: *const swansong_report_site,
}

pub type swansong_fn = unsafe extern "C" fn(arg: *mut c_void);
pub type swansong_action = unsafe extern "C" fn(arg: *mut c_void) -> c_int;
pub type swansong_next = unsafe extern "C" fn(arg: *mut c_void, item: *mut c_void) -> bool;
pub type swansong_on_error = unsafe extern "C" fn(
    arg: *mut c_void,
    step: swansong_registry_step,
    name: *const c_char,
    error: c_int,
);

#[link(name = "swansong")]
extern "C" {
    pub fn swansong_attach(ret: *mut *mut swansong) -> c_int;
    pub fn swansong_stop_on_signal(s: *mut swansong, signo: c_int) -> c_int;

    pub fn swansong_new(ret: *mut *mut swansong) -> c_int;
    pub fn swansong_child(parent: *mut swansong, ret: *mut *mut swansong) -> c_int;
    pub fn swansong_ref(s: *mut swansong) -> *mut swansong;
    pub fn swansong_unref(s: *mut swansong) -> *mut swansong;
    pub fn swansong_shut_down(s: *mut swansong);
    pub fn swansong_percpu_enable(s: *mut swansong) -> c_int;
    pub fn swansong_state(s: *const swansong) -> swansong_state_t;
    pub fn swansong_guard_count(s: *mut swansong) -> u64;
    pub fn swansong_wait(s: *mut swansong, deadline: u64) -> c_int;
    pub fn swansong_drain(soft: *mut swansong, hard: *mut swansong, deadline: u64) -> c_int;
    pub fn swansong_deadline_in(usec: u64) -> u64;
    pub fn swansong_stopped_wait(s: *mut swansong, deadline: u64) -> c_int;
    pub fn swansong_stopped_fd(s: *mut swansong) -> c_int;

    /// `file` and `function` are not copied: text that lives as long as the program.
    pub fn swansong_guard_at(
        s: *mut swansong,
        file: *const c_char,
        line: c_uint,
        function: *const c_char,
    ) -> swansong_guard;
    pub fn swansong_guard_clone_at(
        guard: *const swansong_guard,
        file: *const c_char,
        line: c_uint,
        function: *const c_char,
    ) -> swansong_guard;
    pub fn swansong_guard_drop(guard: *mut swansong_guard);

    pub fn swansong_completion_new(s: *mut swansong, ret: *mut *mut swansong_completion) -> c_int;
    pub fn swansong_completion_done(c: *mut swansong_completion) -> bool;
    pub fn swansong_completion_wait(c: *mut swansong_completion, deadline: u64) -> c_int;
    pub fn swansong_completion_fd(c: *mut swansong_completion) -> c_int;
    pub fn swansong_completion_notify(
        c: *mut swansong_completion,
        f: swansong_fn,
        arg: *mut c_void,
    ) -> c_int;
    pub fn swansong_completion_unref(c: *mut swansong_completion) -> *mut swansong_completion;

    pub fn swansong_interrupt_new(s: *mut swansong, ret: *mut *mut swansong_interrupt) -> c_int;
    pub fn swansong_interrupt_new_guarded_at(
        s: *mut swansong,
        ret: *mut *mut swansong_interrupt,
        file: *const c_char,
        line: c_uint,
        function: *const c_char,
    ) -> c_int;
    pub fn swansong_interrupted(i: *const swansong_interrupt) -> bool;
    pub fn swansong_interrupt_wait(i: *mut swansong_interrupt, deadline: u64) -> c_int;
    pub fn swansong_interrupt_fd(i: *mut swansong_interrupt) -> c_int;
    pub fn swansong_interrupt_notify(
        i: *mut swansong_interrupt,
        f: swansong_fn,
        arg: *mut c_void,
    ) -> c_int;
    pub fn swansong_interrupt_set_deadline(i: *mut swansong_interrupt, deadline: u64);
    pub fn swansong_interrupt_unref(i: *mut swansong_interrupt) -> *mut swansong_interrupt;

    pub fn swansong_interrupt_read(
        i: *mut swansong_interrupt,
        fd: c_int,
        buffer: *mut c_void,
        size: usize,
    ) -> isize;
    pub fn swansong_interrupt_readv(
        i: *mut swansong_interrupt,
        fd: c_int,
        iov: *const iovec,
        n: c_int,
    ) -> isize;
    pub fn swansong_interrupt_write(
        i: *mut swansong_interrupt,
        fd: c_int,
        buffer: *const c_void,
        size: usize,
    ) -> isize;
    pub fn swansong_interrupt_writev(
        i: *mut swansong_interrupt,
        fd: c_int,
        iov: *const iovec,
        n: c_int,
    ) -> isize;
    pub fn swansong_interrupt_accept(
        i: *mut swansong_interrupt,
        fd: c_int,
        address: *mut sockaddr,
        length: *mut u32,
        flags: c_int,
    ) -> c_int;
    pub fn swansong_interrupt_connect(
        i: *mut swansong_interrupt,
        fd: c_int,
        address: *const sockaddr,
        length: u32,
    ) -> c_int;
    pub fn swansong_interrupt_recvmsg(
        i: *mut swansong_interrupt,
        fd: c_int,
        message: *mut msghdr,
        flags: c_int,
    ) -> isize;
    pub fn swansong_interrupt_sendmsg(
        i: *mut swansong_interrupt,
        fd: c_int,
        message: *const msghdr,
        flags: c_int,
    ) -> isize;
    pub fn swansong_interrupt_poll(
        i: *mut swansong_interrupt,
        fds: *mut pollfd,
        n: usize,
        deadline: u64,
    ) -> c_int;
    pub fn swansong_interrupt_sleep(i: *mut swansong_interrupt, deadline: u64) -> bool;
    pub fn swansong_interrupt_next(
        i: *mut swansong_interrupt,
        next: swansong_next,
        arg: *mut c_void,
        item: *mut c_void,
    ) -> bool;

    pub fn swansong_registry_new(ret: *mut *mut swansong_registry) -> c_int;
    pub fn swansong_registry_add_worker(
        r: *mut swansong_registry,
        worker: *const swansong_worker,
    ) -> c_int;
    pub fn swansong_registry_add_action(
        r: *mut swansong_registry,
        name: *const c_char,
        f: swansong_action,
        arg: *mut c_void,
    ) -> c_int;
    pub fn swansong_registry_execute(
        r: *mut swansong_registry,
        deadline: u64,
        on_error: Option<swansong_on_error>,
        arg: *mut c_void,
    ) -> c_int;
    pub fn swansong_registry_advance(
        r: *mut swansong_registry,
        deadline: u64,
        again: *mut u64,
        on_error: Option<swansong_on_error>,
        arg: *mut c_void,
    ) -> c_int;
    pub fn swansong_registry_unref(r: *mut swansong_registry) -> *mut swansong_registry;

    pub fn swansong_report_enable(s: *mut swansong) -> c_int;
    pub fn swansong_report(s: *mut swansong, ret: *mut *mut swansong_report_t) -> c_int;
    /// The text is freed by free(3).
    pub fn swansong_report_text(report: *const swansong_report_t, ret: *mut *mut c_char) -> c_int;
    pub fn swansong_report_free(report: *mut swansong_report_t) -> *mut swansong_report_t;
}
