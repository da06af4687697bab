#pragma once

/*
 * The effect of ended services on the tree: exit-when, essential, success-status.  The result is in
 * struct ends.
 */

#include "daemon/tree/tree.h"

bool exit_has_essential(const struct tree *tree);

/* TASK_ENDS: stops the tree if a service has ended with which it ends. */
void exit_update(struct tree *tree);

/*
 * With exit-when = all: stops the tree if all services that count have ended.  It must be called
 * after all starts of the turn.
 */
void exit_update_last(struct tree *tree);

/* The service with which the tree has ended, or NULL. */
const struct service *exit_service(const struct tree *tree);

/* Its exit status; -1: there is none. */
int exit_status_of_cause(const struct tree *tree);

/* After a turn: enters why the tree ends into the roster, with the signal @signo, 0: none. */
void exit_enter(struct tree *tree, int signo);

/* After a fault the reason is the one from before.  Returns the signal. */
int exit_take_former(struct tree *tree);
