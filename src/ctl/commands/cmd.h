#pragma once

/*
 * The commands.  @argv ends with NULL and has the arguments after the verb, as many as the table in
 * ctl/program/commands.c allows.  Return: an exit status (enum exit_status, or CMD's own).
 */

#include "ctl/session/nodes.h"
#include "ctl/terminal/show.h"
#include "proto/history/report.h"

/* cmd_verb: start, stop and restart; cmd_enable: enable and disable. */
typedef int command_function(struct ctl *ctl, int argc, char **argv);
command_function cmd_status, cmd_tree, cmd_list, cmd_top, cmd_show, cmd_cat, cmd_deps, cmd_events,
	cmd_logs, cmd_health, cmd_wait, cmd_reload, cmd_upgrade, cmd_rollout, cmd_confirm, cmd_changes, cmd_signal, cmd_run,
	cmd_shutdown, cmd_guard, cmd_guards, cmd_interrupt, cmd_blame, cmd_plot, cmd_plan,
	cmd_check, cmd_verb, cmd_enable, cmd_scale, cmd_support_dump, cmd_rehearse,
	cmd_security;

/* Prints the changes of a reload as a table.  Return: an exit status. */
int reload_print(struct ctl *ctl, const json_t *changes);

/* Prints a line about the Rollout, unless it is NULL or was successful. */
void rollout_print(struct ctl *ctl, const json_t *rollout);

/* The report of a past shutdown (swansong-report(5)), which has been checked. */
struct past {
	const char *path;
	json_t *root; /* which the next member borrows from */
	struct report report;
};

/*
 * Reads the file of --report, or the one in the default place, and shows it by @show, or prints it
 * with --json.  Return: the exit status.
 */
int blame_run(struct ctl *ctl, int argc, char **argv,
	      int (*show)(struct ctl *ctl, const struct past *past, int argc, char **argv));
