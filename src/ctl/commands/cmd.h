#pragma once

/*
 * The commands.  @argv ends with NULL and has the arguments after the verb, as many as the table in
 * ctl/commands.c allows.  Return: an exit status (enum exit_status, or CMD's own).
 */

#include "ctl/session/session.h"

int cmd_status(struct ctl *ctl, int argc, char **argv);
int cmd_tree(struct ctl *ctl, int argc, char **argv);
int cmd_list(struct ctl *ctl, int argc, char **argv);
int cmd_top(struct ctl *ctl, int argc, char **argv);
int cmd_show(struct ctl *ctl, int argc, char **argv);
int cmd_cat(struct ctl *ctl, int argc, char **argv);
int cmd_deps(struct ctl *ctl, int argc, char **argv);
int cmd_events(struct ctl *ctl, int argc, char **argv);
int cmd_logs(struct ctl *ctl, int argc, char **argv);
int cmd_health(struct ctl *ctl, int argc, char **argv);

/* start, stop and restart */
int cmd_verb(struct ctl *ctl, int argc, char **argv);
/* enable and disable */
int cmd_enable(struct ctl *ctl, int argc, char **argv);
int cmd_wait(struct ctl *ctl, int argc, char **argv);

int cmd_reload(struct ctl *ctl, int argc, char **argv);
/* Prints the changes of a reload as a table.  Return: 0 or -errno. */
int reload_print(struct ctl *ctl, const json_t *changes);

int cmd_rollout(struct ctl *ctl, int argc, char **argv);
int cmd_signal(struct ctl *ctl, int argc, char **argv);
int cmd_run(struct ctl *ctl, int argc, char **argv);

int cmd_shutdown(struct ctl *ctl, int argc, char **argv);

int cmd_guard(struct ctl *ctl, int argc, char **argv);
int cmd_guards(struct ctl *ctl, int argc, char **argv);
int cmd_interrupt(struct ctl *ctl, int argc, char **argv);

int cmd_blame(struct ctl *ctl, int argc, char **argv);
int cmd_plot(struct ctl *ctl, int argc, char **argv);
int cmd_plan(struct ctl *ctl, int argc, char **argv);

int cmd_check(struct ctl *ctl, int argc, char **argv);
