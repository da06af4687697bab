#pragma once

/* A thread that makes one call, which is to wait; and the moment when it does. */

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "main.h"

struct caller {
	pthread_t thread;
	long (*call)(void *arg);
	void *arg;
	long result;
	_Atomic int tid;
	_Atomic bool returned;
};

static inline void *caller_main(void *arg)
{
	struct caller *c = arg;

	atomic_store(&c->tid, gettid());
	c->result = c->call(c->arg);
	atomic_store(&c->returned, true);
	return NULL;
}

static inline void caller_start(struct caller *c, long (*call)(void *arg), void *arg)
{
	*c = (struct caller){ .call = call, .arg = arg };
	ck_assert_int_eq(pthread_create(&c->thread, NULL, caller_main, c), 0);
}

/* Whether the thread sleeps in the kernel. */
static inline bool caller_sleeps(struct caller *c)
{
	char path[64], stat[256] = "";
	char *state;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", atomic_load(&c->tid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ck_assert_int_gt(read(fd, stat, sizeof(stat) - 1), 0);
	close(fd);
	state = strrchr(stat, ')');
	return state && state[2] == 'S';
}

static inline void caller_wait_asleep(struct caller *c)
{
	while (!atomic_load(&c->tid) || !caller_sleeps(c)) {
		ck_assert(!atomic_load(&c->returned));
		sched_yield();
	}
}

static inline long caller_join(struct caller *c)
{
	ck_assert_int_eq(pthread_join(c->thread, NULL), 0);
	return c->result;
}
