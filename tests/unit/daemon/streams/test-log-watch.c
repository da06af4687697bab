#include "tests/unit/fixtures/main.h"

/* The watch for a line of output: the descriptors that it puts in between, and its memory. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <string.h>
#include <unistd.h>

#include "daemon/streams/log-watch.h"
#include "tests/unit/fixtures/nomem.h"

static struct log log_;
static struct context ctx;
static regex_t regex;
static char path[] = "a";
static struct node_config config;
static struct log_watch *watch;
static struct streams streams;
static int out[2], err[2]; /* destinations: we read 0 */
static unsigned matches;

static void on_match(void *arg)
{
	ck_assert_ptr_eq(arg, &matches);
	matches++;
}

static void setup(void)
{
	log_ = (struct log){ .fd = STDERR_FILENO, .level = LOG_DEBUG, .name = "test" };
	ctx = (struct context){ .log = &log_ };
	ck_assert_int_ge(sd_event_new(&ctx.event), 0);
	ck_assert_int_eq(regcomp(&regex, "ready", REG_EXTENDED | REG_NOSUB), 0);
	config = (struct node_config){ .path = path };
	config.ready.regex = &regex;
	ck_assert_int_eq(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
	ck_assert_int_eq(pipe2(err, O_CLOEXEC | O_NONBLOCK), 0);
	streams = (struct streams){ .fds = { 0, out[1], err[1] } };
	matches = 0;
	allocations_left = -1;
}

static void teardown(void)
{
	watch = log_watch_free(watch);
	ctx.event = sd_event_unref(ctx.event);
	regfree(&regex);
	for (int i = 0; i < 2; i++) {
		(void)close(out[i]);
		(void)close(err[i]);
	}
}

static void begin_watch(void)
{
	ck_assert_int_eq(log_watch_new(&watch, &ctx, &config), 0);
}

static unsigned count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

static void prints(int stream, const char *text)
{
	ck_assert_int_eq(write(streams.fds[stream], text, strlen(text)), (ssize_t)strlen(text));
	while (sd_event_run(ctx.event, 0) > 0)
		;
}

static void arrives(const int *pipe, const char *text)
{
	char buf[100] = "";

	ck_assert_int_eq(read(pipe[0], buf, sizeof(buf) - 1), *text ? (ssize_t)strlen(text) : -1);
	ck_assert_str_eq(buf, text);
}

START_TEST(line_of_either_output_matches_once)
{
	begin_watch();
	ck_assert_int_eq(log_watch_interpose(watch, &streams), 0);
	log_watch_begin(watch, on_match, &matches);
	prints(1, "hello\n");
	ck_assert_uint_eq(matches, 0);
	prints(1 + _i, "now ready\n");
	ck_assert_uint_eq(matches, 1);
	prints(1, "ready\n");
	prints(2, "ready\n");
	ck_assert_uint_eq(matches, 1);
	ck_assert(log_watch_drain(watch));
	arrives(out, _i == 0 ? "hello\nnow ready\nready\n" : "hello\nready\n");
	arrives(err, _i == 0 ? "ready\n" : "now ready\nready\n");
}
END_TEST

START_TEST(line_after_the_end_of_the_watch_does_not_match)
{
	begin_watch();
	ck_assert_int_eq(log_watch_interpose(watch, &streams), 0);
	log_watch_begin(watch, on_match, &matches);
	log_watch_end(watch);
	prints(1, "ready\n");
	ck_assert_uint_eq(matches, 0);
	arrives(out, "ready\n");
}
END_TEST

START_TEST(outputs_with_one_destination_share_a_relay)
{
	unsigned before;

	begin_watch();
	streams.fds[2] = streams.fds[1];
	before = count_descriptors();
	ck_assert_int_eq(log_watch_interpose(watch, &streams), 0);
	ck_assert_uint_eq(count_descriptors(), before + 1);
	ck_assert_int_eq(streams.fds[1], streams.fds[2]);
	prints(1, "one ");
	prints(2, "two\n");
	arrives(out, "one two\n");
}
END_TEST

START_TEST(destination_that_cannot_be_used_is_an_error)
{
	const struct streams before = { .fds = { 0, _i == 0 ? -1 : out[1],
						 _i == 0 ? err[1] : -1 } };

	begin_watch();
	streams = before;
	ck_assert_int_eq(log_watch_interpose(watch, &streams), -EBADF);
	ck_assert_int_eq(streams.fds[1], before.fds[1]);
	ck_assert_int_eq(streams.fds[2], before.fds[2]);
}
END_TEST

START_TEST(watch_without_memory_is_an_error)
{
	unsigned before = count_descriptors();
	int r = -ENOMEM;
	long n;

	for (n = 0; r < 0; n++) {
		ck_assert_int_lt(n, 100);
		allocations_left = n;
		r = log_watch_new(&watch, &ctx, &config);
		allocations_left = -1;
		if (r == 0)
			continue;
		ck_assert_int_eq(r, -ENOMEM);
		ck_assert_ptr_null(watch);
		ck_assert_uint_eq(count_descriptors(), before);
	}
	ck_assert_int_ge(n, 3); /* itself and two relays */
	ck_assert_ptr_nonnull(watch);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("daemon-log-watch");
	TCase *tc = tcase_create("log-watch");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, line_of_either_output_matches_once, 0, 2);
	tcase_add_test(tc, line_after_the_end_of_the_watch_does_not_match);
	tcase_add_test(tc, outputs_with_one_destination_share_a_relay);
	tcase_add_loop_test(tc, destination_that_cannot_be_used_is_an_error, 0, 2);
	tcase_add_test(tc, watch_without_memory_is_an_error);
	suite_add_tcase(suite, tc);
	return suite;
}
