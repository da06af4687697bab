#include "tests/unit/ctl/test-ctl.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "ctl/terminal/lines.h"
#include "ctl/session/session.h"

static int interrupt_shell(const char *script, const struct answer *answers, size_t n)
{
	return run_shell("interrupt edge --", script, answers, n);
}

static const char complete[] =
	"{\"parameters\":{\"nodes\":[" NODE("edge", "complete", "0", "") "]}}";

/* The reply about the running node; then its stop, or no further reply. */
static const struct answer stopped[] = { SAY(tree), OK };
static const struct answer runs[] = { SAY(tree), { .text = NULL } };
static const struct answer lost[] = { SAY(tree), { NULL, 0, THEN_CLOSE } };

START_TEST(a_stream_ends_with_the_stop)
{
	ck_assert_int_eq(interrupt_shell("exec sleep 100", stopped, 2), 0);
	assert_has(asked, "Wait\",\"parameters\":{\"node\":\"edge\",\"until\":\"stopping\"}}");
	ck_assert_str_eq(out, "");
	ck_assert_str_eq(err, "");
	/* It was asked to end, and does so as it likes. */
	ck_assert_int_eq(interrupt_shell("trap 'exit 3' TERM; while :; do :; done", stopped, 2), 0);
	/* A node that is stopped already. */
	ck_assert_int_eq(RUN("interrupt edge -- touch /nowhere/x", SAY(complete)), 0);
	assert_lacks(asked, "Wait");
}
END_TEST

START_TEST(without_a_stop_the_exit_status_is_the_commands)
{
	ck_assert_int_eq(interrupt_shell("printf 'a\\nb'; exit 7", runs, 2), 7);
	ck_assert_str_eq(out, "a\nb");
	ck_assert_int_eq(interrupt_shell("kill -KILL $$", runs, 2), 128 + SIGKILL);
	ck_assert_int_eq(RUN("interrupt edge -- /nowhere/cmd", SAY(tree), { .text = NULL }), 127);
	if (spawn_reports_failures())
		ck_assert_int_eq(RUN("interrupt edge -- /", SAY(tree), { .text = NULL }), 126);
	ck_assert_int_eq(RUN("interrupt nope -- true",
			     ERROR("io.swansong.NoSuchNode", "{\"node\":\"nope\"}")),
			 CTL_NO_NODE);
	ck_assert_int_eq(RUN("interrupt * -- true", SAY(tree)), CTL_USAGE);
}
END_TEST

START_TEST(a_stream_goes_on_without_the_daemon)
{
	ck_assert_int_eq(
		interrupt_shell("until grep -q 'will not be seen' /proc/$PPID/fd/2; do :; done; "
				"echo on; exit 3",
				lost, 2),
		3);
	ck_assert_str_eq(out, "on\n");
	assert_has(err, "the daemon has gone, and a stop of edge will not be seen");
}
END_TEST

START_TEST(a_node_that_vanishes_was_stopped)
{
	static const struct answer gone[] = { SAY(tree), ERROR("io.swansong.NoSuchNode",
							       "{\"node\":\"edge\"}") };

	ck_assert_int_eq(interrupt_shell("exec sleep 100", gone, 2), 0);
	ck_assert_str_eq(err, "");
}
END_TEST

START_TEST(the_command_of_a_stream_inherits_no_descriptor_and_no_signal_mask)
{
	/* 0, 1, 2 and the one that ls opens; and no signal blocked. */
	ck_assert_int_eq(
		interrupt_shell("ls /proc/self/fd | wc -l; grep SigBlk /proc/self/status", runs, 2),
		0);
	ck_assert_str_eq(out, "4\nSigBlk:\t0000000000000000\n");
}
END_TEST

/* --- a stop while the command runs --- */

/* The stop comes when the command has written to $SWANSONG_SOCKET.stop. */
static const struct answer stopped_later[] = { SAY(tree),
					       { .text = "{\"parameters\":{}}", .after = "stop" } };

static void make_fifo(char path[static 128], const char *name)
{
	(void)snprintf(path, 128, "%s.%s", socket_path, name);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
}

/* The polls for the stream are of four descriptors; those for replies of fewer. */
#define STREAM 4

/* The end of an unfinished line is awaited: the command goes on, however long it needs. */
static int release_command(struct pollfd *fds, nfds_t n, int timeout)
{
	static bool released;
	char path[128];

	if (n == STREAM && timeout > 0) {
		(void)snprintf(path, sizeof(path), "%s.go", socket_path);
		if (!released)
			(void)close(open(path, O_WRONLY));
		released = true;
		timeout = -1;
	}
	return real_poll(fds, n, timeout);
}

/* A wait for the end of an unfinished line takes no time. */
static int skip_time(struct pollfd *fds, nfds_t n, int timeout)
{
	int r = real_poll(fds, n, n == STREAM && timeout > 0 ? 0 : timeout);

	if (r == 0 && timeout > 0)
		around.skipped_usec += (uint64_t)timeout * USEC_PER_MSEC;
	return r;
}

START_TEST(all_lines_from_before_the_stop_are_passed_on)
{
	char stop[128];

	make_fifo(stop, "stop");
	ck_assert_int_eq(interrupt_shell("seq 5000; : >$SWANSONG_SOCKET.stop; exec sleep 100",
					 stopped_later, 2),
			 0);
	ck_assert(strncmp(out, "1\n2\n", 4) == 0);
	ck_assert_str_eq(out + strlen(out) - 10, "4999\n5000\n");
	ck_assert_uint_eq(strlen(out), 23893);
	ck_assert_str_eq(err, "");
	(void)unlink(stop);
}
END_TEST

START_TEST(a_line_that_ends_after_the_stop_is_the_last_one)
{
	char stop[128], go[128];

	make_fifo(stop, "stop");
	make_fifo(go, "go");
	around.on_poll = release_command;
	ck_assert_int_eq(
		interrupt_shell("printf 'a\\nb'; : >$SWANSONG_SOCKET.stop; "
				": <$SWANSONG_SOCKET.go; printf 'c\\nd\\n'; exec sleep 100",
				stopped_later, 2),
		0);
	ck_assert_str_eq(out, "a\nbc\n");
	ck_assert_str_eq(err, "");
	(void)unlink(stop);
	(void)unlink(go);
}
END_TEST

START_TEST(a_line_that_does_not_end_after_the_stop_is_left_out)
{
	char stop[128];

	make_fifo(stop, "stop");
	around.on_poll = skip_time;
	ck_assert_int_eq(
		interrupt_shell("printf 'a\\nbc'; : >$SWANSONG_SOCKET.stop; exec sleep 100",
				stopped_later, 2),
		0);
	ck_assert_str_eq(out, "a\n");
	assert_has(err, "edge: stopped; an unfinished line of 2 bytes is left out\n");
	(void)unlink(stop);
}
END_TEST

/* --- lines --- */

/* @text in pieces of random length through it, as far as it goes; *ret_n is how much came out. */
static void pass(struct lines *l, const char *text, size_t size, unsigned *seed, char *to,
		 size_t *ret_n)
{
	int in[2], out_fds[2];
	size_t written = 0;

	*ret_n = 0;
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out_fds, O_CLOEXEC), 0);
	while (written < size || lines_pending(l)) {
		size_t piece = 1 + next_random(seed) % 60;

		if (lines_pending(l)) {
			size_t before = lines_pending(l);

			ck_assert_int_eq(lines_write(l, out_fds[1]), 0);
			*ret_n += (size_t)read(out_fds[0], to + *ret_n, before - lines_pending(l));
			continue;
		}
		piece = MIN(piece, size - written);
		ck_assert_int_eq(write(in[1], text + written, piece), (ssize_t)piece);
		ck_assert_int_eq(lines_read(l, in[0], SIZE_MAX, false), (int)piece);
		written += piece;
		/* Never a part of a line. */
		ck_assert(lines_pending(l) == 0 || l->bytes[l->whole - 1] == '\n');
	}
	for (size_t i = 0; i < 2; i++) {
		(void)close(in[i]);
		(void)close(out_fds[i]);
	}
}

START_TEST(only_whole_lines_are_passed_on)
{
	struct lines l = { .bytes = NULL };
	unsigned seed = (unsigned)_i + 1;
	char text[5000], got[sizeof(text)];
	size_t n, end;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = next_random(&seed) % 20 ? (char)next_random(&seed) : '\n';
	pass(&l, text, sizeof(text), &seed, got, &n);
	end = (size_t)((const char *)memrchr(text, '\n', sizeof(text)) + 1 - text);
	ck_assert_uint_eq(n, end);
	ck_assert_mem_eq(got, text, n);
	ck_assert_uint_eq(lines_unfinished(&l), sizeof(text) - n);
	ck_assert_int_eq(lines_at_boundary(&l), n == sizeof(text));
	lines_done(&l);
}
END_TEST

START_TEST(the_rest_of_a_line_is_one_line)
{
	struct lines l = { .bytes = NULL };
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_int_eq(write(fds[1], "ab", 2), 2);
	ck_assert_int_eq(lines_read(&l, fds[0], SIZE_MAX, false), 2);
	ck_assert(!lines_at_boundary(&l));
	ck_assert_int_eq(write(fds[1], "c\nd\ne", 5), 5);
	ck_assert_int_eq(lines_read(&l, fds[0], SIZE_MAX, true), 5);
	ck_assert(lines_at_boundary(&l));
	ck_assert_uint_eq(lines_pending(&l), 4);
	ck_assert_mem_eq(l.bytes, "abc\n", 4);
	(void)close(fds[1]);
	l.begin = l.whole;
	ck_assert_int_eq(lines_read(&l, fds[0], SIZE_MAX, false), 0);
	(void)close(fds[0]);
	lines_done(&l);
}
END_TEST

START_TEST(a_line_without_end_is_passed_on_in_pieces)
{
	static char piece[32768];
	struct lines l = { .bytes = NULL };
	size_t total = 0, passed = 0;
	int fds[2];

	memset(piece, 'x', sizeof(piece));
	/* The pipes of a user are short when there are many. */
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	while (total < 2 * (size_t)LINES_LONGEST) {
		ck_assert_int_gt(write(fds[1], piece, sizeof(piece)), 0);
		total += (size_t)lines_read(&l, fds[0], SIZE_MAX, false);
		passed += lines_pending(&l);
		l.begin = l.whole;
	}
	ck_assert_uint_eq(passed, total);
	ck_assert(!lines_at_boundary(&l));
	ck_assert_uint_le(l.size, 4 * (size_t)LINES_LONGEST);
	ck_assert_int_eq(write(fds[1], "\n", 1), 1);
	ck_assert_int_eq(lines_read(&l, fds[0], SIZE_MAX, false), 1);
	ck_assert(lines_at_boundary(&l));
	(void)close(fds[0]);
	(void)close(fds[1]);
	lines_done(&l);
}
END_TEST

TCase *ctl_interrupt_tests(void)
{
	TCase *tc = tcase_create("interrupt");

	ctl_fixture(tc);
	tcase_add_test(tc, a_stream_ends_with_the_stop);
	tcase_add_test(tc, without_a_stop_the_exit_status_is_the_commands);
	tcase_add_test(tc, a_stream_goes_on_without_the_daemon);
	tcase_add_test(tc, a_node_that_vanishes_was_stopped);
	tcase_add_test(tc, the_command_of_a_stream_inherits_no_descriptor_and_no_signal_mask);
	tcase_add_test(tc, all_lines_from_before_the_stop_are_passed_on);
	tcase_add_test(tc, a_line_that_ends_after_the_stop_is_the_last_one);
	tcase_add_test(tc, a_line_that_does_not_end_after_the_stop_is_left_out);
	tcase_add_loop_test(tc, only_whole_lines_are_passed_on, 0, 20);
	tcase_add_test(tc, the_rest_of_a_line_is_one_line);
	tcase_add_test(tc, a_line_without_end_is_passed_on_in_pieces);
	return tc;
}
