#pragma once

/*
 * The configuration, read and checked.  Nothing here calls the kernel but to read the given files;
 * users and groups are resolved through the caller's functions.
 *
 * INI as swansong.ini(5) has it.  Reading never cuts a value, never guesses, and collects every
 * mistake of every file in one run.
 */

#include "model/base/diag.h"
#include "model/base/nodes.h"

/*
 * Reads @paths (each a file, or a directory whose *.ini are read in the order of their names), in
 * order, as one configuration; a section may be in one file only.  All mistakes go to @diag.
 *
 * Return: 0; -EINVAL with at least one error in @diag and nothing in *ret; -ENOMEM.
 */
int config_load(struct config **ret, const char *const *paths, size_t n_paths,
		const struct config_names *names, struct diag *diag);

/* What a command that we stand in front of may say by sd_notify(3). */
enum command_notify {
	COMMAND_NOTIFY_NONE,
	COMMAND_NOTIFY_ANY,   /* whatever it likes; it is ready when it has been started */
	COMMAND_NOTIFY_READY, /* and it says when it is ready */
};

/*
 * The configuration of `swansongd -- CMD ARGS`: the root and the essential service "main", never
 * restarted, without budgets (whoever supervises us has them).  @argv is NULL-terminated, with one
 * word at least, and is copied.  @scope: who gets its stop signal, if it is we who send one.
 * Return: 0 or -ENOMEM.
 */
int config_new_command(struct config **ret, char *const *argv, enum command_notify notify,
		       enum signal_scope scope);

/* What @node runs, as it is.  Return: 0 or -ENOMEM. */
int config_set_command(struct node_config *node, char *const *argv);
