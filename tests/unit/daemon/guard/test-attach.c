#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "tests/unit/fixtures/page-guards.h"
#include "daemon/guard/attach-report.h"
#include "sys/ipc/pagefile.h"

/* --- the page, from the side of the program --- */

static int fd;
static struct page *page;
static size_t size;

static void setup(void)
{
	fd = pagefile_new();
	ck_assert_int_ge(fd, 0);
	size = (size_t)lseek(fd, 0, SEEK_END);
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(page, MAP_FAILED);
}

static void teardown(void)
{
	ck_assert_int_eq(munmap(page, size), 0);
	ck_assert_int_eq(close(fd), 0);
}

static void set_lane(unsigned i, int64_t n)
{
	page_lanes(page)[i].count = PAGE_BIAS + (uint64_t)n;
}

START_TEST(page_has_the_layout_of_the_header)
{
	ck_assert_uint_eq(page->magic, PAGE_MAGIC);
	ck_assert_uint_eq(page->version, PAGE_VERSION);
	ck_assert_uint_ge(page->n_lanes, 1);
	ck_assert_uint_eq(size, PAGE_HEADER + (size_t)page->n_lanes * PAGE_LANE);
	ck_assert_uint_eq(page->stop, 0);
	ck_assert_int_eq(page->elsewhere, 0);
	ck_assert_uint_eq(page->gathered, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_uint_eq(pagefile_guards(fd), 0);
}
END_TEST

START_TEST(its_size_is_sealed)
{
	ck_assert_int_eq(ftruncate(fd, 0), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(ftruncate(fd, (off_t)size + 1), -1);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	ck_assert_int_eq(errno, EPERM);
}
END_TEST

START_TEST(the_stop_is_seen)
{
	ck_assert_int_eq(pagefile_stop(fd), 0);
	ck_assert_uint_eq(page->stop, 1);
	ck_assert_uint_eq(page->magic, PAGE_MAGIC);
	ck_assert_int_eq(page->elsewhere, 0);
}
END_TEST

START_TEST(guards_are_summed_over_all_lanes)
{
	unsigned last = page->n_lanes - 1;

	set_lane(0, 5);
	ck_assert_uint_eq(pagefile_guards(fd), 5);
	page->elsewhere = 7;
	ck_assert_uint_eq(pagefile_guards(fd), 12);
	page->elsewhere = -2;
	ck_assert_uint_eq(pagefile_guards(fd), 3);
	set_lane(0, -4);
	page->elsewhere = 9;
	ck_assert_uint_eq(pagefile_guards(fd), 5);
	page_lanes(page)[0].count |= PAGE_VOID;
	ck_assert_uint_eq(pagefile_guards(fd), 9);
	if (last > 0) {
		set_lane(last, 100);
		ck_assert_uint_eq(pagefile_guards(fd), 109);
	}
	page->gathered = 1;
	ck_assert_uint_eq(pagefile_guards(fd), 9);
	ck_assert_int_eq(page_guards(page, page->n_lanes), 9);
}
END_TEST

START_TEST(a_sum_is_never_out_of_bounds)
{
	page->elsewhere = -1;
	ck_assert_uint_eq(pagefile_guards(fd), 0);
	page->elsewhere = INT64_MIN;
	ck_assert_uint_eq(pagefile_guards(fd), 0);
	page->elsewhere = INT64_MAX;
	ck_assert_uint_eq(pagefile_guards(fd), PAGEFILE_GUARDS_MAX);
	set_lane(0, 1);
	ck_assert_uint_eq(pagefile_guards(fd), 0);
	for (unsigned seed = 1; seed <= 1000; seed++) {
		srandom(seed);
		for (size_t i = 0; i < size / sizeof(uint64_t); i++)
			((uint64_t *)page)[i] = (uint64_t)random() << 42 ^
						(uint64_t)random() << 21 ^ (uint64_t)random();
		ck_assert_uint_le(pagefile_guards(fd), PAGEFILE_GUARDS_MAX);
		ck_assert_uint_eq(pagefile_guards(fd),
				  MIN((uint64_t)page_guards(
					      page, (uint32_t)((size - PAGE_HEADER) / PAGE_LANE)),
				      (uint64_t)PAGEFILE_GUARDS_MAX));
	}
}
END_TEST

static int set_lock(int command, short type, off_t start)
{
	struct flock lock = { .l_type = type, .l_start = start, .l_len = 1 };

	return fcntl(fd, command, &lock);
}

/* A process that holds the lock until it is asked to end. */
static pid_t hold(int command, short type, off_t start, int *ret_end)
{
	int ready[2], end[2];
	char c;
	pid_t pid;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(end, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)close(end[1]);
		_exit(set_lock(command, type, start) < 0 || write(ready[1], "", 1) != 1 ||
		      read(end[0], &c, 1) != 0);
	}
	(void)close(ready[1]);
	(void)close(end[0]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	(void)close(ready[0]);
	*ret_end = end[1];
	return pid;
}

static void release(pid_t pid, int end)
{
	int status;

	(void)close(end);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(holder_of_the_lock_is_attached)
{
	int end, end2;
	pid_t pid, pid2;

	ck_assert_int_eq(pagefile_holder(fd), 0);
	pid = hold(F_SETLK, F_WRLCK, 0, &end);
	ck_assert_int_eq(pagefile_holder(fd), pid);
	release(pid, end);
	ck_assert_int_eq(pagefile_holder(fd), 0);

	/* Other locks on the page attach no process. */
	pid = hold(F_SETLK, F_RDLCK, 0, &end);
	pid2 = hold(F_SETLK, F_WRLCK, 1, &end2);
	ck_assert_int_eq(pagefile_holder(fd), 0);
	release(pid2, end2);
	release(pid, end);
	ck_assert_int_eq(set_lock(F_OFD_SETLK, F_WRLCK, 0), 0);
	ck_assert_int_eq(pagefile_holder(fd), 0);
}
END_TEST

/* --- reports --- */

static struct attach_report report;

static int parse(const char *text)
{
	return attach_report_parse(text, strlen(text), &report);
}

START_TEST(a_report_is_shown_by_its_places)
{
	ck_assert_int_eq(parse("3 2000 web.c:41 serve\n"), 0);
	ck_assert_str_eq(report.why, "web.c:41 serve");
	ck_assert_uint_eq(report.oldest_usec, 2000);
	ck_assert_int_eq(parse("3 2000 web.c:41 serve\n1 70 db.c:7\n"), 0);
	ck_assert_str_eq(report.why, "3 x web.c:41 serve, 1 x db.c:7");
	ck_assert_uint_eq(report.oldest_usec, 70);
	ck_assert_int_eq(parse("0 1 gone\n2 9 x\n"), 0);
	ck_assert_str_eq(report.why, "2 x x");
	ck_assert_uint_eq(report.oldest_usec, 9);
	ck_assert_int_eq(parse("1 18446744073709551615 \n"), 0);
	ck_assert_str_eq(report.why, "");
	ck_assert_int_eq(parse(""), 0);
	ck_assert_str_eq(report.why, "");
	ck_assert_uint_eq(report.oldest_usec, USEC_INFINITY);
}
END_TEST

START_TEST(place_may_have_any_bytes)
{
	ck_assert_int_eq(parse("1 1 \x1b[2J\\\xff\xc2\x9b\xc3\xa4\n"), 0);
	ck_assert_str_eq(report.why, "\x1b[2J\\\xff\xc2\x9b\xc3\xa4");
}
END_TEST

START_TEST(invalid_report_changes_nothing)
{
	static const char *const bad[] = {
		"\n",
		"1\n",
		"1 2\n",
		"1 2 x",
		"1 2 x\n1",
		" 1 2 x\n",
		"1  2 x\n",
		"-1 2 x\n",
		"1 -2 x\n",
		"+1 2 x\n",
		"1 2x x\n",
		"0x1 2 x\n",
		"2147483648 2 x\n",
		"1 18446744073709551616 x\n",
		"1 2 x\n\n",
		"x\n1 2 x\n",
		"REPORT\n1 2 x\n",
	};

	ck_assert_int_eq(parse("1 5 before\n"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_msg(parse(bad[i]) == -EBADMSG, "%s", bad[i]);
		ck_assert_str_eq(report.why, "before");
	}
	ck_assert_int_eq(attach_report_parse("1 2 x\0y\n", 8, &report), -EBADMSG);
	ck_assert_str_eq(report.why, "before");
}
END_TEST

START_TEST(a_long_report_is_cut_short)
{
	char text[PAGE_MESSAGE_MAX] = "", place[2 * ATTACH_WHY_MAX];
	const char *end;

	/* The cut is between two characters. */
	for (size_t i = 0; i + 2 < sizeof(place); i += 2)
		memcpy(place + i, "\xc3\xa4", 3);
	(void)snprintf(text, sizeof(text), "1 1 p%s\n", place);
	ck_assert_int_eq(parse(text), 0);
	ck_assert_uint_lt(strlen(report.why), sizeof(report.why));
	ck_assert_uint_gt(strlen(report.why), 0);
	ck_assert_uint_eq(strlen(report.why) % 2, 1);

	*text = '\0';
	for (int i = 0; i < 100; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d %d place-%d\n",
			       i + 1, 200 - i, i);
	ck_assert_int_eq(parse(text), 0);
	ck_assert_uint_eq(report.oldest_usec, 101);
	end = report.why + strlen(report.why) - strlen(", ...");
	ck_assert_str_eq(end, ", ...");
	ck_assert_ptr_eq(strstr(report.why, ", ..."), end);
	for (size_t n = 0; n < sizeof(text); n += 7) { /* of any length */
		memset(text, '\n', n);
		(void)attach_report_parse(text, n, &report);
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-attach");
	TCase *tc = tcase_create("daemon-attach");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, page_has_the_layout_of_the_header);
	tcase_add_test(tc, its_size_is_sealed);
	tcase_add_test(tc, the_stop_is_seen);
	tcase_add_test(tc, guards_are_summed_over_all_lanes);
	tcase_add_test(tc, a_sum_is_never_out_of_bounds);
	tcase_add_test(tc, holder_of_the_lock_is_attached);
	tcase_add_test(tc, a_report_is_shown_by_its_places);
	tcase_add_test(tc, place_may_have_any_bytes);
	tcase_add_test(tc, invalid_report_changes_nothing);
	tcase_add_test(tc, a_long_report_is_cut_short);
	suite_add_tcase(s, tc);
	return s;
}
