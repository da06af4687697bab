/*
 * A run of swansongctl: parse all options and arguments, in any order; check them against the rows
 * of the command and of the options; find the nodes that globs match; call the function of the
 * command.  Its result is the exit status.
 */
#include "ctl/program/program.h"

#include "ctl/program/commands.h"
#include "ctl/session/nodes.h"

struct line {
	struct options options;
	const struct option_row *given[OPTIONS_MAX]; /* each once */
	size_t n_given;
	const struct command *command; /* the default one, if none is named */
	const char *name;	       /* of it, or NULL */
	char **args;		       /* after the name; NULL-terminated */
	int n_args;
};

static const char *program_closest_option(const char *text)
{
	const char *names[OPTIONS_MAX];
	const struct option_row *rows;
	size_t n = options_table(&rows);

	if (strncmp(text, "--", 2) != 0)
		return NULL;
	for (size_t i = 0; i < n; i++)
		names[i] = rows[i].name;
	return text_closest(text + 2, names, n);
}

/* @dashes: those of an option. */
static int program_refuse_unknown(struct log *log, const char *what, const char *text,
				  const char *dashes, const char *closest)
{
	if (closest)
		log_line(log, LOG_ERR, "%s: no such %s; did you mean %s%s?", text, what, dashes,
			 closest);
	else
		log_line(log, LOG_ERR, "%s: no such %s; see swansongctl help", text, what);
	return CTL_USAGE;
}

static int program_set_option(struct line *line, struct log *log, int key)
{
	const struct option_row *row = option_find(key);
	bool again = false;

	if (row->set(optarg, (char *)&line->options + row->place) < 0) {
		log_line(log, LOG_ERR, "--%s: invalid value '%s': expected %s", row->name, optarg,
			 row->expected);
		return CTL_USAGE;
	}
	for (size_t i = 0; i < line->n_given; i++)
		again |= line->given[i] == row;
	if (!again)
		line->given[line->n_given++] = row;
	return CTL_DONE;
}

static int program_add_argument(struct line *line, struct log *log, char *arg)
{
	const char *closest;

	if (!line->name) {
		line->name = arg;
		line->command = command_find(arg, &closest);
		return line->command ? CTL_DONE
				     : program_refuse_unknown(log, "command", arg, "", closest);
	}
	line->args[line->n_args++] = arg;
	return CTL_DONE;
}

/* Options and arguments as they come, in any order; @line->args has room for all. */
static int program_parse_line(struct line *line, struct log *log, int argc, char **argv)
{
	struct option options[OPTIONS_MAX];
	int r = CTL_DONE, key;

	options_getopt(options);
	optind = 0;
	while (r == CTL_DONE &&
	       (key = getopt_long(argc, argv, "-:fg:hn:p:qs:S:U:", options, NULL)) != -1) {
		/* The remaining arguments are another program's, also if they begin with a dash. */
		if (key == 1 && line->name && line->command->flags & COMMAND_REST &&
		    line->n_args == 1) {
			optind--;
			break;
		} else if (key == 1) {
			r = program_add_argument(line, log, optarg);
		} else if (key == '?') {
			r = program_refuse_unknown(log, "option", argv[optind - 1], "--",
						   program_closest_option(argv[optind - 1]));
		} else if (key == ':') {
			log_line(log, LOG_ERR, "%s: its argument is missing", argv[optind - 1]);
			r = CTL_USAGE;
		} else {
			r = program_set_option(line, log, key);
		}
	}
	while (r == CTL_DONE && optind < argc)
		r = program_add_argument(line, log, argv[optind++]);
	return r;
}

static int program_check_line(const struct line *line, struct log *log)
{
	const struct command *c = line->command;

	for (size_t i = 0; i < line->n_given; i++) {
		if (option_is_for(line->given[i], c->name))
			continue;
		log_line(log, LOG_ERR, "--%s: not an option of %s", line->given[i]->name, c->name);
		return CTL_USAGE;
	}
	if (line->n_args < c->min_args || line->n_args > c->max_args) {
		log_line(log, LOG_ERR, "usage: swansongctl %s %s", c->name, c->args);
		return CTL_USAGE;
	}
	return CTL_DONE;
}

static int program_run_command(const struct line *line)
{
	bool waits = line->command->flags & COMMAND_WAITS && !line->options.no_wait;
	cleanup(freep) char **paths = NULL;
	char **args = line->args;
	struct ctl ctl;
	int n = line->n_args, r = CTL_DONE;

	ctl_init(&ctl, line->command->name, &line->options, waits);
	if (line->command->flags & COMMAND_NODES) {
		r = nodes_resolve(&ctl, args, (size_t)n, &paths);
		for (args = paths, n = 0; r == CTL_DONE && paths[n]; n++)
			;
	}
	if (r == CTL_DONE)
		r = line->command->run(&ctl, n, args);
	ctl_done(&ctl);
	return r;
}

int program_run(int argc, char **argv)
{
	struct line line = {};
	struct log log;
	const char *closest;
	int r;

	log_init(&log, "swansongctl", LOG_INFO);
	if (argc < 1 || fd_open_standard() < 0)
		return CTL_USAGE;
	options_init(&line.options);
	line.command = command_find("status", &closest);
	line.args = calloc((size_t)argc + 1, sizeof(*line.args));
	if (!line.args)
		return CTL_FAILED;
	r = program_parse_line(&line, &log, argc, argv);
	if (r == CTL_DONE && line.options.version)
		puts("swansongctl " PACKAGE_VERSION);
	else if (r == CTL_DONE && line.options.help)
		commands_help(stdout, line.name ? line.command : NULL);
	else if (r == CTL_DONE && (r = program_check_line(&line, &log)) == CTL_DONE)
		r = program_run_command(&line);
	free(line.args);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		log_line(&log, LOG_ERR, "cannot write: %s", strerror(errno));
		r = r == CTL_DONE ? CTL_FAILED : r;
	}
	return r;
}
