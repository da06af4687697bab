#include "stated-tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "daemon/order.h"
#include "daemon/reload.h"
#include "daemon/service-exit.h"
#include "daemon/shutdown.h"

const struct stated three[] = {
	{ .path = "db" },
	{ .path = "web", .requires = "db" },
	{ .path = "log", .after = "web" },
	{ .path = NULL },
};

static struct node_config **one(const struct config *config, const char *path)
{
	struct node_config **list;

	if (!path)
		return NULL;
	list = calloc(2, sizeof(*list));
	list[0] = config_find(config, path);
	ck_assert_ptr_nonnull(list[0]);
	return list;
}

static struct config *make_config(const struct stated *sections)
{
	struct config *config;

	ck_assert_int_eq(config_new(&config), 0);
	for (; sections->path; sections++) {
		struct node_config *node;
		struct stated_edges *edges;
		struct place place = { .file = NULL };

		ck_assert_int_eq(config_add_node(config, sections->path, place, &node), 0);
		ck_assert_int_eq(parse_words("true", &node->argv), 1);
		node->command = strdup("true");
		edges = node_config_own_edges(node);
		edges->nodes[EDGE_REQUIRES] = one(config, sections->requires);
		edges->nodes[EDGE_AFTER] = one(config, sections->after);
		edges->nodes[EDGE_WANTS] = one(config, sections->wants);
		edges->nodes[EDGE_TERM_AFTER] = one(config, sections->term_after);
		node->essential = sections->essential;
	}
	return config;
}

void setup_tree(const struct stated *sections)
{
	begin_with(make_config(sections));
}

static void setup(void)
{
	setup_tree(three);
}

void teardown(void)
{
	check_counts();
	finish();
}

void reload(const struct stated *sections)
{
	struct config *config = make_config(sections);

	ck_assert_int_eq(reload_apply(&tree, config), 0);
	config_unref(config);
}

void turn(void)
{
	order_release(&ctx);
	(void)shutdown_follow(&tree);
	check_counts();
}

void run(const char *path)
{
	run_service(service(path));
}

void run_all(void)
{
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		if (n->service)
			run(n->config->path);
}

void end(const char *path)
{
	struct service *s = service(path);

	service_handle(s, EVENT_DONE);
	process_remove(&s->main);
	turn();
}

TCase *stated_case(const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, setup, teardown);
	return tc;
}
