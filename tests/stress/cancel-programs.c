/*
 * Each calls functions of the library that belong together.  A thing of the thread is in its
 * belongings from the call that makes it until the one that drops it.
 */
#include "cancel-programs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/macro.h"
#include "explore.h"

void must(bool condition, const char *fault)
{
	if (!condition)
		explore_fault(fault);
}

/* A function of the program may be a cancellation point. */
static void on_event(void *arg)
{
	(void)arg;
	pthread_testcancel();
}

static void stop_root(unsigned int t)
{
	(void)t;
	swansong_shut_down(scene.node[ROOT]);
}

static void stop_child_and_drop(unsigned int t)
{
	swansong_shut_down(scene.node[CHILD]);
	swansong_guard_drop(&scene.of[t].early);
}

static void take_and_drop(unsigned int t)
{
	struct swansong_guard g = swansong_guard(scene.node[CHILD]);

	scene.of[t].guard = g;
	g = scene.of[t].guard;
	scene.of[t].guard = (struct swansong_guard){ 0 };
	swansong_guard_drop(&g);
}

static void use_child(unsigned int t)
{
	struct belongings *mine = &scene.of[t];

	must(swansong_child(scene.node[CHILD], &mine->child) == 0, "no child");
	must(swansong_percpu_enable(mine->child) == 0, "no counts by processors");
	must(swansong_stopped_fd(mine->child) >= 0, "no descriptor");
	mine->guard = swansong_guard(mine->child);
	mine->child = swansong_unref(mine->child);
}

static void watch_end(unsigned int t)
{
	struct belongings *mine = &scene.of[t];

	must(swansong_completion_new(scene.node[ROOT], &mine->completion) == 0, "no completion");
	must(swansong_completion_fd(mine->completion) >= 0, "no descriptor");
	must(swansong_completion_notify(mine->completion, on_event, NULL) == 0, "no function");
	mine->completion = swansong_completion_unref(mine->completion);
}

static void watch_stop(unsigned int t)
{
	struct belongings *mine = &scene.of[t];

	must(swansong_interrupt_new_guarded(scene.node[CHILD], &mine->interrupt) == 0,
	     "no interrupt");
	must(swansong_interrupt_fd(mine->interrupt) >= 0, "no descriptor");
	must(swansong_interrupt_notify(mine->interrupt, on_event, NULL) == 0, "no function");
	mine->interrupt = swansong_interrupt_unref(mine->interrupt);
}

/* The descriptors of things that both threads use; the second one that is created is closed. */
static void make_descriptors(unsigned int t)
{
	(void)t;
	must(swansong_completion_fd(scene.completion[CHILD]) >= 0, "no descriptor");
	must(swansong_interrupt_fd(scene.interrupt[CHILD]) >= 0, "no descriptor");
	must(swansong_stopped_fd(scene.node[CHILD]) >= 0, "no descriptor");
}

static void report(unsigned int t)
{
	struct swansong_report *report;
	char *text;

	must(swansong_report_enable(scene.node[CHILD]) == 0, "no report");
	scene.of[t].guard = swansong_guard(scene.node[CHILD]);
	must(swansong_report(scene.node[ROOT], &report) == 0, "no report");
	must(swansong_report_text(report, &text) == 0, "no text");
	free(text);
	(void)swansong_report_free(report);
}

static int stop_at_end(void *arg)
{
	pthread_testcancel();
	swansong_shut_down(arg);
	return 0;
}

static int wait_at_end(void *arg, uint64_t deadline)
{
	pthread_testcancel();
	return swansong_wait(arg, deadline);
}

static int act_at_end(void *arg)
{
	on_event(arg);
	return 0;
}

static void execute_registry(unsigned int t)
{
	struct swansong_worker worker = { "child", scene.node[CHILD], stop_at_end, wait_at_end, 0 };
	struct swansong_registry *r;

	swansong_guard_drop(&scene.of[t].early);
	must(swansong_registry_new(&r) == 0, "no registry");
	must(swansong_registry_add_worker(r, &worker) == 0, "no worker");
	must(swansong_registry_add_action(r, "action", act_at_end, NULL) == 0, "no action");
	must(swansong_registry_execute(r, UINT64_MAX, NULL, NULL) == 0, "a function has failed");
	(void)swansong_registry_unref(r);
}

static void stop_and_wait(unsigned int t)
{
	swansong_guard_drop(&scene.of[t].early);
	must(swansong_drain(scene.node[CHILD], scene.node[ROOT], UINT64_MAX) == 0,
	     "a wait ends by itself");
	must(swansong_interrupt_wait(scene.interrupt[CHILD], UINT64_MAX) == 0, "no stop");
	must(swansong_stopped_wait(scene.node[CHILD], UINT64_MAX) == 0, "no stop");
	must(swansong_completion_wait(scene.completion[CHILD], UINT64_MAX) == 0, "no end");
}

static void transfer(unsigned int t)
{
	char byte = 0;

	(void)swansong_interrupt_write(scene.interrupt[CHILD], scene.of[t].fds[1], &byte, 1);
	(void)swansong_interrupt_read(scene.interrupt[CHILD], scene.of[t].fds[0], &byte, 1);
}

static void read_byte(unsigned int t)
{
	char byte;

	must(swansong_interrupt_read(scene.interrupt[CHILD], scene.of[t].fds[0], &byte, 1) == 0,
	     "nothing was written");
}

static void write_byte(unsigned int t)
{
	must(swansong_interrupt_write(scene.interrupt[CHILD], scene.of[t].fds[0], "", 1) == 0,
	     "there is no room");
}

static void receive_message(unsigned int t)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	must(swansong_interrupt_recvmsg(scene.interrupt[ROOT], scene.of[t].fds[0], &m, 0) == 0,
	     "nothing was sent");
}

static void send_message(unsigned int t)
{
	struct iovec iov = { (char[]){ 0 }, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	must(swansong_interrupt_sendmsg(scene.interrupt[ROOT], scene.of[t].fds[0], &m, 0) == 0,
	     "there is no room");
}

static void accept_connection(unsigned int t)
{
	must(swansong_interrupt_accept(scene.interrupt[ROOT], scene.of[t].fds[0], NULL, NULL, 0) ==
		     -ESHUTDOWN,
	     "there is no connection");
}

static void poll_many(unsigned int t)
{
	struct pollfd fds[20];

	for (size_t k = 0; k < ARRAY_SIZE(fds); k++)
		fds[k] = (struct pollfd){ .fd = scene.of[t].fds[0], .events = POLLIN };
	must(swansong_interrupt_poll(scene.interrupt[ROOT], fds, ARRAY_SIZE(fds), UINT64_MAX) == 0,
	     "nothing is ready");
}

const struct program programs[] = {
	{ .run = stop_root, .name = "stop the root", .stops = true },
	{ .run = stop_and_wait, .name = "stop both and wait", .stops = true },
	{ .run = stop_child_and_drop, .name = "stop the child and drop a guard" },
	{ .run = take_and_drop, .name = "take and drop" },
	{ .run = use_child, .name = "child, count by processors, take, unref" },
	{ .run = watch_end, .name = "completion, descriptor, notify, unref" },
	{ .run = watch_stop, .name = "guarded interrupt, descriptor, notify, unref" },
	{ .run = make_descriptors, .name = "create descriptors" },
	{ .run = report, .name = "report" },
	{ .run = execute_registry, .name = "execute a registry that stops the child" },
	{ .run = transfer, .name = "write and read", .files = SOCKETS },
	{ .run = read_byte, .name = "read a pipe", .files = PIPE, .waits = true },
	{ .run = read_byte,
	  .name = "read a pipe that is opened again",
	  .files = OLD_PIPE,
	  .waits = true },
	{ .run = read_byte, .name = "read a socket", .files = SOCKETS, .waits = true },
	{ .run = write_byte, .name = "write to a socket", .files = FULL_SOCKETS, .waits = true },
	{ .run = receive_message, .name = "recvmsg", .files = SOCKETS, .waits = true },
	{ .run = send_message, .name = "sendmsg", .files = FULL_SOCKETS, .waits = true },
	{ .run = accept_connection, .name = "accept", .files = LISTENER, .waits = true },
	{ .run = poll_many, .name = "poll", .files = SOCKETS, .waits = true },
};

const unsigned int n_programs = ARRAY_SIZE(programs);
