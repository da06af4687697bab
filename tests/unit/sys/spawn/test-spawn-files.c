/* The descriptors of a child: exactly its files.  The parent's descriptors are unchanged. */
#include "tests/unit/sys/spawn/test-spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/macro.h"
#include "sys/file/path.h"
#include "tests/unit/fixtures/spawned.h"

/* A number that is not one of check's own descriptors. */
#define EXTRA 20

/* Descriptor @ours of the test is descriptor @its of the child. */
static void check_file(const struct spawned *s, int its, int ours)
{
	char wanted[SPAWNED_LINK_MAX], got[SPAWNED_LINK_MAX], name[16];

	(void)snprintf(name, sizeof(name), "fd/%d", ours);
	spawned_link(wanted, getpid(), name);
	(void)snprintf(name, sizeof(name), "fd/%d", its);
	ck_assert_str_eq(spawned_link(got, s->pid, name), wanted);
}

/* Every way in which four files can lie on the descriptors that they are to become. */
START_TEST(descriptors_arrive_from_any_order)
{
	static const int to[4] = { 0, 1, 2, EXTRA };
	int from[4], rest = _i, left[4] = { 0, 1, 2, EXTRA };
	struct spawned s;
	char name[16];
	int files[4];

	for (int i = 0; i < 4; i++) {
		int pick = rest % (4 - i);

		rest /= 4 - i;
		from[i] = left[pick];
		left[pick] = left[3 - i];
	}
	spawned_init(&s);
	files[0] = s.spec.stdio[0];
	files[1] = s.spec.stdio[1];
	for (int i = 2; i < 4; i++) {
		(void)snprintf(name, sizeof(name), "file %d", i);
		files[i] = fcntl(memfd_create(name, MFD_CLOEXEC), F_DUPFD_CLOEXEC, 40);
		ck_assert_int_ge(files[i], 0);
	}
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(dup2(files[i], from[i]), from[i]);
	memcpy(s.spec.stdio, from, sizeof(s.spec.stdio));
	spawned_file(&s, from[3], EXTRA);
	spawned_start(&s);
	for (int i = 0; i < 4; i++)
		check_file(&s, to[i], files[i]);
	ck_assert_uint_eq(spawned_count_descriptors(s.pid), 4);
	spawned_done(&s);
}
END_TEST

START_TEST(one_file_may_become_several_descriptors)
{
	char in[SPAWNED_LINK_MAX], out[SPAWNED_LINK_MAX];
	struct spawned s;

	spawned_init(&s);
	s.spec.stdio[2] = s.spec.stdio[1];
	spawned_file(&s, s.spec.stdio[1], 9);
	spawned_start(&s);
	ck_assert_str_eq(spawned_link(in, s.pid, "fd/2"), spawned_link(out, s.pid, "fd/1"));
	ck_assert_str_eq(spawned_link(in, s.pid, "fd/9"), out);
	ck_assert_uint_eq(spawned_count_descriptors(s.pid), 4);
	spawned_done(&s);
}
END_TEST

static unsigned open_flags(pid_t pid, int fd)
{
	char name[64];
	unsigned flags = 0;
	FILE *file;

	(void)snprintf(name, sizeof(name), "/proc/%d/fdinfo/%d", (int)pid, fd);
	file = fopen(name, "re");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "pos: %*u flags: %o", &flags), 1);
	(void)fclose(file);
	return flags;
}

START_TEST(output_that_is_opened_anew_shares_no_flags)
{
	char out[SPAWNED_LINK_MAX], err[SPAWNED_LINK_MAX];
	struct spawned s;

	spawned_init(&s);
	ck_assert_int_eq(fcntl(s.spec.stdio[1], F_SETFL, O_NONBLOCK), 0);
	s.spec.stdio[2] = s.spec.stdio[1];
	s.spec.reopen = 1U << 1;
	spawned_start(&s);
	ck_assert_uint_eq(open_flags(s.pid, 1) & O_NONBLOCK, 0);
	ck_assert_uint_ne(open_flags(s.pid, 2) & O_NONBLOCK, 0);
	ck_assert_str_eq(spawned_link(out, s.pid, "fd/1"), spawned_link(err, s.pid, "fd/2"));
	ck_assert_uint_eq(spawned_count_descriptors(s.pid), 3);
	spawned_done(&s);
}
END_TEST

START_TEST(the_child_has_no_other_descriptor)
{
	static const int inherited[] = { 10, 11, EXTRA, 500 };
	struct spawned s;

	for (size_t i = 0; i < ARRAY_SIZE(inherited); i++)
		ck_assert_int_eq(dup2(2, inherited[i]), inherited[i]);
	spawned_init(&s);
	spawned_start(&s);
	ck_assert_uint_eq(spawned_count_descriptors(s.pid), 3);
	spawned_done(&s);

	/* A declared one leaves no gap around it. */
	spawned_init(&s);
	spawned_file(&s, EXTRA, EXTRA + 1);
	spawned_start(&s);
	ck_assert_uint_eq(spawned_count_descriptors(s.pid), 4);
	spawned_done(&s);
}
END_TEST

/* As many as there may be, each from where another one is to be. */
START_TEST(the_child_gets_all_its_files)
{
	static struct spawn_file files[SPAWN_FILES_MAX + 1];
	struct spawn_failure failure;
	struct spawned s;
	pid_t pid;

	spawned_init(&s);
	for (int i = 0; i < SPAWN_FILES_MAX; i++) {
		int fd = memfd_create("file", MFD_CLOEXEC);

		files[i].from = fcntl(fd, F_DUPFD_CLOEXEC, 100);
		ck_assert_int_ge(files[i].from, 100);
		(void)close(fd);
	}
	/* With a gap in the middle. */
	for (int i = 0; i < SPAWN_FILES_MAX; i++)
		files[i].to = 99 + i + (i >= SPAWN_FILES_MAX / 2);
	s.spec.files = files;
	s.spec.n_files = SPAWN_FILES_MAX;
	spawned_start(&s);
	ck_assert_uint_eq(spawned_count_descriptors(s.pid), SPAWN_FILES_MAX + 3);
	for (int i = 0; i < SPAWN_FILES_MAX; i += 100)
		check_file(&s, files[i].to, files[i].from);
	s.spec.n_files++;
	ck_assert_int_eq(spawn(&s.spec, &pid, &failure), SPAWN_E_CHILD);
	ck_assert_int_eq(failure.error, E2BIG);
	spawned_done(&s);
}
END_TEST

/* The child shares the memory, and perhaps the table of descriptors, but changes only its own. */
START_TEST(descriptors_of_the_parent_are_unchanged)
{
	struct spawn_failure failure;
	unsigned before;
	struct spawned s;
	char ours[SPAWNED_LINK_MAX], later[SPAWNED_LINK_MAX];
	pid_t pid;

	ck_assert_int_eq(dup2(2, 500), 500);
	spawned_init(&s);
	spawned_file(&s, EXTRA, EXTRA + 1);
	ck_assert_int_eq(dup2(2, EXTRA), EXTRA);
	spawned_link(ours, getpid(), "fd/0");
	before = spawned_count_descriptors(getpid());

	spawned_start(&s);
	ck_assert_uint_eq(spawned_count_descriptors(getpid()), before);
	ck_assert_str_eq(spawned_link(later, getpid(), "fd/0"), ours);
	ck_assert_int_eq(fcntl(s.spec.stdio[0], F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(fcntl(EXTRA + 1, F_GETFD), -1);

	s.spec.directory = "/nonexistent";
	ck_assert_int_eq(spawn(&s.spec, &pid, &failure), SPAWN_E_CHILD);
	ck_assert_uint_eq(spawned_count_descriptors(getpid()), before);
	ck_assert_str_eq(spawned_link(later, getpid(), "fd/0"), ours);
	spawned_done(&s);
}
END_TEST

START_TEST(the_limit_of_descriptors_is_restored)
{
	struct rlimit raised, given, got;
	struct spawned s;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &raised), 0);
	given = (struct rlimit){ .rlim_cur = 100, .rlim_max = raised.rlim_max };
	spawned_init(&s);
	s.spec.descriptors = &given;
	spawned_start(&s);
	ck_assert_int_eq(prlimit(s.pid, RLIMIT_NOFILE, NULL, &got), 0);
	ck_assert_uint_eq(got.rlim_cur, given.rlim_cur);
	ck_assert_uint_eq(got.rlim_max, given.rlim_max);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &got), 0);
	ck_assert_uint_eq(got.rlim_cur, raised.rlim_cur);
	spawned_done(&s);
}
END_TEST

/* --- a path as the input --- */

#define WORD "word\n"

static unsigned long flags_of(pid_t pid)
{
	unsigned long flags;
	char path[64];
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/0", (int)pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "pos: %*s flags: %lo", &flags), 1);
	(void)fclose(f);
	return flags;
}

/* The program gets all that there is to read at @path. */
static void start_with_input(struct spawned *s, const char *path)
{
	char text[16] = "";

	spawned_init(s);
	s->spec.input = path;
	s->spec.open_input = path_open;
	ck_assert_int_eq(spawn(&s->spec, &s->pid, &(struct spawn_failure){ 0 }), 0);
	ck_assert_int_eq(read(s->out, text, sizeof(text)), strlen(WORD));
	ck_assert_str_eq(text, WORD);
}

/* While it waits for more, it has no other descriptor. */
static void check_waiting(const struct spawned *s)
{
	ck_assert_uint_eq(flags_of(s->pid) & (O_ACCMODE | O_NONBLOCK), O_RDONLY);
	ck_assert_uint_eq(spawned_count_descriptors(s->pid), 3);
}

static void refuse_input(const char *path, int error)
{
	struct spawn_failure failure = { 0 };
	struct spawned s;
	pid_t pid;

	spawned_init(&s);
	s.spec.input = path;
	s.spec.open_input = path_open;
	ck_assert_int_eq(spawn(&s.spec, &pid, &failure), SPAWN_E_CHILD);
	ck_assert_int_eq(failure.step, SPAWN_STEP_INPUT);
	ck_assert_int_eq(failure.error, error);
	spawned_done(&s);
}

START_TEST(input_is_a_file_or_a_fifo)
{
	char path[] = "/tmp/test-spawn.XXXXXX";
	int fd = mkstemp(path);
	struct spawned s;

	ck_assert_int_eq(write(fd, WORD, strlen(WORD)), strlen(WORD));
	start_with_input(&s, path);
	spawned_done(&s);
	(void)close(fd);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(write(fd, WORD, strlen(WORD)), strlen(WORD));
	start_with_input(&s, path);
	check_waiting(&s);
	spawned_done(&s);
	(void)close(fd);
	ck_assert_int_eq(unlink(path), 0);
	refuse_input(path, ENOENT);
	refuse_input("/tmp", EISDIR);
}
END_TEST

/* It does not become that of the session. */
START_TEST(input_is_a_terminal)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), fd;
	struct pollfd p = { .events = POLLIN };
	struct spawned s;

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master), 0);
	ck_assert_int_eq(unlockpt(master), 0);
	fd = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_eq(write(master, WORD, strlen(WORD)), strlen(WORD));
	p.fd = fd;
	ck_assert_int_eq(poll(&p, 1, 10000), 1);
	start_with_input(&s, ptsname(master));
	check_waiting(&s);
	ck_assert_int_lt(tcgetsid(master), 0);
	spawned_done(&s);
	(void)close(fd);
	(void)close(master);
}
END_TEST

void test_spawn_add_files(TCase *tc)
{
	tcase_add_loop_test(tc, descriptors_arrive_from_any_order, 0, 24);
	tcase_add_test(tc, one_file_may_become_several_descriptors);
	tcase_add_test(tc, output_that_is_opened_anew_shares_no_flags);
	tcase_add_test(tc, the_child_has_no_other_descriptor);
	tcase_add_test(tc, the_child_gets_all_its_files);
	tcase_add_test(tc, descriptors_of_the_parent_are_unchanged);
	tcase_add_test(tc, the_limit_of_descriptors_is_restored);
	tcase_add_test(tc, input_is_a_file_or_a_fifo);
	tcase_add_test(tc, input_is_a_terminal);
}
