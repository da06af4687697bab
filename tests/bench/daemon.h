#pragma once

/* swansongd as a subject (subject.h), and requests by its control socket. */

#include <stdbool.h>
#include <stdio.h>

#include "proto/client.h"
#include "subject.h"

struct daemon {
	struct subject subject;
	char *config, *socket;
	struct client *client;
};

/* The programs, and the folder for their files. */
struct programs {
	const char *swansongd, *swansongctl, *child, *ender, *floor, *folder;
	bool groups; /* the floor makes control groups, too */
	void (*edges)(FILE *config,
		      size_t i); /* NULL, or more for the section of service i, s%zu */
	void (*sections)(FILE *config,
			 void *arg); /* NULL, or all sections instead; no child runs */
	void *arg;
};

/* Finds the programs that are not given below @builddir. */
void programs_find(struct programs *programs, const char *builddir);

/*
 * Runs a daemon of @n services, @wrapper (or NULL) before it, until all are up.  Return: the
 * nanoseconds from its execution to then.
 */
uint64_t daemon_start(struct daemon *daemon, const struct programs *programs, size_t n,
		      const char *const *wrapper);

/* Runs one of @n services that end at once, for daemon_stop().  No client is connected. */
void daemon_start_loop(struct daemon *daemon, const struct programs *programs, size_t n);

/*
 * Asks for the status of all, as `swansongctl status` does.
 *
 * Return: the nanoseconds until it was there, read and checked.
 */
uint64_t daemon_status(struct daemon *daemon);

/* The same, without the time.  Return: the number of nodes. */
size_t daemon_count_nodes(struct daemon *daemon);

/* Writes the configuration anew by programs->sections, and reloads it. */
void daemon_reload(struct daemon *daemon, const struct programs *programs);

/* Closes the connection. */
void daemon_disconnect(struct daemon *daemon);

/* As subject_stop(). */
uint64_t daemon_stop(struct daemon *daemon);
