/*
 * Options of the command line, and settings of the C library.  The daemon itself begins in
 * daemon.c.
 */
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "daemon/main/options.h"
#include "daemon/describe/grace.h"
#include "model/config/config.h"

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

static const char usage[] =
	"usage: swansongd [-qv] [-c FILE|DIRECTORY]... [-s SOCKET] [OPTION]...\n"
	"       swansongd [-qv] [-s SOCKET] [OPTION]... -- COMMAND [ARGUMENT]...\n"
	"\n"
	"Runs a tree of services, or one command, and sees to it that a shutdown loses no work.\n"
	"\n"
	"  -c, --config PATH   an INI file, or a directory of *.ini; may be repeated\n"
	"                      (default " SYSCONFDIR
	"/swansong/swansong.ini and conf.d beside it)\n"
	"      --trust-config  read it even if its owner is neither root nor the user\n"
	"                      of swansongd\n"
	"  -s, --socket PATH   the control socket, or none\n"
	"      --keeper        survive SIGKILL as well: one more process, which starts swansongd\n"
	"                      again and keeps its services running meanwhile\n"
	"      --grace TIME    time from the stop signal to SIGKILL by the parent manager\n"
	"                      (default $SWANSONG_GRACE, or for ever)\n"
	"  -q, --quiet         log warnings and errors only: --log-level warning\n"
	"  -v, --verbose       log every change of state: --log-level debug\n"
	"      --log-level LEVEL    error, warning, notice, info or debug\n"
	"      --log-format FORMAT  plain, time, json, or auto (default): the time, but not in the\n"
	"                           journal and on a terminal\n"
	"      --log-file FILE      log there, with the rotation of the section [swansong]\n"
	"\n"
	"and in front of a command:\n"
	"      --signal-scope SCOPE        signals go to the command's group (the default), to main,\n"
	"                                  or to all; -g is group, --single-child is main\n"
	"  -r, --rewrite FROM:TO           pass the signal FROM on as TO; 0: not at all\n"
	"  -e, --success-status STATUS     exit with 0 if the command exits with STATUS\n"
	"  -p, --parent-death-signal SIG   to swansongd when its parent ends, to the command when\n"
	"                                  swansongd does\n"
	"      --leftover-timeout TIME     time for processes that outlive the command (5s)\n"
	"  -w                              log each process that is reaped\n"
	"      --notify-ready              the command reports readiness by sd_notify(3)\n"
	"\n"
	"  -h, --help          show this\n"
	"  -V, --version       show the version\n"
	"\n"
	"See swansongd(8) and swansong.ini(5).\n";

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
	const char *expected, *name = "grace";

	if (option == OPTION_GRACE) {
		expected = grace_parse(optarg, &options->grace_usec) < 0 ? GRACE_EXPECTED : NULL;
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
