/*
 * Options of the command line, and settings of the C library.  The daemon itself begins in
 * daemon.c.
 */
#include <malloc.h>

#include "daemon/describe/parent.h"
#include "daemon/main/options.h"

#define EXIT_USAGE 2
#define PATHS_MAX  64

#define MEMORY_SPARE (64 * 1024)

enum long_option {
	OPTION_GRACE = 2000,
	OPTION_KEEPER,
	OPTION_LOG_FILE,
	OPTION_LOG_FORMAT,
	OPTION_LOG_LEVEL,
	OPTION_NOTIFY_READY,
	OPTION_TRUST,
};

#include <daemon/main/usage.inc>

static const struct option long_options[] = {
	COMMAND_ROWS,
	{ "config", required_argument, NULL, 'c' },
	{ "socket", required_argument, NULL, 's' },
	{ "grace", required_argument, NULL, OPTION_GRACE },
	{ "keeper", no_argument, NULL, OPTION_KEEPER },
	{ "trust-config", no_argument, NULL, OPTION_TRUST },
	{ "log-file", required_argument, NULL, OPTION_LOG_FILE },
	{ "log-format", required_argument, NULL, OPTION_LOG_FORMAT },
	{ "log-level", required_argument, NULL, OPTION_LOG_LEVEL },
	{ "notify-ready", no_argument, NULL, OPTION_NOTIFY_READY },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

/* Checks combinations of options.  Returns -1 to go on, or an exit status. */
static int check_options(const struct daemon_options *options, const char *last, bool for_command)
{
	const char *mistake = NULL;

	if (options->command && options->n_paths > 0)
		mistake = "a configuration, or a command, but not both; "
			  "for the -c of other inits use --single-child";
	/*
	 * In a script the variable with the command may be empty: nothing else may run in its
	 * place.
	 */
	else if (!options->command && strcmp(last, "--") == 0)
		mistake = "no command after --";
	else if (!options->command && for_command)
		mistake = "an option for a command, but no command";
	else if (options->command && options->keeper)
		mistake = "--keeper goes with a configuration, not with a command";
	else if (options->command && options->log_file)
		mistake = "--log-file goes with a configuration, not with a command";
	else if (options->log_file && *options->log_file != '/')
		mistake =
			"--log-file: expected an absolute path, for example /var/log/swansongd.log";
	/* Other programs that run a command have an -s without a value. */
	else if (options->command && options->socket && !strchr(options->socket, '/') &&
		 strcmp(options->socket, "none") != 0)
		mistake = "in front of a command, -s wants a path with a slash, or none";
	if (!mistake)
		return -1;
	(void)fprintf(stderr, "swansongd: %s\n", mistake);
	return EXIT_USAGE;
}

/* The number of a word of @optarg.  Return: -1, or EXIT_USAGE with a message. */
static int take_word(const char *option, int (*parse)(const char *text), const char *expected,
		     int *ret)
{
	int r = parse(optarg);

	if (r < 0)
		(void)fprintf(stderr, "swansongd: %s: invalid value '%s': expected %s\n", option,
			      optarg, expected);
	else
		*ret = r;
	return r < 0 ? EXIT_USAGE : -1;
}

struct parsing {
	struct daemon_options *options;
	const char **paths;
	int level, format; /* -1: not given */
	bool for_command;  /* an option is for a command */
};

/* --grace, or an option for a command: other modules parse their values. */
static bool parse_value(struct parsing *p, int option)
{
	struct daemon_options *options = p->options;
	const char *expected = NULL, *name = "grace";

	if (option == OPTION_GRACE) {
		if (parent_grace_parse(optarg, &options->grace_usec) < 0)
			expected = PARENT_GRACE_EXPECTED;
	} else {
		name = command_option_name(long_options, option);
		expected = command_option(&options->command_options, option, optarg);
		p->for_command = true;
	}
	if (expected)
		log_line(options->log, LOG_ERR, "--%s: invalid value '%s': expected %s", name,
			 optarg, expected);
	return !expected;
}

/* Return: -1 to go on, or an exit status. */
static int parse_option(struct parsing *p, int option, const char *last)
{
	char refusal[COMMAND_REFUSAL_MAX];

	switch (option) {
	case 'c':
		if (p->options->n_paths == PATHS_MAX) {
			(void)fprintf(
				stderr,
				"swansongd: --config: too many paths: at most %d; use a directory\n",
				PATHS_MAX);
			return EXIT_USAGE;
		}
		p->paths[p->options->n_paths++] = optarg;
		return -1;
	case 's':
		p->options->socket = optarg;
		return -1;
	case OPTION_KEEPER:
		p->options->keeper = true;
		return -1;
	case OPTION_TRUST:
		p->options->trust = true;
		return -1;
	case OPTION_NOTIFY_READY:
		p->options->notify_ready = p->for_command = true;
		return -1;
	case OPTION_LOG_FILE:
		p->options->log_file = optarg;
		return -1;
	case OPTION_LOG_FORMAT:
		return take_word("--log-format", log_parse_format, "auto, plain, time or json",
				 &p->format);
	case OPTION_LOG_LEVEL:
		return take_word("--log-level", log_parse_level,
				 "error, warning, notice, info or debug", &p->level);
	case 'q':
	case 'v':
		p->level = option == 'q' ? LOG_WARNING : LOG_DEBUG;
		return -1;
	case 'h':
		return fputs(usage, stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	case 'V':
		return puts("swansongd " PACKAGE_VERSION) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	case '?':
	case ':':
		log_line(p->options->log, LOG_ERR, "%s",
			 command_refusal(refusal, long_options, option, last));
		return EXIT_USAGE;
	default:
		return parse_value(p, option) ? -1 : EXIT_USAGE;
	}
}

/* Return: -1 to go on, or an exit status. */
static int parse_options(int argc, char **argv, struct daemon_options *options, const char **paths)
{
	struct parsing p = { .options = options, .paths = paths, .level = -1, .format = -1 };
	int option, status;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:" COMMAND_LETTERS "c:s:qvhV", long_options,
				     NULL)) >= 0) {
		status = parse_option(&p, option, argv[optind - 1]);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		options->command = argv + optind;
	/* In front of a command, success is for the command to report. */
	options->log->level = p.level >= 0 ? p.level : options->command ? LOG_WARNING : LOG_INFO;
	if (p.format >= 0 || !options->command)
		options->log->format = p.format >= 0 ? (enum log_format)p.format : LOG_AUTO;
	return check_options(options, argv[optind - 1], p.for_command);
}

int main(int argc, char **argv)
{
	const char *paths[PATHS_MAX];
	struct log log;
	/* The files of an image belong to the user that has built it. */
	struct daemon_options options = {
		.argv = argv,
		.log = &log,
		.parent = getppid(),
		.trust = getpid() == 1,
	};
	int status;

	if (fd_open_standard() < 0) {
		(void)fputs("swansongd: cannot open the standard files\n", stderr);
		return EXIT_FAILURE;
	}
	log_init(&log, "swansongd", LOG_INFO);
	command_options_init(&options.command_options);
	if (argc < 1)
		return EXIT_USAGE;
	status = parse_options(argc, argv, &options, paths);
	if (status >= 0)
		return status;
	options.paths = paths;
	if (!options.n_paths)
		options.n_paths = config_default_paths(&options.paths);
	/*
	 * Most memory lives as long as a configuration.  So small freed blocks are merged at once,
	 * for reuse, and memory at the end of the heap is returned: a reply about all services
	 * leaves nothing behind.
	 */
	(void)mallopt(M_MXFAST, 0);
	(void)mallopt(M_TRIM_THRESHOLD, MEMORY_SPARE);
	(void)mallopt(M_TOP_PAD, MEMORY_SPARE);
	return daemon_run(&options);
}
