#pragma once

/*
 * The daemon's side of the page that it shares with an attached program (base/page.h).
 *
 * It is read and written by system calls and never mapped, so nothing that the program does to it
 * is felt here; and what is read is not believed: a number comes out, whatever is there.
 */

#include <stdint.h>
#include <sys/types.h>

/* A new page, with a lane for each processor that there may be.  Return: CLOEXEC, or -errno. */
int pagefile_new(void);

/* The stop is to be seen in it.  Return: 0 or -errno. */
int pagefile_stop(int fd);

/* The process that is attached, as we see it; 0: none that we can see. */
pid_t pagefile_holder(int fd);

/* The guards that are said to be held. */
#define PAGEFILE_GUARDS_MAX INT32_MAX
uint64_t pagefile_guards(int fd);
