/* Output that the daemon watches: it is reported, and stays until it was seen. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "logger/ring/stream.h"
#include "tests/unit/logger/play.h"

static void watch(uint64_t watched)
{
	struct logger_message m = { .type = LOGGER_WATCH, .stream = 1 };

	ck_assert_int_eq(store_set_watched(play.store, 1, watched), 0);
	play_send(&m);
}

static uint64_t taken(void)
{
	const struct store_record *record = store_record(play.mapped, 1);

	return record->inputs[record->input].taken;
}

static void begin_memory(void)
{
	const struct logger_rules rules = { .to = LOGGER_TO_MEMORY, .memory = 65536 };

	play_add(1, &rules, "a", "");
}

static bool is_silent(void)
{
	struct logger_message m = { .type = LOGGER_HELLO, .stream = LOGGER_ALL };

	play_send(&m);
	do
		ck_assert_int_eq(
			poll(&(struct pollfd){ .fd = play.control, .events = POLLIN }, 1, 30000),
			1);
	while (logger_receive(play.control, &play.packet) != 1);
	return play.packet.message.type == LOGGER_HELLO;
}

START_TEST(watched_output_is_reported_once)
{
	begin_memory();
	play_write(1, "before\n");
	play_flush(1);
	ck_assert(is_silent());
	watch(taken() + 1);
	ck_assert(is_silent());
	play_write(1, "ready");
	play_wait(LOGGER_WATCH);
	ck_assert_uint_eq(play.packet.message.stream, 1);
	play_write(1, " soon\n");
	play_flush(1);
	ck_assert(is_silent());
	watch(8);
	play_wait(LOGGER_WATCH);
	watch(0);
	play_write(1, "later\n");
	play_flush(1);
	ck_assert(is_silent());
}
END_TEST

START_TEST(next_logger_reports_what_was_not_seen)
{
	begin_memory();
	watch(1);
	play_write(1, "ready\n");
	play_wait(LOGGER_WATCH);
	play_kill();
	play_start();
	play_wait(LOGGER_WATCH);
}
END_TEST

/* Writes until the service would have to wait.  Returns the number of bytes. */
static size_t fill(size_t from)
{
	size_t n = from;

	ck_assert_int_eq(fd_set_nonblock(play.streams[1].out), 0);
	for (;;) {
		struct pollfd p = { .fd = play.streams[1].out, .events = POLLOUT };
		char text[8];

		/* More than a pause of the logger: its ticks are shorter. */
		if (poll(&p, 1, 300) <= 0)
			return n;
		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = (char)('a' + (n + i) / 8 % 26);
		if (write(play.streams[1].out, text, sizeof(text)) > 0)
			n += sizeof(text);
	}
}

static void expect_ring(uint64_t position, uint64_t end)
{
	char *text = malloc(end - position);

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(store_read_ring(play.store, 1, position, text, end - position), 0);
	for (uint64_t i = position; i < end; i++)
		if (text[i - position] != (char)('a' + i / 8 % 26))
			ck_abort_msg("byte %llu is lost", (unsigned long long)i);
	free(text);
}

/* Also those of another logger. */
START_TEST(service_waits_for_room_while_its_output_was_not_seen)
{
	size_t n;

	begin_memory();
	watch(1);
	n = fill(0);
	ck_assert_uint_gt(taken(), STREAM_WAITING_MAX);
	ck_assert_uint_lt(taken(), STORE_RING);
	ck_assert_uint_lt(taken(), n);
	expect_ring(0, taken());
	play_kill();
	play_start();
	ck_assert_uint_lt(taken(), STORE_RING);
	expect_ring(0, taken());
	watch(_i == 0 ? 0 : taken() + 1);
	while (taken() < n)
		ck_assert(_i == 0 || taken() < 2 * STORE_RING);
	if (_i > 0)
		(void)fill(n);
	if (_i > 0)
		ck_assert_uint_lt(taken(), 2 * STORE_RING);
}
END_TEST

START_TEST(service_does_not_wait_for_a_daemon_that_has_ended)
{
	size_t n;

	begin_memory();
	watch(1);
	n = fill(0);
	play.control = fd_close(play.control);
	while (taken() < n)
		ck_assert_int_eq(kill(play.pid, 0), 0);
	/* The next logger of a daemon that has given this one up: the same are unseen. */
	play_kill();
	play_start();
	play_wait(LOGGER_WATCH);
}
END_TEST

void add_watch_tests(Suite *suite)
{
	TCase *tc = tcase_create("watch");

	tcase_add_checked_fixture(tc, play_begin, play_end);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, watched_output_is_reported_once);
	tcase_add_test(tc, next_logger_reports_what_was_not_seen);
	tcase_add_loop_test(tc, service_waits_for_room_while_its_output_was_not_seen, 0, 2);
	tcase_add_test(tc, service_does_not_wait_for_a_daemon_that_has_ended);
	suite_add_tcase(suite, tc);
}
