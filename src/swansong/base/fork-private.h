#pragma once

/*
 * Processes that the program forks: each has its own copies of the trees.  See fork.c.
 */

#include "swansong/base/atomic-private.h"

/* An object with locks that no other thread may hold at a fork. */
struct forkable {
	struct list link;
	void (*hold)(struct forkable *f);		    /* takes the locks before the fork */
	void (*release)(struct forkable *f, bool in_child); /* leaves them after it */
};

/* Adds @f until fork_remove().  Returns 0 or -ENOMEM. */
int fork_add(struct forkable *f);
void fork_remove(struct forkable *f);

/* The fate of a descriptor in a forked process. */
struct owned {
	enum { KEPT, RENEWED, COPIED, CLOSED } fate;
	_Atomic int *holder;	       /* set to -1 if the fate fails and it is closed */
	const _Atomic uint32_t *state; /* RENEWED: by an eventfd, readable if bit 0 is set */
	const _Atomic int *original;   /* COPIED: it becomes a copy of this RENEWED one */
};

/* Gives @fd that fate from now on.  Returns 0 or -ENOMEM. */
int fork_add_fd(int fd, struct owned owned);

/* Must be called before @fd is closed; @fd may be any descriptor. */
void fork_remove_fd(int fd);

/*
 * Returns the number of forks that led to this process, its own and those of its ancestors.  Both
 * libraries share one number, so the function is exported by the first.
 */
unsigned int swansong_generation_(void) __attribute__((visibility("default")));
#define fork_generation() swansong_generation_()

#ifdef SWANSONG_STEP
/* Forgets the members that a run of the test has left behind. */
void fork_forget(void);
#endif

/* The handlers of pthread_atfork(3); tests call them in place of fork(2). */
void fork_prepare(void);
void fork_parent(void);
void fork_child(void);
