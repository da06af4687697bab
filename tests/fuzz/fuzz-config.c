/*
 * A configuration file, read whole.  A configuration that is accepted equals itself, each of its
 * values can be printed, and its shutdown has a forecast.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/config/config.h"
#include "model/forecast/forecast.h"
#include "tests/unit/fixtures/node-equal.h"

/* A forecast of very many nodes is slow, and this target does not look for that. */
#define FORECAST_NODES_MAX 200

static int any_user(const char *name, uid_t *uid, gid_t *gid, char **home, char **shell)
{
	*uid = (uid_t)strlen(name);
	*gid = 1;
	*home = strdup("/");
	*shell = strdup("/bin/sh");
	return 0;
}

static int any_group(const char *name, gid_t *gid)
{
	*gid = (gid_t)strlen(name);
	return 0;
}

static void ignore(enum diag_level level, struct place place, const char *text, void *arg)
{
	(void)level;
	(void)text;
	(void)arg;
}

static void print_all(const struct config *config)
{
	FILE *null = fopen("/dev/null", "we");
	struct key_set set;

	FUZZ_CHECK(null);
	FUZZ_CHECK(config_diff(config, config, &set) == 0);
	for (size_t i = 0; i < config->n_nodes; i++) {
		FUZZ_CHECK(node_config_equal(config->nodes[i], config->nodes[i]));
		for (enum key_id key = 0; key < N_KEYS; key++)
			if (keys[key].scope != SCOPE_TEMPLATE)
				key_print(null, config, config->nodes[i], key);
	}
	(void)fclose(null);
}

static void forecast(const struct config *config)
{
	cleanup(forecast_freep) struct forecast *forecast = NULL;
	struct forecast_tree tree;

	FUZZ_CHECK(forecast_tree_init(&tree, config) == 0);
	FUZZ_CHECK(forecast_new(&forecast, &tree, 0) == 0);
	for (size_t i = 0; i < forecast->n_rows; i++)
		FUZZ_CHECK(forecast->rows[i].index < tree.n_nodes);
	forecast_tree_done(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct config_names names = { .user = any_user, .group = any_group };
	static struct fuzz_file file = FUZZ_FILE;
	const char *paths[] = { file.path };
	cleanup(config_unrefp) struct config *config = NULL;
	cleanup(diag_freep) struct diag *diag = NULL;
	int r;

	fuzz_file_set(&file, data, size);
	FUZZ_CHECK(diag_new(&diag) == 0);
	r = config_load(&config, paths, 1, &names, diag);
	diag_each(diag, ignore, NULL);
	FUZZ_CHECK(r == 0 || r == -EINVAL);
	FUZZ_CHECK((r == 0) == (diag_errors(diag) == 0));
	if (r < 0)
		return 0;
	print_all(config);
	if (config->n_nodes <= FORECAST_NODES_MAX)
		forecast(config);
	return 0;
}
