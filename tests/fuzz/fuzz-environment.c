/*
 * A file of variables: each variable that a service gets from it is NAME=VALUE, and each name is
 * there once.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/config/config.h"

static void check_variables(char *const *variables)
{
	for (char *const *v = variables; v && *v; v++) {
		const char *equals = strchr(*v, '=');

		FUZZ_CHECK(equals && equals > *v);
		for (char *const *w = variables; w < v; w++)
			FUZZ_CHECK(strncmp(*w, *v, (size_t)(equals - *v) + 1) != 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct config_names names = { .user = NULL };
	static struct fuzz_file ini = FUZZ_FILE, file = FUZZ_FILE;
	const char *paths[] = { ini.path };
	cleanup(config_unrefp) struct config *config = NULL;
	cleanup(diag_freep) struct diag *diag = NULL;
	char text[256];
	int r;

	fuzz_file_set(&file, data, size);
	(void)snprintf(text, sizeof(text),
		       "[swansong]\nenvironment-file = %s\n[a@b]\ncommand = true\n"
		       "environment = A=1\nenvironment-file = %s\n",
		       file.path, file.path);
	fuzz_file_set(&ini, text, strlen(text));
	FUZZ_CHECK(diag_new(&diag) == 0);
	r = config_load(&config, paths, 1, &names, diag);
	FUZZ_CHECK(r == 0 || r == -EINVAL);
	if (r == 0)
		check_variables(config_find(config, "a@b")->environment);
	return 0;
}
