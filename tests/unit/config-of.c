#include "config-of.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "main.h"

static void print_mistake(enum diag_level level, const char *text, void *arg)
{
	(void)level;
	(void)arg;
	fprintf(stderr, "# %s\n", text);
}

struct config *config_of(const char *text, const struct config_names *names)
{
	char path[] = "/tmp/test-config-XXXXXX";
	const char *paths[] = { path };
	cleanup(diag_freep) struct diag *diag = NULL;
	struct config *config = NULL;
	int fd = mkstemp(path), r;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)close(fd);
	ck_assert_int_eq(diag_new(&diag), 0);
	r = config_load(&config, paths, 1, names, diag);
	if (r < 0)
		diag_each(diag, print_mistake, NULL);
	(void)unlink(path);
	ck_assert_int_eq(r, 0);
	ck_assert_ptr_nonnull(config);
	return config;
}
