#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/spawn/adjust.h"

static const struct attributes none = ATTRIBUTES_NONE;
static const char *key;

static void *wait_for_signal(void *arg)
{
	(void)arg;
	for (;;)
		(void)pause();
	return NULL;
}

/* A process group of its own, with two threads; *thread gets the id of the second one. */
static pid_t make_process(pid_t *thread)
{
	int fds[2];
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		pthread_t other;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)setpgid(0, 0);
		if (pthread_create(&other, NULL, wait_for_signal, NULL) != 0 || write(fds[1], "", 1) != 1)
			_exit(1);
		(void)wait_for_signal(NULL);
	}
	ck_assert_int_eq(read(fds[0], thread, 1), 1);
	/* The id of a thread that begins next to its process follows it, unless others came between. */
	*thread = pid;
	for (pid_t id = pid + 1; id < pid + 1000 && *thread == pid; id++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)id);
		if (access(path, F_OK) == 0)
			*thread = id;
	}
	(void)close(fds[0]);
	(void)close(fds[1]);
	return pid;
}

static void end_process(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static int oom_score(pid_t pid)
{
	char path[64];
	int value = -9999;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%d", &value), 1);
	(void)fclose(f);
	return value;
}

static int own_nice(void)
{
	return getpriority(PRIO_PROCESS, 0);
}

/* Another value that any user may set, unless the test has the last one. */
static int other_nice(void)
{
	return own_nice() < 19 ? 19 : geteuid() == 0 ? 7 : 19;
}

START_TEST(attributes_of_a_process_with_its_threads_change)
{
	struct attributes to = none;
	pid_t thread, pid = make_process(&thread);
	int own = oom_score(getpid()), before = own_nice();

	to.nice = other_nice();
	to.io_priority = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0);
	to.oom_score_adjust = own < 900 ? own + 100 : own;
	ck_assert_int_eq(adjust_process(pid, &none, &to, &key), 0);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)pid), to.nice);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)thread), to.nice);
	ck_assert_int_eq(syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, thread), to.io_priority);
	ck_assert_int_eq(oom_score(pid), to.oom_score_adjust);
	ck_assert_int_eq(own_nice(), before);
	ck_assert_int_eq(oom_score(getpid()), own);
	end_process(pid);
}
END_TEST

START_TEST(attribute_that_is_the_same_is_not_set)
{
	struct attributes to = none;
	pid_t thread, pid = make_process(&thread);

	to.nice = other_nice();
	ck_assert_int_eq(adjust_process(pid, &to, &to, &key), 0);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)pid), own_nice());
	end_process(pid);
}
END_TEST

START_TEST(attribute_that_is_not_set_any_more_is_that_of_the_caller)
{
	struct attributes from = none;
	pid_t thread, pid = make_process(&thread);

	from.nice = other_nice();
	from.oom_score_adjust = 500;
	if (geteuid() == 0) {
		ck_assert_int_eq(adjust_process(pid, &none, &from, &key), 0);
		ck_assert_int_eq(adjust_process(pid, &from, &none, &key), 0);
	}
	ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)pid), own_nice());
	ck_assert_int_eq(oom_score(pid), oom_score(getpid()));
	end_process(pid);
}
END_TEST

START_TEST(process_that_is_gone_is_no_other_error)
{
	struct attributes to = none;
	pid_t thread, pid = make_process(&thread);

	end_process(pid);
	to.nice = 7;
	ck_assert_int_eq(adjust_process(pid, &none, &to, &key), -ESRCH);
}
END_TEST

START_TEST(key_that_is_refused_is_named)
{
	struct attributes to = none;
	pid_t thread, pid = make_process(&thread);

	to.oom_score_adjust = 5000;
	ck_assert_int_eq(adjust_process(pid, &none, &to, &key), -EINVAL);
	ck_assert_str_eq(key, "oom-score-adjust");
	end_process(pid);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("adjust");
	TCase *t = tcase_create("adjust");

	tcase_add_test(t, attributes_of_a_process_with_its_threads_change);
	tcase_add_test(t, attribute_that_is_the_same_is_not_set);
	tcase_add_test(t, attribute_that_is_not_set_any_more_is_that_of_the_caller);
	tcase_add_test(t, process_that_is_gone_is_no_other_error);
	tcase_add_test(t, key_that_is_refused_is_named);
	suite_add_tcase(suite, t);
	return suite;
}
