#pragma once

/*
 * A shutdown as a picture, after `systemd-analyze plot`: SVG, whole in one file and without
 * scripts.  A lane a node, under the one it is in; time goes to the right.
 */

#include "ctl/report/past.h"

void plot_write(FILE *file, const struct past *past);

/*
 * The distance between two marks on an axis of @usec, so that there are at most @max of them, in round numbers;
 * and the text of the mark at @usec, if the next one is at @usec + @step.
 */
uint64_t plot_step(uint64_t usec, unsigned max);
#define PLOT_TICK_MAX 32
char *plot_tick(char buf[static PLOT_TICK_MAX], uint64_t usec, uint64_t step);
