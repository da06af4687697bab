#include "tests/unit/model/config/test-config.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"

static int find_user(const char *name, uid_t *uid, gid_t *gid, char **home, char **shell)
{
	bool known = strcmp(name, "redis") == 0 || strcmp(name, "100") == 0;

	if (strcmp(name, "broken") == 0)
		return -EIO;
	if (!known)
		return -ENOENT;
	*home = strdup("/var/lib/redis");
	*shell = *home ? strdup("/bin/sh") : NULL;
	if (!*shell)
		return -ENOMEM;
	*uid = 100;
	*gid = 101;
	return 0;
}

static int find_groups(const char *name, gid_t gid, char **login, gid_t **groups, size_t *n)
{
	*login = strdup("redis");
	*groups = calloc(2, sizeof(**groups));
	if (!*login || !*groups)
		return -ENOMEM;
	(*groups)[0] = gid;
	(*groups)[1] = 7;
	*n = 2;
	return 0;
}

static int find_group(const char *name, gid_t *gid)
{
	if (strcmp(name, "adm") != 0)
		return -ENOENT;
	*gid = 4;
	return 0;
}

const struct config_names names = { .user = find_user, .group = find_group, .groups = find_groups };

static void collect(enum diag_level level, struct place place, const char *text, void *arg)
{
	struct texts *texts = arg;
	int n = snprintf(texts->all + texts->used, sizeof(texts->all) - texts->used, "%s%s\n",
			 level == DIAG_WARNING ? "warning: " : "", text);

	texts->used = MIN(texts->used + (size_t)n, sizeof(texts->all) - 1);
}

int load(struct config **ret, const char *const *paths, size_t n, struct texts *texts)
{
	cleanup(diag_freep) struct diag *diag = NULL;
	int r;

	*texts = (struct texts){ .used = 0 };
	ck_assert_int_eq(diag_new(&diag), 0);
	r = config_load(ret, paths, n, &names, diag);
	diag_each(diag, collect, texts);
	ck_assert_int_eq(r == -EINVAL, diag_errors(diag) > 0);
	return r;
}

int load_text(struct config **ret, const char *text, struct texts *texts)
{
	static const char *const path = "f";

	write_file(path, text, strlen(text));
	return load(ret, &path, 1, texts);
}

struct config *good(const char *text)
{
	struct config *config = NULL;
	struct texts texts;

	ck_assert_msg(load_text(&config, text, &texts) == 0, "%s", texts.all);
	ck_assert_str_eq(texts.all, "");
	return config;
}

void bad(const char *text, const char *expected)
{
	struct config *config = NULL;
	struct texts texts;

	ck_assert_msg(load_text(&config, text, &texts) == -EINVAL, "taken: %s", text);
	ck_assert_ptr_null(config);
	ck_assert_msg(strncmp(texts.all, expected, strlen(expected)) == 0, "'%s' is not '%s'",
		      texts.all, expected);
	ck_assert_msg(strchr(texts.all, '\n') == texts.all + texts.used - 1,
		      "more than one mistake: %s", texts.all);
}

struct node_config *only(const struct config *config, const char *path)
{
	struct node_config *node = config_find(config, path);

	ck_assert_ptr_nonnull(node);
	ck_assert_str_eq(node->path, path);
	return node;
}

TCase *config_case(const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, make_directory, remove_directory);
	tcase_set_timeout(tc, 60);
	return tc;
}
