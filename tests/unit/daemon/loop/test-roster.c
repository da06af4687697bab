/* The file of a roster is read again as the next image of the daemon reads it. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/loop/roster.h"

static struct roster *roster;
static int file;

static void begin(void)
{
	file = memfd_create("roster", MFD_CLOEXEC);
	ck_assert_int_eq(roster_new(&roster, file), 0);
}

static void end(void)
{
	roster = roster_free(roster);
	(void)close(file);
}

/* The sockets stay open, as in an exec. */
static void execute_again(void)
{
	roster = roster_free(roster);
	ck_assert_int_eq(roster_new(&roster, file), 0);
}

static void enter(unsigned *place, int pid, const char *path, const char *name)
{
	struct roster_row row = { ROSTER_PROCESS, pid, { 7 }, "", "" };

	(void)snprintf(row.path, sizeof(row.path), "%s", path);
	(void)snprintf(row.name, sizeof(row.name), "%s", name);
	roster_write(roster, place, &row);
}

static int count_rows(void)
{
	int n = 0;

	for (size_t at = 0; roster_next(roster, ROSTER_PROCESS, &at);)
		n++;
	return n;
}

static const struct roster_row *roster_find_row(const char *path, int pid)
{
	const struct roster_row *row;

	for (size_t at = 0; (row = roster_next(roster, ROSTER_PROCESS, &at));)
		if (strcmp(row->path, path) == 0 && row->number == pid)
			return row;
	return NULL;
}

START_TEST(rows_are_read_once)
{
	unsigned web = 0, db = 0, gone = 0;
	const struct roster_row *row;
	size_t at = 0;

	enter(&web, 10, "web", "/run/notify/1");
	enter(&gone, 11, "gone", "");
	enter(&db, 12, "db", "");
	roster_write(roster, &gone, NULL);
	ck_assert_uint_eq(gone, 0);
	execute_again();
	ck_assert_int_eq(count_rows(), 2);
	row = roster_next(roster, ROSTER_PROCESS, &at);
	ck_assert_int_eq(row->number, 10);
	ck_assert_uint_eq(row->detail[0], 7);
	ck_assert_ptr_null(roster_next(roster, ROSTER_GOAL, &at));
	ck_assert_str_eq(roster_find_notify(roster, "web"), "/run/notify/1");
	ck_assert_ptr_null(roster_find_notify(roster, "db"));
	ck_assert_ptr_null(roster_find_notify(roster, "gone"));
	roster_settle(roster);
	ck_assert_int_eq(count_rows(), 0);
	execute_again();
	ck_assert_int_eq(count_rows(), 0);
}
END_TEST

START_TEST(a_row_keeps_its_details_under_another_path)
{
	unsigned web = 0, db = 0, none = 0;

	enter(&web, 10, "web", "/run/notify/1");
	enter(&db, 12, "db", "");
	roster_rename(roster, web, "web~1");
	roster_rename(roster, none, "x");
	roster_rename(NULL, 1, "x");
	execute_again();
	ck_assert_int_eq(count_rows(), 2);
	ck_assert_ptr_nonnull(roster_find_row("web~1", 10));
	ck_assert_ptr_nonnull(roster_find_row("db", 12));
	ck_assert_uint_eq(roster_find_row("web~1", 10)->detail[0], 7);
	ck_assert_str_eq(roster_find_notify(roster, "web~1"), "/run/notify/1");
}
END_TEST

/* A fault after each step of a hand-over; the last one is after all. */
START_TEST(an_exchange_of_paths_is_finished)
{
	unsigned old = 0, next = 0, exchange = 0;
	struct roster_row row = roster_row(ROSTER_EXCHANGE, 2, "web", "web~1");

	enter(&old, 10, "web", "/run/notify/1");
	enter(&next, 12, "web~2", "/run/notify/2");
	roster_write(roster, &exchange, &row);
	if (_i >= 1)
		roster_rename(roster, old, "web~1");
	row.detail[0] = true;
	if (_i >= 2)
		roster_write(roster, &exchange, &row);
	if (_i >= 3)
		roster_rename(roster, next, "web");
	if (_i >= 4)
		roster_write(roster, &exchange, NULL);
	execute_again();
	ck_assert_int_eq(count_rows(), 2);
	ck_assert_ptr_nonnull(roster_find_row("web~1", 10));
	ck_assert_ptr_nonnull(roster_find_row("web", 12));
	ck_assert_str_eq(roster_find_notify(roster, "web"), "/run/notify/2");
}
END_TEST

START_TEST(a_place_is_used_again)
{
	unsigned places[200] = { 0 }, last = 0;

	for (int i = 0; i < 200; i++)
		enter(&places[i], 100 + i, "x", "");
	for (int i = 0; i < 200; i++)
		roster_write(roster, &places[i], NULL);
	enter(&last, 300, "x", "");
	ck_assert_uint_ge(last, 1);
	ck_assert_uint_le(last, 200);
	execute_again();
	ck_assert_int_eq(count_rows(), 1);
}
END_TEST

START_TEST(a_socket_is_handed_over_once)
{
	unsigned one = 0, two = 0;
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	roster_enter_descriptor(roster, &one, fds[0], 0, "listen tcp:1");
	roster_enter_descriptor(roster, &two, fds[1], 0, "listen tcp:2");
	ck_assert_int_eq(fcntl(fds[0], F_GETFD), 0);
	execute_again();
	ck_assert_int_eq(roster_take_descriptor(roster, "listen tcp:3", NULL), -ENOENT);
	ck_assert_int_eq(roster_take_descriptor(roster, "listen tcp:1", NULL), fds[0]);
	ck_assert_int_eq(roster_take_descriptor(roster, "listen tcp:1", NULL), -ENOENT);
	roster_settle(roster);
	ck_assert_int_ge(fcntl(fds[0], F_GETFD), 0);
	/* A child closes it. */
	for (int i = 0; i < 10000 && fcntl(fds[1], F_GETFD) >= 0; i++)
		(void)poll(NULL, 0, 1);
	ck_assert_int_lt(fcntl(fds[1], F_GETFD), 0);
	(void)close(fds[0]);
}
END_TEST

START_TEST(a_connection_belongs_to_its_taker)
{
	unsigned places[2] = { 0 };
	struct roster_row *row;
	size_t at = 0;
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	for (int i = 0; i < 2; i++)
		roster_write(roster, &places[i],
			     &(struct roster_row){ .kind = ROSTER_CONNECTION, .number = fds[i] });
	ck_assert_int_eq(fcntl(fds[0], F_SETFD, FD_CLOEXEC), 0);
	execute_again();
	row = roster_next(roster, ROSTER_CONNECTION, &at);
	ck_assert_int_eq(row->number, fds[1]);
	row->kind = ROSTER_NONE;
	ck_assert_ptr_null(roster_next(roster, ROSTER_CONNECTION, &at));
	roster_settle(roster);
	ck_assert_int_ge(fcntl(fds[1], F_GETFD), 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

START_TEST(a_pipe_is_handed_over_with_its_stream)
{
	unsigned one = 0;
	uint64_t stream = 0;
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	roster_enter_descriptor(roster, &one, fds[0], 7, "output web");
	execute_again();
	ck_assert_int_eq(roster_take_descriptor(roster, "output web", &stream), fds[0]);
	ck_assert_uint_eq(stream, 7);
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

/* In an image of its own, which has written some rows. */
static void die_before_the_end_of_a_start(void)
{
	unsigned web = 0, other = 0;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (roster_new(&roster, file) < 0 || count_rows() != 1)
			_exit(1);
		enter(&web, 12, "web", "");
		enter(&other, 11, "other", "");
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(rows_last_until_another_image_has_its_own)
{
	unsigned web = 0, again = 0, other = 0;
	uint64_t size = 0;

	enter(&web, 10, "web", "");
	for (int i = 0; i < 3; i++)
		die_before_the_end_of_a_start();
	execute_again();
	ck_assert_int_eq(count_rows(), 1);
	ck_assert_ptr_nonnull(roster_find_row("web", 10));
	for (int i = 0; i < 50; i++) {
		again = other = 0;
		enter(&again, 20 + i, "web", "");
		enter(&other, 11, "other", "");
		execute_again();
		ck_assert_int_eq(count_rows(), 2);
		ck_assert_ptr_nonnull(roster_find_row("web", 20 + i));
		size = MAX(size, (uint64_t)lseek(file, 0, SEEK_END));
	}
	ck_assert_uint_le(size, 4096 + 8 * sizeof(struct roster_row));
}
END_TEST

START_TEST(a_damaged_file_names_nothing_that_is_closed)
{
	static char noise[8192];
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	srandom((unsigned)_i);
	for (int tries = 0; tries < 200; tries++) {
		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (char)(_i ? random() : 'x');
		ck_assert_int_eq(pwrite(file, noise, sizeof(noise), 4096), sizeof(noise));
		execute_again();
		ck_assert_int_eq(roster_take_descriptor(roster, "listen tcp:1", NULL), -ENOENT);
		(void)roster_find_notify(roster, "web");
	}
	roster_settle(roster);
	ck_assert_int_ge(fcntl(fds[0], F_GETFD), 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

START_TEST(without_a_roster_nothing_is_written)
{
	unsigned place = 0;
	size_t at = 0;

	roster_write(NULL, &place, &(struct roster_row){ .number = 1 });
	roster_enter_descriptor(NULL, &place, 0, 0, "x");
	ck_assert_uint_eq(place, 0);
	ck_assert_int_eq(roster_take_descriptor(NULL, "x", NULL), -ENOENT);
	ck_assert_ptr_null(roster_find_notify(NULL, "web"));
	ck_assert_ptr_null(roster_next(NULL, ROSTER_PROCESS, &at));
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("roster");
	TCase *tc = tcase_create("roster");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, rows_are_read_once);
	tcase_add_test(tc, a_row_keeps_its_details_under_another_path);
	tcase_add_loop_test(tc, an_exchange_of_paths_is_finished, 0, 5);
	tcase_add_test(tc, a_place_is_used_again);
	tcase_add_test(tc, a_socket_is_handed_over_once);
	tcase_add_test(tc, a_connection_belongs_to_its_taker);
	tcase_add_test(tc, a_pipe_is_handed_over_with_its_stream);
	tcase_add_test(tc, rows_last_until_another_image_has_its_own);
	tcase_add_loop_test(tc, a_damaged_file_names_nothing_that_is_closed, 0, 2);
	tcase_add_test(tc, without_a_roster_nothing_is_written);
	suite_add_tcase(s, tc);
	return s;
}
