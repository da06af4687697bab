#pragma once

/*
 * The memory that a new process reads and writes until it executes its program: a copy of its
 * specification with all that this refers to, and its stack.  The parent goes on meanwhile, so
 * nothing of it is the parent's own.
 */

#include "sys/spawn/spec.h"

struct spawn_block {
	struct spawn_block *next; /* in a pool */
	size_t size;		  /* in bytes, of all: the stack is at its end */
	struct spawn_spec spec;
	char **script; /* room for argv and two more words, with spec.script; or NULL */
	int report; /* the child also writes its failure here, as others cannot see it below; -1: none */
	bool suspends; /* the parent, until the exec */
	bool sibling;  /* of this process, not its child */
	bool inside;   /* the child was created in its control group */
	bool reset;    /* and without the signal handlers of its parent */
	bool shares;   /* and with the table of descriptors of its parent (spawn_block_send()) */
	volatile bool took;
	int channel[2];
	int error; /* of the control group that refused the child, which went on; or 0 */
	struct spawn_failure failure;
	/* The next step of the child: written by it, and read by the parent to show it. */
	volatile enum spawn_step step;
};

/* Blocks that are free.  All zero: none. */
struct spawn_pool {
	struct spawn_block *free;
	unsigned n, used;
	unsigned kept; /* so many free ones stay for the next starts, at least a few */
	bool siblings; /* the parent of the processes is a keeper, which is also that of this process */
};

/* Copies @spec into a block.  Return: 0 or -ENOMEM. */
int spawn_block_new(struct spawn_block **ret, struct spawn_pool *pool,
		    const struct spawn_spec *spec);

/* Frees a @block that no process uses any more, or keeps it in @pool.  Returns NULL. */
struct spawn_block *spawn_block_free(struct spawn_block *block, struct spawn_pool *pool);
void spawn_pool_done(struct spawn_pool *pool);

/* The upper end of the stack, aligned for a call. */
char *spawn_block_stack(struct spawn_block *block);

/*
 * Gives a child its descriptors by a message: a copy of the parent's table takes the longer the larger it is. 
 * The child begins with the table itself, leaves it by the first call, and takes the message.  So it depends on
 * no number of the parent's but that of the channel, which the block keeps.
 *
 * In the parent: sends what the child is given.  Returns false if it has to have a copy.
 */
bool spawn_block_send(struct spawn_block *block);

/* In the child: has a table of its own then, and the numbers in @block are those of that.  Return: 0 or -errno. */
long spawn_block_take(struct spawn_block *block);

/* In the parent: closes what a child that is dead, or was not made, has not taken. */
void spawn_block_drop(struct spawn_block *block);
