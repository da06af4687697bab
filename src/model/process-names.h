#pragma once

/* What configurations call the numbers that Linux has for what a process runs as. */

#include <linux/capability.h>
#include <linux/ioprio.h>

#define N_CAPABILITIES (CAP_LAST_CAP + 1)
#define N_IO_CLASSES   (IOPRIO_CLASS_IDLE + 1)

extern const char *const capability_names[N_CAPABILITIES];
extern const char *const io_class_names[N_IO_CLASSES];
