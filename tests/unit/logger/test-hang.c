/* A reader of files that hang.  The time of the logger is that of the test. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "tests/unit/logger/play.h"

static uint64_t *ahead; /* shared with the logger */
static int reader = -1;
static char elsewhere[64];
static bool is_hung; /* the file that is read */

uint64_t __real_clock_now_usec(void);
uint64_t __wrap_clock_now_usec(void);
uint64_t __wrap_clock_now_usec(void)
{
	return __real_clock_now_usec() + (ahead ? __atomic_load_n(ahead, __ATOMIC_RELAXED) : 0);
}

static void setup(void)
{
	ahead = mmap(NULL, sizeof(*ahead), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	ck_assert_ptr_ne(ahead, MAP_FAILED);
	play_begin();
}

static void teardown(void)
{
	(void)play_signal_helpers(SIGKILL);
	reader = fd_close(reader);
	if (*elsewhere)
		(void)unlink(elsewhere);
	play_end();
}

/* More than the pipes and the buffer of a reader hold, so that its process does not end. */
static void write_large(const char *name)
{
	FILE *file = fopen(name, "we");

	ck_assert_ptr_nonnull(file);
	for (int i = 0; i < 200000; i++)
		(void)fprintf(file, "%09d\n", i);
	ck_assert_int_eq(fclose(file), 0);
}

/* Returns true if there is a file on another file system. */
static bool write_elsewhere(void)
{
	struct stat here, there;
	int fd;

	(void)snprintf(elsewhere, sizeof(elsewhere), "/dev/shm/test-XXXXXX");
	fd = mkstemp(elsewhere);
	if (fd < 0) {
		*elsewhere = '\0';
		return false;
	}
	ck_assert_int_eq(write(fd, "last\n", 5), 5);
	ck_assert_int_eq(fstat(fd, &there), 0);
	(void)close(fd);
	ck_assert_int_eq(stat(".", &here), 0);
	return here.st_dev != there.st_dev;
}

static void show_file(const char *name, const char *file)
{
	struct logger_message m = { .type = LOGGER_SHOW, .stream = LOGGER_ALL };
	char path[128];

	m.view = (struct logger_view){ .id = 1, .lines = 200000 };
	(void)snprintf(path, sizeof(path), "%s%s%s", *file == '/' ? "" : directory,
		       *file == '/' ? "" : "/", file);
	ck_assert_int_eq(logger_send(play.control, &m, name, path, -1), 0);
}

static void open_reader(void)
{
	struct logger_message m = { .type = LOGGER_VIEW, .view = { .id = 1 } };
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	reader = fds[0];
	ck_assert_int_eq(logger_send(play.control, &m, NULL, NULL, fds[1]), 0);
	(void)close(fds[1]);
}

/* Reads.  As long as nothing comes from a file that hangs the time passes: a busy machine would let it pass for others. */
static void read_bytes(void *data, size_t size)
{
	char *at = data;

	for (int i = 0; size > 0; i++) {
		struct pollfd p = { .fd = reader, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, 10) == 0) {
			ck_assert_int_lt(i, 1000);
			if (is_hung)
				(void)__atomic_add_fetch(ahead, 6 * USEC_PER_SEC, __ATOMIC_RELAXED);
			play_flush(0);
			continue;
		}
		n = read(reader, at, size);
		ck_assert_int_gt(n, 0);
		at += n;
		size -= (size_t)n;
	}
}

/* Returns the next frame that is no text of the file that hangs, as "NAME: text or error". */
static const char *next_frame(struct logger_frame *frame)
{
	static char text[65536], all[128];
	size_t length;

	do {
		read_bytes(frame, sizeof(*frame));
		length = frame->size - sizeof(*frame);
		ck_assert_uint_lt(length, sizeof(text));
		read_bytes(text, length);
		text[length] = '\0';
	} while (*text == 'a' && !frame->lost);
	(void)snprintf(all, sizeof(all), "%.*s: %s", (int)frame->name_length, text,
		       frame->lost ? strerror((int)frame->lost) : text + frame->name_length);
	return all;
}

START_TEST(files_of_a_file_system_that_hangs_are_given_up_together)
{
	struct logger_rules rules = { .to = LOGGER_TO_MEMORY, .memory = 4096 };
	struct logger_message begin = { .type = LOGGER_BEGIN, .view = { .id = 1 } };
	bool is_elsewhere = write_elsewhere();
	struct logger_frame frame;

	write_large("large");
	write_file("small", "line\n", 5);
	play_add(0, &rules, "memory", "");
	open_reader();
	show_file("a", "large");
	show_file("b", "small");
	if (is_elsewhere)
		show_file("c", elsewhere);
	play_send(&begin);
	/* The first file is read after the first reply, if not before. */
	play_flush(0);
	play_flush(0);
	ck_assert_int_eq(play_signal_helpers(SIGSTOP), 1);
	is_hung = true;
	ck_assert_str_eq(next_frame(&frame), "a: Connection timed out");
	ck_assert_str_eq(next_frame(&frame), "b: Connection timed out");
	is_hung = false;
	if (is_elsewhere)
		ck_assert_str_eq(next_frame(&frame), "c: last\n");
	(void)next_frame(&frame);
	ck_assert_int_eq(frame.type, LOGGER_FRAME_NOW);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("files that hang");
	TCase *t = tcase_create("hang");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, files_of_a_file_system_that_hangs_are_given_up_together);
	suite_add_tcase(suite, t);
	return suite;
}
