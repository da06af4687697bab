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

/* Mistakes are in @diag. */
static int load_text(const char *text, const struct config_names *names, struct diag *diag,
		     struct config **ret)
{
	char path[] = "/tmp/test-config-XXXXXX";
	const char *paths[] = { path };
	int fd = mkstemp(path), r;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)close(fd);
	r = config_load(ret, paths, 1, names, diag);
	(void)unlink(path);
	return r;
}

struct config *config_of(const char *text, const struct config_names *names)
{
	cleanup(diag_freep) struct diag *diag = NULL;
	struct config *config = NULL;
	int r;

	ck_assert_int_eq(diag_new(&diag), 0);
	r = load_text(text, names, diag, &config);
	if (r < 0)
		diag_each(diag, print_mistake, NULL);
	ck_assert_int_eq(r, 0);
	ck_assert_ptr_nonnull(config);
	return config;
}

struct config *config_of_any(const char *text, const struct config_names *names)
{
	cleanup(diag_freep) struct diag *diag = NULL;
	struct config *config = NULL;

	ck_assert_int_eq(diag_new(&diag), 0);
	(void)load_text(text, names, diag, &config);
	return config;
}
