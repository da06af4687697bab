#include "tests/fuzz/program.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macro.h"
#include "ctl/program/program.h"
#include "tests/fuzz/fuzz.h"

#define ARGS_MAX   16
#define OUTPUT_MAX 65536 /* bytes of the output that are checked */

/* Standard output, from the first run on. */
static void take_output(void)
{
	static bool taken;
	int fd;

	if (taken)
		return;
	fd = memfd_create("output", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
	(void)fd_close(fd);
	/* So that an input gives the same output on any machine. */
	(void)setenv("LC_ALL", "C.UTF-8", 1);
	(void)setenv("TERM", "xterm", 1);
	(void)setenv("TZ", "UTC", 1);
	taken = true;
}

/* Nothing in a reply or a file may move the cursor of a terminal. */
static void check_output(void)
{
	static char text[OUTPUT_MAX];
	ssize_t n = pread(STDOUT_FILENO, text, sizeof(text), 0);

	for (ssize_t i = 0; i < n; i++)
		FUZZ_CHECK((unsigned char)text[i] >= ' ' || text[i] == '\n' || text[i] == '\t');
}

int fuzz_program(char *const *argv)
{
	char *copy[ARGS_MAX] = { NULL };
	int argc = 0, status;

	take_output();
	while (argv[argc] && argc < ARGS_MAX - 1) {
		copy[argc] = argv[argc];
		argc++;
	}
	status = program_run(argc, copy);
	(void)fflush(stdout);
	check_output();
	FUZZ_CHECK(ftruncate(STDOUT_FILENO, 0) == 0);
	FUZZ_CHECK(lseek(STDOUT_FILENO, 0, SEEK_SET) == 0);
	FUZZ_CHECK(status >= 0 && status <= 255);
	return status;
}
