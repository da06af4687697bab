#include "tests/unit/fixtures/daemon/tree-world.h"

/* The descriptor by which schedules learn of a set clock. */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define PLAIN "[a]\ncommand = x\n"
#define TIMED "[b]\ncommand = x\ntype = oneshot\nschedule = 1h\n"

/* Returns the text that Linux has about a descriptor of this process: "NAME:\tVALUE\n". */
static const char *read_info(const char *name)
{
	static char text[1024];
	char path[300];
	ssize_t n = 0;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		(void)close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static long number_of(const char *info, const char *name, int base)
{
	const char *at = strstr(info, name);

	return at ? strtol(at + strlen(name), NULL, base) : -1;
}

/* Returns the number of timers of CLOCK_REALTIME that a set clock cancels. */
static unsigned count_watches(void)
{
	DIR *dir = opendir("/proc/self/fdinfo");
	const struct dirent *entry;
	unsigned n = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		const char *info = read_info(entry->d_name);

		n += number_of(info, "clockid:", 10) == CLOCK_REALTIME &&
		     number_of(info, "settime flags:", 8) ==
			     (TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET);
	}
	(void)closedir(dir);
	return n;
}

static bool has_timer_info(void)
{
	int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
	char name[12];
	bool has;

	(void)snprintf(name, sizeof(name), "%d", fd);
	has = number_of(read_info(name), "settime flags:", 8) >= 0;
	(void)close(fd);
	return has;
}

START_TEST(clock_is_watched_while_there_is_a_schedule)
{
	if (!has_timer_info()) {
		(void)puts("# SKIP machine: /proc does not show timers");
		return;
	}
	begin(PLAIN);
	ck_assert_uint_eq(count_watches(), 0);
	reload(PLAIN TIMED);
	ck_assert_uint_eq(count_watches(), 1);
	reload(PLAIN TIMED "[c]\ncommand = x\ntype = oneshot\nschedule = 2h\n");
	ck_assert_uint_eq(count_watches(), 1);
	reload(PLAIN TIMED);
	ck_assert_uint_eq(count_watches(), 1);
	reload(PLAIN);
	end_asked();
	ck_assert_uint_eq(count_watches(), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("timetable");
	TCase *tc = tree_case("timetable");

	tcase_add_test(tc, clock_is_watched_while_there_is_a_schedule);
	suite_add_tcase(s, tc);
	return s;
}
