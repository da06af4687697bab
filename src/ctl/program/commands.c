/*
 * A row of the table has the limits on the number of arguments, flags, and the function of the command.  It is
 * checked before the function is called.
 */
#include "ctl/program/commands.h"

#include "ctl/commands/cmd.h"
#include "ctl/history/history.h"

static int commands_cmd_help(struct ctl *ctl, int argc, char **argv);

/* Short names, so that a row fits a line. */
enum { ANY = ARGS_ANY, WAITS = COMMAND_WAITS, REST = COMMAND_REST, NODES = COMMAND_NODES };

/* clang-format off */
static const struct command table[] = {
	{ "status", "[NODE...]", "show all nodes, or all details of some", 0, ANY, 0, cmd_status },
	{ "tree", "[NODE...]", "show the tree of nodes", 0, ANY, NODES, cmd_tree },
	{ "list", "[NODE...]", "print the names of the nodes, for scripts", 0, ANY, NODES, cmd_list },
	{ "top", "[NODE]", "show the processor time and memory of nodes", 0, 1, WAITS | NODES, cmd_top },
	{ "show", "NODE...", "show the settings of nodes, and where they are from", 1, ANY, NODES, cmd_show },
	{ "cat", "NODE...", "show the sections of nodes as they are in the files", 1, ANY, NODES, cmd_cat },
	{ "deps", "NODE...", "show the dependencies of nodes, as a tree", 1, ANY, NODES, cmd_deps },
	{ "events", "[NODE]", "show every change of state as it happens", 0, 1, WAITS | NODES, cmd_events },
	{ "logs", "[NODE...]", "show the last lines of services, or reopen their log files", 0, ANY, NODES, cmd_logs },
	{ "health", "[NODE...]", "report whether all enabled services are up and healthy", 0, ANY, NODES, cmd_health },
	{ "start", "NODE...", "start nodes, and wait until they are ready", 1, ANY, WAITS | NODES, cmd_verb },
	{ "stop", "NODE...", "stop nodes, and wait until they are complete", 1, ANY, WAITS | NODES, cmd_verb },
	{ "restart", "NODE...", "stop and start nodes, and wait until they are ready", 1, ANY, WAITS | NODES, cmd_verb },
	{ "enable", "NODE...", "let a disabled service start by itself again", 1, ANY, WAITS | NODES, cmd_enable },
	{ "disable", "NODE...", "keep a service from starting by itself, across restarts",
	  1, ANY, WAITS | NODES, cmd_enable },
	{ "scale", "TEMPLATE N", "set the number of instances of a template, across restarts", 2, 2, 0, cmd_scale },
	{ "shutdown", "[NODE...]", "shut the root or a node down, and show the guards that delay it",
	  0, ANY, WAITS | NODES, cmd_shutdown },
	{ "wait", "[NODE...]", "wait until nodes are in a state", 0, ANY, WAITS | NODES, cmd_wait },
	{ "guard", "NODE -- CMD...", "hold a guard on a node while CMD runs", 2, ANY, REST, cmd_guard },
	{ "guards", "[NODE...]", "show the guards that a shutdown would wait for", 0, ANY, NODES, cmd_guards },
	{ "blame", "[NODE...]", "show the time each node took in the last shutdown; needs no daemon",
	  0, ANY, 0, cmd_blame },
	{ "plot", "", "draw the last shutdown as SVG; needs no daemon", 0, 0, 0, cmd_plot },
	{ "history", "[NODE...]", "show how often nodes ended, how long it took, and why", 0, ANY, 0, cmd_history },
	{ "availability", "[NODE...]", "show how long services were ready, and why they were not", 0, ANY, 0, cmd_availability },
	{ "advise", "[NODE...]", "show timeouts that past ends contradict, as lines to paste", 0, ANY, 0, cmd_advise },
	{ "interrupt", "NODE -- CMD...", "show CMD's output up to the stop of a node, in whole lines",
	  2, ANY, REST, cmd_interrupt },
	{ "plan", "[NODE]", "show the order of a shutdown, and how long it takes at worst", 0, 1, 0, cmd_plan },
	{ "rehearse", "[NODE]", "restart services in the order of the stop, and name what was found",
	  0, 1, 0, cmd_rehearse },
	{ "security", "[NODE]", "rate what services could do, and name the keys that help most", 0, 1, 0, cmd_security },
	{ "check", "[FILE...]", "check configuration files or folders; needs no daemon", 0, ANY, 0, cmd_check },
	{ "reload", "[NODE...]", "read the configuration again, or ask services to do so", 0, ANY, 0, cmd_reload },
	{ "upgrade", "", "replace the program of the daemon, and stop nothing", 0, 0, WAITS, cmd_upgrade },
	{ "rollout", "[NODE...]", "restart services one after another, with the files read again",
	  0, ANY, WAITS, cmd_rollout },
	{ "confirm", "", "keep the settings of reload --confirm", 0, 0, 0, cmd_confirm },
	{ "changes", "", "show the last configurations, for reload --to", 0, 0, 0, cmd_changes },
	{ "signal", "SIG NODE...", "send a signal to services", 2, ANY, 0, cmd_signal },
	{ "run", "NODE -- CMD...", "run CMD as a service that no file has", 2, ANY, REST | WAITS, cmd_run },
	{ "support-dump", "[FILE]", "collect facts for the report of a problem; sends nothing",
	  0, 1, 0, cmd_support_dump },
	{ "help", "[COMMAND]", "show the commands and options", 0, 1, 0, commands_cmd_help },
};
/* clang-format on */

const struct command *command_find(const char *name, const char **ret_closest)
{
	const char *all[ARRAY_SIZE(table)];

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (strcmp(name, table[i].name) == 0)
			return &table[i];
		all[i] = table[i].name;
	}
	*ret_closest = text_closest(name, all, ARRAY_SIZE(all));
	return NULL;
}

static void commands_print_option(FILE *file, const struct option_row *row, const char *verb)
{
	char left[40];

	(void)snprintf(left, sizeof(left), "%s%c%s--%s%s%s", row->letter ? "-" : "",
		       row->letter ? row->letter : ' ', row->letter ? ", " : "   ", row->name,
		       row->argument ? " " : "", row->argument ? row->argument : "");
	fprintf(file, "  %-24s %s", left, row->help);
	if (row->verbs && !verb)
		fprintf(file, " (%.*s)", (int)strlen(row->verbs) - 2, row->verbs + 1);
	fputc('\n', file);
}

/* The commands of an option are listed where all options are. */
static void commands_print_options(FILE *file, const char *verb)
{
	const struct option_row *rows;
	size_t n = options_table(&rows);

	for (size_t i = 0; i < n; i++)
		if (!verb || option_is_for(&rows[i], verb))
			commands_print_option(file, &rows[i], verb);
}

void commands_help(FILE *file, const struct command *command)
{
	if (command) {
		fprintf(file, "usage: swansongctl [OPTION...] %s%s%s\n\n%s\n\noptions:\n",
			command->name, *command->args ? " " : "", command->args, command->help);
		commands_print_options(file, command->name);
		return;
	}
	fputs("usage: swansongctl [OPTION...] [COMMAND [ARGUMENT...]]\n\ncommands:\n", file);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		fprintf(file, "  %-12s %-14s %s\n", table[i].name, table[i].args, table[i].help);
	fputs("\nNODE is a path (web/nginx), / for the root, or a glob ('web/*').\n\noptions:\n",
	      file);
	commands_print_options(file, NULL);
}

/* The names of the options that belong to @verb alone, or to all if it is NULL. */
static json_t *commands_options_json(const char *verb)
{
	json_t *names = json_array();
	const struct option_row *rows;
	size_t n = options_table(&rows);

	for (size_t i = 0; i < n; i++)
		if (verb ? rows[i].verbs && option_is_for(&rows[i], verb) : !rows[i].verbs)
			json_array_append_new(names, json_string(rows[i].name));
	return names;
}

/* {"commands": [{"name", "args", "help", "options"}], "options": [...]}; NULL without memory. */
static json_t *commands_json(void)
{
	json_t *commands = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		json_array_append_new(commands,
				      json_pack("{s:s, s:s, s:s, s:o}", "name", table[i].name,
						"args", table[i].args, "help", table[i].help,
						"options", commands_options_json(table[i].name)));
	return json_pack("{s:o, s:o}", "commands", commands, "options",
			 commands_options_json(NULL));
}

static int commands_cmd_help(struct ctl *ctl, int argc, char **argv)
{
	cleanup(json_decrefp) json_t *all = ctl->options.json ? commands_json() : NULL;
	const char *closest;
	const struct command *command = argc ? command_find(argv[0], &closest) : NULL;

	if (ctl->options.json)
		return ctl_print_json(ctl, all);
	if (argc && !command)
		return ctl_refuse(ctl, CTL_USAGE, "%s: no such command; see swansongctl help",
				  argv[0]);
	if (!ctl->options.quiet)
		commands_help(ctl->out.file, command);
	/* For completions: names only. */
	for (size_t i = 0; ctl->options.quiet && i < ARRAY_SIZE(table); i++)
		fprintf(ctl->out.file, "%s\n", table[i].name);
	return CTL_DONE;
}
