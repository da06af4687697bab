#pragma once

/*
 * Processes that the program forks: each has copies of the trees, which are its own.  See fork.c.
 */

#include <stdbool.h>

#include "base/list.h"
#include "swansong/base/atomic-private.h"

/* What has locks that no other thread may hold at a fork. */
struct forkable {
	struct list link;
	void (*hold)(struct forkable *f);		    /* takes them, before */
	void (*release)(struct forkable *f, bool in_child); /* leaves them, after */
};

/* 0 or -ENOMEM. */
int fork_add(struct forkable *f);
void fork_remove(struct forkable *f);

/* What becomes of a descriptor in a process that is forked. */
struct owned {
	enum { KEPT, RENEWED, COPIED, CLOSED } fate;
	_Atomic int *holder;	       /* -1 is put there if it has to be closed in place of: */
	const _Atomic uint32_t *state; /* RENEWED: an eventfd, readable if bit 0 is set */
	const _Atomic int *original;   /* COPIED: a copy of this one, which is RENEWED */
};

/* From now on.  0 or -ENOMEM. */
int fork_own(int fd, struct owned owned);

/* Before @fd, which may be any, is closed. */
void fork_disown(int fd);

/*
 * How often this process and those that it comes from have been forked.  It is one for both libraries,
 * and so a name of the first.
 */
unsigned int swansong_generation_(void) __attribute__((visibility("default")));
#define fork_generation() swansong_generation_()

#ifdef SWANSONG_STEP
/* A run of the test has left members behind. */
void fork_forget(void);
#endif

/* The handlers of pthread_atfork(3); for tests, which do not fork. */
void fork_prepare(void);
void fork_parent(void);
void fork_child(void);
