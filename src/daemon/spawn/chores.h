#pragma once

/*
 * Work around a run that is no command of its configuration, a process for each: before the first start-command
 * the conditions are checked, the directories made and the credentials copied, and after the last post-stop the
 * directories of runtime-directory and of the credentials are removed.  Before the first reload-command, or the
 * reload-signal, the credentials are copied anew.
 */

#include "model/base/key.h"
#include "model/base/settings.h"
#include "sys/spawn/spec.h"

struct chore {
	const struct spawn_work *work;
	mode_t mode;
	enum key_id key;
	char *path[3];	  /* of a directory; or "NAME:FILE" and its directory; and NULL */
	char **condition; /* the words of the configuration; NULL: path */
};

#define CHORES_VARIABLES (N_FOLDERS + 1)

struct chores {
	struct chore *of; /* conditions, that of the credentials, runtime directories, others, credentials */
	size_t n, n_conditions, n_removed, n_credentials;
	char *variables[CHORES_VARIABLES]; /* "RUNTIME_DIRECTORY=/run/a:/run/b"; or NULL */
};

/* *ret is NULL if there are none.  Return: 0 or -ENOMEM. */
int chores_new(struct chores **ret, const struct node_config *config);
struct chores *chores_free(struct chores *chores);

/* Removes the directory of a chore. */
extern const struct spawn_work chores_removal;

/* The number of chores with the commands of @kind.  @chores may be NULL, also below. */
size_t chores_count(const struct chores *chores, enum hook_kind kind);

/*
 * Returns the chore that is step @n of a part with @commands commands, or NULL: a command.  Chores come
 * before start-commands and reload-commands, and after those of post-stop.
 */
const struct chore *chores_at(const struct chores *chores, enum hook_kind kind, size_t n,
			      size_t commands);
