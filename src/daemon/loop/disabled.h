#pragma once

/*
 * The services that a client has disabled: they do not start by themselves, whatever their sections
 * have.  And the numbers of instances that a client has given templates, in place of that of the files.
 * Both outlive the daemon in the state file, and a node without a section keeps its own.
 */

#include "base/log.h"
#include "base/std.h"

struct roster;

struct disabled {
	char **names; /* sorted by strcmp(); or "TEMPLATE NUMBER" */
	size_t n;
};

struct disabled_copy {
	int fd;
	unsigned place; /* of its row in the roster */
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

/* Keeps a copy in memory for the next image of the daemon, in @roster, which may be NULL. */
void disabled_enter(const struct disabled *disabled, struct roster *roster,
		    struct disabled_copy *copy);

/* Reads the copy that the former image has kept.  Return: 0; -ENOENT: there is none; or likewise. */
int disabled_take(struct disabled *disabled, struct roster *roster);

/* Renames @path, which is not a state file, to @path.bad, and logs that. */
void disabled_keep_aside(const char *path, struct log *log);

/* Replaces the state file @path by one rename, and waits for the disk.  Return: 0 or -errno. */
int disabled_write(const struct disabled *disabled, const char *path);

bool disabled_has(const struct disabled *disabled, const char *name);

/* Sets the number of instances of @template; NULL: that of the files.  Return: 0 or -ENOMEM. */
int disabled_scale(struct disabled *disabled, const char *template, const uint64_t *number);

/* Returns true if there is a number of instances of a template that begins with @prefix. */
bool disabled_has_scaled(const struct disabled *disabled, const char *prefix);

/* Adds the name, or removes it.  Return: 0 or -ENOMEM. */
int disabled_set(struct disabled *disabled, const char *name, bool value);
