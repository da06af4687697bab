#pragma once

/*
 * Transient nodes: services without a section, made below a group by a request.  They are nodes
 * like others and survive reloads with their group.  One that has ended is removed; if it is to be
 * kept, it is removed when it has been stopped.
 */

#include "daemon/tree/tree.h"
#include "model/config/transient.h"

/* All is borrowed. */
struct transient_run {
	const char *path;
	char *const *properties, *const *argv; /* as in struct transient */
	bool keep;
	int tape; /* of the look-ups of its users and groups, see source_each(); 0: none */
	bool ask; /* looks them up, which may block, where the tape is not sealed; else the error is -ENOSYS */
};

/* In a child: looks up what transient_add() needs, and seals the tape. */
void transient_ask(struct tree *tree, const struct transient_run *run);

/*
 * Makes a node and sets its goal to run.  Return: 0; or -errno and nothing has changed: -ENOENT and
 * -ESHUTDOWN are about its parent, all others have their text in @reason.
 */
int transient_add(struct tree *tree, const struct transient_run *run, FILE *reason,
		  struct node **ret);

/* Returns true if its service has ended or was stopped for good. */
bool transient_has_ended(const struct node *node);

/* TASK_TRANSIENT: removes @node if it has ended, after all waiting requests have got their replies. */
void transient_update(struct tree *tree, struct node *node);
