#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/process/children.h"

#define CHILDREN_MAX 400

static struct children children;

struct seen {
	pid_t pids[CHILDREN_MAX];
	int n;
};

static void note(pid_t pid, void *arg)
{
	struct seen *seen = arg;

	ck_assert_int_lt(seen->n, CHILDREN_MAX);
	seen->pids[seen->n++] = pid;
}

static bool has_seen(const struct seen *seen, pid_t pid)
{
	for (int i = 0; i < seen->n; i++)
		if (seen->pids[i] == pid)
			return true;
	return false;
}

static void ignore(pid_t pid, void *arg)
{
	(void)pid;
	(void)arg;
}

static unsigned count(void)
{
	int n = children_read(&children, ignore, NULL);

	ck_assert_int_ge(n, 0);
	return (unsigned)n;
}

static pid_t add(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	return pid;
}

/* A grandchild that the test has inherited; its parent is reaped on return. */
static pid_t adopt(void)
{
	pid_t pid, parent;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	parent = fork();
	ck_assert_int_ge(parent, 0);
	if (parent == 0) {
		pid = add();
		_exit(write(ends[1], &pid, sizeof(pid)) != sizeof(pid));
	}
	ck_assert_int_eq(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
	ck_assert_int_eq(waitpid(parent, NULL, 0), parent);
	(void)close(ends[0]);
	(void)close(ends[1]);
	return pid;
}

static void end(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Returns false on a kernel without the list, where the module is not used. */
static bool begin(void)
{
	int r = children_open(&children, getpid());

	ck_assert(r == 0 || r == -ENOENT);
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	return r == 0;
}

/* More than one reading of the file holds, so that a number is cut in two. */
START_TEST(all_children_are_listed)
{
	struct seen seen = { .n = 0 };
	pid_t pids[300];

	if (!begin())
		return;
	ck_assert_int_eq(children_read(&children, note, &seen), 0);
	ck_assert_int_eq(seen.n, 0);
	for (int i = 0; i < 300; i++)
		pids[i] = add();
	for (int i = 0; i < 300; i += 2)
		ck_assert_int_eq(kill(pids[i], SIGKILL), 0);
	ck_assert_int_eq(children_read(&children, note, &seen), 300);
	ck_assert_int_eq(seen.n, 300);
	for (int i = 0; i < 300; i++)
		ck_assert(has_seen(&seen, pids[i]));
	for (int i = 0; i < 300; i++)
		end(pids[i]);
	ck_assert_uint_eq(count(), 0);
	children_close(&children);
}
END_TEST

START_TEST(a_new_child_is_seen_at_the_end_of_the_list)
{
	pid_t pids[10], adopted;

	if (!begin())
		return;
	ck_assert_uint_eq(count(), 0);
	ck_assert_msg(children_exceed(&children, 0), "nobody knows yet whether that can be seen");
	for (int i = 0; i < 10; i++)
		pids[i] = add();
	ck_assert_uint_eq(count(), 10);
	ck_assert(!children_exceed(&children, 10));
	ck_assert(!children_exceed(&children, 10));

	/* A child is started again, any of them, and the list ends where it did. */
	ck_assert_msg(children_exceed(&children, 9), "it has not been read when it ended there");
	end(pids[3]);
	ck_assert_uint_eq(count(), 9);
	ck_assert(!children_exceed(&children, 9));
	pids[3] = add();
	ck_assert(!children_exceed(&children, 10));
	end(pids[9]);
	ck_assert(!children_exceed(&children, 9));

	/* A new child arrives before the restart. */
	adopted = adopt();
	ck_assert(children_exceed(&children, 9));
	ck_assert_uint_eq(count(), 10);
	ck_assert(!children_exceed(&children, 10));
	end(adopted);
	ck_assert_msg(children_exceed(&children, 9), "who looked there stands elsewhere now");
	ck_assert_uint_eq(count(), 9);
	ck_assert(!children_exceed(&children, 9));

	for (int i = 0; i < 9; i++)
		end(pids[i]);
	ck_assert_uint_eq(count(), 0);
	ck_assert(!children_exceed(&children, 0));
	children_close(&children);
}
END_TEST

/* Compares with the list itself, and counts children as the daemon does. */
START_TEST(a_new_child_is_never_missed)
{
	unsigned known = 0, random = 1, seen = 0;
	pid_t pids[64];

	if (!begin())
		return;
	(void)count();
	for (int step = 0; step < 2000; step++) {
		unsigned there = known, added = 0;

		random = random * 1103515245 + 12345;
		if (known > 8 && random >> 16 & 1) {
			unsigned gone = (random >> 20) % known;

			end(pids[gone]);
			pids[gone] = pids[--known];
			there = known;
		} else if (known < 16) {
			pids[known++] = add();
			there = known;
		}
		if ((random >> 24) % 4 == 0) {
			pids[known++] = adopt();
			added = 1;
		}
		if (!children_exceed(&children, there)) {
			ck_assert_uint_eq(added, 0);
			seen++;
			continue;
		}
		ck_assert_uint_eq(count(), known);
	}
	ck_assert_msg(seen > 200, "only %u times was the list not read", seen);
	while (known > 0)
		end(pids[--known]);
	children_close(&children);
}
END_TEST

START_TEST(no_file_stays_open_without_descriptors)
{
	struct rlimit all, few;
	int lowest = dup(0);

	ck_assert_int_ge(lowest, 0);
	(void)close(lowest);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &all), 0);
	few = all;
	few.rlim_cur = (rlim_t)lowest + CHILDREN_PLACES - 1;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	ck_assert(children_open(&children, getpid()) < 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &all), 0);
	ck_assert_int_eq(dup(0), lowest);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("children");
	TCase *tc = tcase_create("children");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, all_children_are_listed);
	tcase_add_test(tc, a_new_child_is_seen_at_the_end_of_the_list);
	tcase_add_test(tc, a_new_child_is_never_missed);
	tcase_add_test(tc, no_file_stays_open_without_descriptors);
	suite_add_tcase(s, tc);
	return s;
}
