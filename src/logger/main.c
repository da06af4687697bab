#include "logger/loop/logger.h"

#define NAME "swansong-logger"

/* swansongd starts it, and passes the descriptors. */
static const char usage[] = "usage: " NAME " CONTROL STORE\n"
			    "\n"
			    "Writes the logs of services.  It is started by swansongd(8).\n";

int main(int argc, char **argv)
{
	uint64_t control, store;
	int r;

	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return puts(NAME " " PACKAGE_VERSION) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	if (argc != 3 || parse_uint(argv[1], 1 << 20, &control) < 0 ||
	    parse_uint(argv[2], 1 << 20, &store) < 0) {
		(void)fputs(usage, stderr);
		return EXIT_FAILURE;
	}
	(void)fd_open_standard();
	/* The daemon has executed a descriptor, so the process has no name yet, and the descriptor is still open. */
	(void)prctl(PR_SET_NAME, NAME);
	fd_close_above((int)MAX(control, store));
	r = logger_run((int)control, (int)store);
	if (r < 0)
		(void)fprintf(stderr, NAME ": %s\n", strerror(-r));
	_exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
