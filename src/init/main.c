/*
 * The options of swansong-init and the variables of tini and dumb-init that it understands; the
 * rest is init_run().  Only the C library is linked.
 */

#include "init/init.h"

#define NAME "swansong-init"

#include <init/usage.inc>

static const struct option long_options[] = {
	COMMAND_ROWS,
	{ "subreaper", no_argument, NULL, 's' },
	{ "pause", no_argument, NULL, 'P' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

/* @last is the argument before optind.  Return: -1 to continue, or an exit status. */
static int parse_option(struct init_options *options, int option, const char *last)
{
	char refusal[COMMAND_REFUSAL_MAX];
	const char *expected;

	switch (option) {
	case 's':
		return -1;
	case 'P':
		options->pause = true;
		return -1;
	case 'v':
		options->log->level = options->log->level < LOG_INFO ? LOG_INFO : LOG_DEBUG;
		return -1;
	case 'h':
		return fputs(usage, stdout) < 0 ? INIT_EXIT_FAULT : EXIT_SUCCESS;
	case 'V':
		return puts(NAME " " PACKAGE_VERSION) < 0 ? INIT_EXIT_FAULT : EXIT_SUCCESS;
	case '?':
	case ':':
		log_line(options->log, LOG_ERR, "%s",
			 command_refusal(refusal, long_options, option, last));
		return INIT_EXIT_FAULT;
	}
	expected =
		command_option(&options->command, option == 'c' ? COMMAND_SINGLE : option, optarg);
	if (!expected)
		return -1;
	log_line(options->log, LOG_ERR, "--%s: invalid value '%s': expected %s",
		 command_option_name(long_options, option), optarg, expected);
	return INIT_EXIT_FAULT;
}

static int parse_options(struct init_options *options, int argc, char **argv)
{
	int option, status = -1;

	opterr = 0;
	/* In most cases there is no option, and getopt_long() would load 64 KiB of glibc into memory. */
	if (argv[1] && strcmp(argv[1], "--") == 0)
		optind = 2;
	else
		while (status < 0 &&
		       (option = getopt_long(argc, argv, "+:" COMMAND_LETTERS "csvPhV",
					     long_options, NULL)) >= 0)
			status = parse_option(options, option, argv[optind - 1]);
	if (status < 0 && !argv[optind] != options->pause) {
		(void)fputs(usage, stderr);
		status = INIT_EXIT_FAULT;
	}
	options->argv = argv + optind;
	return status;
}

/* As in tini: from 0, errors, to 3, each signal; -v counts from there. */
static void take_verbosity(struct log *log)
{
	static const int levels[] = { LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
	const char *text = getenv("TINI_VERBOSITY");
	uint64_t verbosity;

	if (!text)
		return;
	if (parse_uint(text, UINT64_MAX, &verbosity) < 0) {
		log_line(log, LOG_WARNING,
			 "TINI_VERBOSITY ignored: invalid value '%s': expected a number", text);
		return;
	}
	log->level = levels[MIN(verbosity, ARRAY_SIZE(levels) - 1)];
}

int main(int argc, char **argv)
{
	pid_t parent = getppid();
	struct signals signals;
	struct log log;
	struct init_options options = { .signals = &signals, .log = &log };
	const char *debug;
	int status;

	signals_hold(&signals);
	/* Descriptors of init never get the numbers 0, 1 and 2. */
	(void)fd_open_standard();
	log_init(&log, NAME, LOG_WARNING);
	take_verbosity(&log);
	command_options_init(&options.command);
	debug = getenv("DUMB_INIT_DEBUG");
	if (debug && strcmp(debug, "1") == 0)
		options.log->level = LOG_DEBUG;
	if (argc < 1)
		return INIT_EXIT_FAULT;
	status = parse_options(&options, argc, argv);
	if (status >= 0)
		return status;
	command_watch_parent(&options.command, parent);
	return init_run(&options);
}
