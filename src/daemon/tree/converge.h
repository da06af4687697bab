#pragma once

/* Each update turn compares goals and states, whatever led there. */

#include "daemon/tree/tree.h"

/* TASK_STOPS: holds services of a stopped generation, and signals those that nothing holds back. */
void converge_stops(struct tree *tree);

/* TASK_RENEWALS: begins the next generation of stopped nodes that are meant to run. */
void converge_renewals(struct tree *tree);

/* TASK_STARTS: starts services that are meant to run as soon as no dependency blocks them. */
void converge_starts(struct tree *tree);

/* Returns true if a service is about to have its first outcome: the tree is still starting. */
bool converge_is_starting(const struct tree *tree);
