/*
 * report-self: writes down the attributes of its process, then waits for a signal.
 *
 * usage: report-self FILE [WORD...]
 *
 * FILE appears whole.  It has a line each:
 *   fds 0 1 2                     the open descriptors
 *   SigBlk: 0000000000000000      from /proc/self/status: SigBlk SigIgn Uid Gid Groups Umask
 *   session own, group own        or "inherited"
 *   cwd /
 *   args 2 10000                  how many WORDs, and how many bytes they have together
 *   env NAME=VALUE                for each variable
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static void report_descriptors(FILE *out)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;

	fprintf(out, "fds");
	while (dir && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && fd != dirfd(dir) && fd != fileno(out))
			fprintf(out, " %d", fd);
	}
	fprintf(out, "\n");
	if (dir)
		(void)closedir(dir);
}

static void report_status(FILE *out)
{
	static const char *const keys[] = { "SigBlk:", "SigIgn:", "Uid:",
					    "Gid:",    "Groups:", "Umask:" };
	FILE *in = fopen("/proc/self/status", "re");
	char line[4096];

	while (in && fgets(line, sizeof(line), in)) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
			if (strncmp(line, keys[i], strlen(keys[i])) == 0)
				fputs(line, out);
		}
	}
	if (in)
		(void)fclose(in);
}

static void report_rest(FILE *out, char **words)
{
	char cwd[4096];
	size_t n, bytes = 0;

	fprintf(out, "session %s, group %s\n", getsid(0) == getpid() ? "own" : "inherited",
		getpgrp() == getpid() ? "own" : "inherited");
	fprintf(out, "cwd %s\n", getcwd(cwd, sizeof(cwd)) ? cwd : "?");
	for (n = 0; words[n]; n++)
		bytes += strlen(words[n]);
	fprintf(out, "args %zu %zu\n", n, bytes);
	for (char **e = environ; *e; e++)
		fprintf(out, "env %s\n", *e);
}

int main(int argc, char **argv)
{
	char path[4096];
	FILE *out;

	if (argc < 2)
		return EXIT_FAILURE;
	(void)snprintf(path, sizeof(path), "%s.new", argv[1]);
	out = fopen(path, "we");
	if (!out) {
		perror(path);
		return EXIT_FAILURE;
	}
	report_descriptors(out);
	report_status(out);
	report_rest(out, argv + 2);
	if (fclose(out) != 0 || rename(path, argv[1]) < 0) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	return pause();
}
