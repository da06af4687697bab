#pragma once

/*
 * The promises of the manual, as checks of the world beside what the daemon shows.  A promise names the
 * processes, the guards and the times of the world; it does not compute again what the daemon computes.
 */

#include "tests/sim/kernel.h"

void promises_init(void);

/* After each update turn. */
void promises_check_turn(void);

/* When the daemon has a fault: the end of processes that remain after a run begins anew. */
void promises_note_fault(void);

/* When the daemon sends a signal to a process that is alive. */
void promises_check_signal(struct row *row, int signo);

/* Notes the tree at rest; later, after reloads that led back to it, compares.  @same: to an equal text. */
void promises_note(void);
/* At rest after another configuration, which goes back then: services that it has not touched keep their processes. */
void promises_note_untouched(void);
void promises_check_noted(bool same);

/* When programs behave, nothing fails and nothing more happens. */
void promises_check_rest(void);
