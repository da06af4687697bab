/* The page of an attached program, read by the daemon. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/page.h"
#include "sys/ipc/pagefile.h"

#define LANES 1000

/* A page with room for many lanes, also on a small machine; nothing of them is written. */
static int page_with_lanes(void)
{
	int fd = memfd_create("page", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, PAGE_HEADER + LANES * PAGE_LANE), 0);
	return fd;
}

static void write_lane(int fd, unsigned lane, uint64_t word)
{
	ck_assert_int_eq(pwrite(fd, &word, sizeof(word), PAGE_HEADER + (off_t)lane * PAGE_LANE),
			 sizeof(word));
}

static void write_header(int fd, int64_t elsewhere, uint32_t gathered)
{
	ck_assert_int_eq(
		pwrite(fd, &elsewhere, sizeof(elsewhere), offsetof(struct page, elsewhere)),
		sizeof(elsewhere));
	ck_assert_int_eq(pwrite(fd, &gathered, sizeof(gathered), offsetof(struct page, gathered)),
			 sizeof(gathered));
}

START_TEST(new_page_has_a_lane_for_each_processor)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);
	struct page page;
	struct stat st;
	int fd = pagefile_new();

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(pread(fd, &page, sizeof(page), 0), sizeof(page));
	ck_assert_uint_eq(page.magic, PAGE_MAGIC);
	ck_assert_uint_eq(page.version, PAGE_VERSION);
	ck_assert_uint_eq(page.n_lanes, MIN(n, 4096));
	ck_assert_uint_eq(page.stop, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(st.st_size, PAGE_HEADER + (off_t)page.n_lanes * PAGE_LANE);
	ck_assert_int_lt(ftruncate(fd, 0), 0);
	ck_assert_uint_eq(pagefile_guards(fd), 0);
	(void)close(fd);
}
END_TEST

START_TEST(stop_is_set_in_the_page)
{
	struct page page;
	int fd = pagefile_new(), full[2];

	ck_assert_int_eq(pagefile_stop(fd), 0);
	ck_assert_int_eq(pread(fd, &page, sizeof(page), 0), sizeof(page));
	ck_assert_uint_eq(page.stop, 1);
	ck_assert_uint_eq(page.magic, PAGE_MAGIC);
	ck_assert_int_eq(page.elsewhere, 0);
	(void)close(fd);
	ck_assert_int_eq(pagefile_stop(fd), -EBADF);
	ck_assert_int_eq(pipe(full), 0);
	ck_assert_int_eq(pagefile_stop(full[1]), -ESPIPE);
}
END_TEST

START_TEST(guards_of_all_lanes_are_added)
{
	static const unsigned lanes[] = { 0, 1, 31, 32, 33, 63, 64, 500, LANES - 1 };
	int fd = page_with_lanes();
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lanes); i++) {
		write_lane(fd, lanes[i], PAGE_BIAS + i + 1);
		sum += i + 1;
		ck_assert_uint_eq(pagefile_guards(fd), sum);
	}
	/* Taken on one processor, dropped on another. */
	write_lane(fd, 2, PAGE_BIAS - 10);
	ck_assert_uint_eq(pagefile_guards(fd), sum - 10);
	write_lane(fd, 3, PAGE_VOID | (PAGE_BIAS + 1000));
	write_lane(fd, 4, 0);
	ck_assert_uint_eq(pagefile_guards(fd), sum - 10);
	write_header(fd, 100, 0);
	ck_assert_uint_eq(pagefile_guards(fd), sum + 90);
	write_header(fd, 100, 1);
	ck_assert_uint_eq(pagefile_guards(fd), 100);
	(void)close(fd);
}
END_TEST

START_TEST(any_page_has_a_number_of_guards)
{
	int fd = page_with_lanes();

	write_lane(fd, 0, PAGE_BIAS - 1);
	ck_assert_uint_eq(pagefile_guards(fd), 0);
	write_header(fd, -5, 1);
	ck_assert_uint_eq(pagefile_guards(fd), 0);
	write_header(fd, PAGEFILE_GUARDS_MAX, 1);
	ck_assert_uint_eq(pagefile_guards(fd), PAGEFILE_GUARDS_MAX);
	write_header(fd, PAGEFILE_GUARDS_MAX + INT64_C(1), 1);
	ck_assert_uint_eq(pagefile_guards(fd), PAGEFILE_GUARDS_MAX);
	(void)close(fd);
	ck_assert_uint_eq(pagefile_guards(fd), 0);
}
END_TEST

static bool lock_byte(int fd, off_t at)
{
	const struct flock lock = { .l_type = F_WRLCK, .l_start = at, .l_len = 1 };

	return fcntl(fd, F_SETLK, &lock) == 0;
}

START_TEST(holder_of_the_lock_is_attached_until_it_ends)
{
	int fd = pagefile_new(), up[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pagefile_holder(fd), 0);
	ck_assert_int_eq(pipe(up), 0);
	for (off_t at = 0; at < 2; at++) {
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			(void)alarm(60);
			_exit(!lock_byte(fd, at) || write(up[1], "x", 1) != 1 || pause());
		}
		ck_assert_int_eq(read(up[0], &c, 1), 1);
		ck_assert_int_eq(pagefile_holder(fd), at == 0 ? pid : 0);
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		ck_assert_int_eq(pagefile_holder(fd), 0);
	}
	(void)close(fd);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("pagefile");
	TCase *tc = tcase_create("pagefile");

	tcase_add_test(tc, new_page_has_a_lane_for_each_processor);
	tcase_add_test(tc, stop_is_set_in_the_page);
	tcase_add_test(tc, guards_of_all_lanes_are_added);
	tcase_add_test(tc, any_page_has_a_number_of_guards);
	tcase_add_test(tc, holder_of_the_lock_is_attached_until_it_ends);
	suite_add_tcase(s, tc);
	return s;
}
