/* From the last drop to the waiter. */
#include "guards.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAKES 300

struct sleeper {
	void (*sleep)(struct sleeper *sleeper);
	void (*wake)(struct sleeper *sleeper);
	_Atomic int tid;
	uint64_t awake_nsec;
	struct swansong *node; /* of the library's way */
	struct swansong_guard guard;
	_Atomic uint32_t word; /* of the bare one */
};

static void sleep_on_node(struct sleeper *s)
{
	(void)swansong_wait(s->node, UINT64_MAX);
}

static void wake_by_drop(struct sleeper *s)
{
	swansong_guard_drop(&s->guard);
}

static void sleep_on_word(struct sleeper *s)
{
	while (!atomic_load(&s->word))
		(void)syscall(SYS_futex, &s->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void wake_by_word(struct sleeper *s)
{
	atomic_store(&s->word, 1);
	(void)syscall(SYS_futex, &s->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *sleep_thread(void *arg)
{
	struct sleeper *s = arg;

	atomic_store(&s->tid, gettid());
	s->sleep(s);
	s->awake_nsec = now_nsec();
	return NULL;
}

/* "PID (NAME) S": it sleeps. */
static bool is_asleep(pid_t tid)
{
	char path[64], text[256] = "";
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "re");
	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = '\0';
		(void)fclose(f);
	}
	return strstr(text, ") S ") != NULL;
}

static double wake_once(struct sleeper *s)
{
	pthread_t thread = start_thread(sleep_thread, s);
	uint64_t begun;

	while (atomic_load(&s->tid) == 0 || !is_asleep(atomic_load(&s->tid)))
		;
	begun = now_nsec();
	s->wake(s);
	(void)pthread_join(thread, NULL);
	return (double)(s->awake_nsec - begun) / 1e3;
}

static double wake_node(void)
{
	struct sleeper s = { .sleep = sleep_on_node, .wake = wake_by_drop, .node = new_root() };
	double usec;

	s.guard = swansong_guard(s.node);
	swansong_shut_down(s.node);
	usec = wake_once(&s);
	(void)swansong_unref(s.node);
	return usec;
}

static double wake_word(void)
{
	struct sleeper s = { .sleep = sleep_on_word, .wake = wake_by_word };

	return wake_once(&s);
}

void report_wakes(struct report *report)
{
	double node[WAKES], word[WAKES];

	for (size_t i = 0; i < WAKES; i++) {
		node[i] = wake_node();
		word[i] = wake_word();
	}
	report_add(report, (struct figure){ "last drop to waiter, median; floor: futex", "us",
					    percentile(node, WAKES, 0.5),
					    percentile(word, WAKES, 0.5), TARGET_NONE, 0 });
	report_add(report, (struct figure){ "the same, 99 %", "us", percentile(node, WAKES, 0.99),
					    percentile(word, WAKES, 0.99), TARGET_NONE, 0 });
}
