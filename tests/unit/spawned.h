#pragma once

/*
 * A child to look at from outside: cat, which copies from its standard input to its output and so
 * shows, by the first line that comes back, that it is up and has nothing open but what it was given.
 */

#include "sys/spawn.h"

struct spawned {
	struct spawn_spec spec; /* may be changed before the start */
	struct spawn_file file;
	int in, out; /* our ends of its standard input and output */
	pid_t pid;
};

/* For each test: no signal is handled, ignored or let through, as in the daemon. */
void spawned_setup(void);

/* Makes the pipes, and the plainest specification. */
void spawned_init(struct spawned *s);

/* It gets one more: @from as @to. */
void spawned_file(struct spawned *s, int from, int to);

/* Starts it and waits until it answers. */
void spawned_start(struct spawned *s);

/* Ends it. */
void spawned_done(struct spawned *s);

/* Up to three words for an argv, until the next call. */
char *const *spawned_words(const char *a, const char *b, const char *c);

/* Starts @spec, which is to end by itself.  Return: its exit status, or 128 and the signal. */
int spawned_run(const struct spawn_spec *spec);

/* The value after "@name:\t" in /proc/PID/status; with @base the number it is. */
#define SPAWNED_FIELD_MAX 256
char *spawned_field(char buf[static SPAWNED_FIELD_MAX], const struct spawned *s, const char *name);
unsigned long long spawned_number(const struct spawned *s, const char *name, int base);

/* What /proc/PID/@name is a link to. */
#define SPAWNED_LINK_MAX 256
char *spawned_link(char buf[static SPAWNED_LINK_MAX], pid_t pid, const char *name);

/* How many descriptors @pid has open.  Our own count has one more, that of looking. */
unsigned spawned_count_descriptors(pid_t pid);
