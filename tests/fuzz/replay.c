/*
 * A target without libFuzzer: each of its seeds is a test, which the target has to survive.  The
 * seeds are the files of the folder seeds/NAME, where the program is called fuzz-NAME, or the files
 * of the command line.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

static int tap = -1;
static int n_tests;

static void replay(const char *path)
{
	FILE *file = fopen(path, "re");
	struct stat st;
	uint8_t *data;

	FUZZ_CHECK(file && fstat(fileno(file), &st) == 0);
	/* Exactly as many bytes, so that a sanitizer sees a read beyond the end. */
	data = malloc((size_t)st.st_size);
	FUZZ_CHECK(fread(data, 1, (size_t)st.st_size, file) == (size_t)st.st_size);
	(void)fclose(file);
	(void)dprintf(tap, "# %s\n", path);
	(void)LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	free(data);
	(void)dprintf(tap, "ok %d - %s is survived\n", ++n_tests, strrchr(path, '/') + 1);
}

/* A target runs for hours: the zombies of all inputs would be more than the machine can have. */
static void check_zombies(void)
{
	siginfo_t child = { 0 };

	(void)waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT);
	FUZZ_CHECK(child.si_pid == 0);
}

static int is_seed(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay_folder(const char *name)
{
	const char *source = getenv("top_srcdir");
	cleanup(freep) char *folder = NULL;
	struct dirent **entries;
	int n;

	FUZZ_CHECK(asprintf(&folder, "%s/tests/fuzz/seeds/%s", source ? source : ".", name) > 0);
	n = scandir(folder, &entries, is_seed, alphasort);
	FUZZ_CHECK(n > 0);
	for (int i = 0; i < n; i++) {
		cleanup(freep) char *path = NULL;

		FUZZ_CHECK(asprintf(&path, "%s/%s", folder, entries[i]->d_name) > 0);
		replay(path);
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	const char *name = strstr(program_invocation_short_name, "fuzz-");

	/* A target may have a use of its own for standard output. */
	tap = dup(STDOUT_FILENO);
	if (argc > 1)
		for (int i = 1; i < argc; i++)
			replay(realpath(argv[i], NULL));
	else
		replay_folder(name + strlen("fuzz-"));
	check_zombies();
	(void)dprintf(tap, "1..%d\n", n_tests);
	return 0;
}
