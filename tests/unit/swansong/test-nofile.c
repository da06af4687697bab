/*
 * Each descriptor of each function is refused in turn, as each allocation is in
 * test-nomem.c.  Functions that take no descriptor work without any.
 */
#include "tests/unit/fixtures/swansong/loop.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"

static struct swansong_completion *completion;
static struct swansong_interrupt *interrupt;
static int ends[2];

static void make_all(void)
{
	make_loop();
	ck_assert_int_eq(swansong_completion_new(parent, &completion), 0);
	ck_assert_int_eq(swansong_interrupt_new(parent, &interrupt), 0);
	ck_assert_int_eq(pipe(ends), 0);
}

static void drop_all(void)
{
	completion = swansong_completion_unref(completion);
	interrupt = swansong_interrupt_unref(interrupt);
	drop_loop();
	close(ends[0]);
	close(ends[1]);
}

/* The next descriptor that there will be. */
static int next_descriptor(void)
{
	int fd = dup(STDOUT_FILENO);

	if (fd >= 0)
		(void)close(fd);
	return fd;
}

/* ---- functions that take descriptors; each returns 0 when it has all, or a negative errno ---- */

static int ask_completion(void)
{
	int fd = swansong_completion_fd(completion);

	return fd < 0 ? fd : 0;
}

static int ask_interrupt(void)
{
	int fd = swansong_interrupt_fd(interrupt);

	return fd < 0 ? fd : 0;
}

static int ask_node(void)
{
	int fd = swansong_stopped_fd(parent);

	return fd < 0 ? fd : 0;
}

/* The poll finds no ready descriptor. */
static int poll_shortly(void)
{
	struct pollfd p = { .fd = ends[0], .events = POLLIN };
	int r = swansong_interrupt_poll(interrupt, &p, 1, 0);

	return r == -ETIMEDOUT ? 0 : r;
}

/* There is nothing to be read, and then there is. */
static int read_later_bytes(void)
{
	char byte;
	ssize_t r = swansong_interrupt_read(interrupt, ends[0], &byte, 1);

	if (r != -EMFILE)
		return -EINVAL;
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	return swansong_interrupt_read(interrupt, ends[0], &byte, 1) == 1 ? -EMFILE : -EINVAL;
}

static int make_another_loop(void)
{
	struct swansong_loop *another;
	int r = swansong_loop_new(parent, &another);

	if (r >= 0)
		(void)swansong_loop_unref(another);
	return r;
}

static const struct {
	int (*acquire)(void);
	int least; /* this many are not enough */
	bool keeps;
} takers[] = {
	{ ask_completion, 0, true }, { ask_interrupt, 1, true },      { ask_node, 0, true },
	{ poll_shortly, 0, true },   { make_another_loop, 1, false },
};

/* With @n descriptors to be had. */
static int take_with(int n, int (*acquire)(void))
{
	struct rlimit old, few;
	int r;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = (struct rlimit){ .rlim_cur = (rlim_t)(next_descriptor() + n),
			       .rlim_max = old.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	r = acquire();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	return r;
}

START_TEST(a_call_without_a_descriptor_has_done_nothing_and_can_be_tried_again)
{
	int first = next_descriptor();
	int n = 0, r;

	while ((r = take_with(n, takers[_i].acquire)) < 0) {
		ck_assert_int_eq(r, -EMFILE);
		ck_assert_int_lt(n++, 10);
	}
	ck_assert_int_gt(n, takers[_i].least);
	ck_assert_int_eq(takers[_i].acquire(), 0);
	if (!takers[_i].keeps)
		ck_assert_int_eq(next_descriptor(), first);
	swansong_shut_down(parent);
	ck_assert(swansong_interrupted(interrupt));
	ck_assert(swansong_completion_done(completion));
}
END_TEST

START_TEST(a_read_that_cannot_wait_fails_and_loses_nothing)
{
	ck_assert_int_eq(take_with(0, read_later_bytes), -EMFILE);
}
END_TEST

static int do_all_without(void)
{
	struct swansong_completion *c;
	struct swansong_interrupt *i;
	struct swansong *s;
	struct swansong_guard g;

	if (swansong_child(parent, &s) < 0 || swansong_completion_new(s, &c) < 0 ||
	    swansong_interrupt_new_guarded(s, &i) < 0 || swansong_report_enable(s) < 0)
		return -EINVAL;
	g = swansong_guard(s);
	swansong_shut_down(s);
	if (!swansong_interrupted(i) || swansong_interrupt_wait(i, USEC_INFINITY) != 0)
		return -EINVAL;
	(void)swansong_interrupt_unref(i);
	swansong_guard_drop(&g);
	if (swansong_completion_wait(c, USEC_INFINITY) != 0 || swansong_wait(s, USEC_INFINITY) != 0)
		return -EINVAL;
	(void)swansong_completion_unref(c);
	(void)swansong_unref(s);
	return 0;
}

START_TEST(calls_without_descriptors_need_none)
{
	ck_assert_int_eq(take_with(0, do_all_without), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-nofile");
	TCase *tc = tcase_create("nofile");

	tcase_add_checked_fixture(tc, make_all, drop_all);
	tcase_add_loop_test(tc, a_call_without_a_descriptor_has_done_nothing_and_can_be_tried_again,
			    0, ARRAY_SIZE(takers));
	tcase_add_test(tc, a_read_that_cannot_wait_fails_and_loses_nothing);
	tcase_add_test(tc, calls_without_descriptors_need_none);
	suite_add_tcase(suite, tc);
	return suite;
}
