#pragma once

/*
 * Reads and checks a configuration.  The kernel is called only to read the given files; the
 * caller's functions find users and groups.
 *
 * The format is INI, by swansong.ini(5).  Reading never truncates a value, never guesses, and
 * collects every error of every file in one run.
 */

#include "model/base/nodes.h"

/*
 * Reads @paths in order as one configuration: files, or directories, see source_each().  A section may be in one file, and in its drop-ins (source_each_dropin()),
 * which override that file and the files after it.  All errors go to @diag.
 *
 * Return: 0; -EINVAL with at least one error in @diag and nothing in *ret; -ENOMEM.
 */
int config_load(struct config **ret, const char *const *paths, size_t n_paths,
		const struct config_names *names, struct diag *diag);

/* The paths without any on a command line: that of the file, and conf.d beside it.  Returns their number. */
size_t config_default_paths(const char *const **ret);

/* The use of sd_notify(3) by a command of `swansongd -- CMD ARGS`. */
enum command_notify {
	COMMAND_NOTIFY_NONE,
	COMMAND_NOTIFY_ANY,   /* any message; it is ready when it has been started */
	COMMAND_NOTIFY_READY, /* any message; it is ready by READY=1 */
};

/*
 * The configuration of `swansongd -- CMD ARGS`: the root and the essential service "main", never
 * restarted, without budgets, which the parent manager has.  @argv is NULL-terminated, has at least
 * one word, and is copied.  @scope: the processes that get the stop signal, if the daemon sends it.
 *
 * Return: 0 or -ENOMEM.
 */
int config_new_command(struct config **ret, char *const *argv, enum command_notify notify,
		       enum signal_scope scope);

/* Sets the command of @node, without substitution.  Return: 0 or -ENOMEM. */
int config_set_command(struct node_config *node, char *const *argv);
