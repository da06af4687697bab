#pragma once

/*
 * The services that a client has disabled: they do not start by themselves, whatever their sections
 * have.  The names outlive the daemon in the state file, and a service without a section keeps its.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"

struct disabled {
	char **names; /* sorted by strcmp() */
	size_t n;
};

void disabled_done(struct disabled *disabled);

/*
 * Reads the state file @path into @disabled, which is empty.  NULL, "none" and a missing file: no
 * service is disabled.  Mistakes go to @log unless it is NULL.
 *
 * Return: 0; -EBADMSG if it is not a state file; or -errno if it cannot be read.  @disabled is empty
 * then.
 */
int disabled_read(struct disabled *disabled, const char *path, struct log *log);

/* Renames @path, which is not a state file, to @path.bad, and logs that. */
void disabled_keep_aside(const char *path, struct log *log);

/* Replaces the state file @path by one rename, and waits for the disk.  Return: 0 or -errno. */
int disabled_write(const struct disabled *disabled, const char *path);

bool disabled_has(const struct disabled *disabled, const char *name);

/* Adds the name, or removes it.  Return: 0 or -ENOMEM. */
int disabled_set(struct disabled *disabled, const char *name, bool value);
