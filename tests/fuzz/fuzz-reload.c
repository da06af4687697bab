/*
 * Two configurations, each a file and a drop-in, which lines "%%" separate.  The tree of the first one
 * that is reloaded with the second one, and with the first one again, has the same settings, edges
 * and services as before at once, and exactly its nodes when all processes that were asked to end have ended.  In between
 * it has those of a tree that begins with the second one.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/text.h"
#include "daemon/describe/describe.h"
#include "daemon/describe/describe.h"
#include "proto/config/settings.h"
#include "tests/fuzz/world.h"

#define PARTS	   4
#define NODES_MAX  200 /* more are slow, and find nothing else */
#define ROUNDS_MAX 100

struct files {
	char main[64], folder[64], dropin[96];
	char *parts[PARTS]; /* main file and drop-in of either configuration */
};

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	(void)fd_close(fd);
}

static void name_files(struct files *files)
{
	int pid = (int)getpid();

	(void)snprintf(files->main, sizeof(files->main), "fuzz-%d.ini", pid);
	(void)snprintf(files->folder, sizeof(files->folder), "fuzz-%d.d", pid);
	(void)snprintf(files->dropin, sizeof(files->dropin), "%s/a.ini", files->folder);
}

static void split(struct files *files, char *text)
{
	static char nothing[] = "";

	for (int i = 0; i < PARTS; i++) {
		char *end = strstr(text, "\n%%\n");

		files->parts[i] = text;
		text = nothing;
		if (end) {
			end[1] = '\0';
			text = end + 4;
		}
	}
}

static void use_files(const struct files *files, int second)
{
	const char *dropin = files->parts[2 * second + 1];

	write_file(files->main, files->parts[2 * second]);
	(void)unlink(files->dropin);
	if (*dropin)
		write_file(files->dropin, dropin);
}

static bool is_of_config(const struct world *world, const char *path)
{
	return !*path || config_find(world->tree.config, path);
}

/* The members of a node that depend on no process and no time. */
static json_t *node_json(const struct world *world, struct node *node)
{
	static const char *const kept[] = { "command", "schedule", "logs", "disabled" };
	json_t *described = describe_node(node), *service = json_object_get(described, "service");
	json_t *result = json_object();

	FUZZ_CHECK(described && result);
	/* A group that was a service has that until its process has ended. */
	for (size_t i = 0; node->config->argv && i < ARRAY_SIZE(kept); i++)
		if (json_object_get(service, kept[i]))
			(void)json_object_set(result, kept[i], json_object_get(service, kept[i]));
	(void)json_object_set_new(result, "settings",
				  settings_json(world->tree.config, node->config, false, true));
	json_decref(described);
	return result;
}

/* The edges of nodes with a section. */
static json_t *edges_json(const struct world *world)
{
	json_t *reply = describe_dependencies(&world->tree, world->tree.root),
	       *edges = json_object(), *edge;
	size_t i;

	json_array_foreach (json_object_get(reply, "dependencies"), i, edge) {
		char *text = json_dumps(edge, JSON_SORT_KEYS | JSON_COMPACT);
		const char *from = json_string_value(json_object_get(edge, "from"));

		if (is_of_config(world, from))
			(void)json_object_set_new(edges, text, json_true());
		free(text);
	}
	json_decref(reply);
	return edges;
}

static char *show(const struct world *world)
{
	json_t *nodes = json_object(), *all;
	char *text;

	for (struct node *n = world->tree.root; n; n = node_next(n, world->tree.root))
		if (is_of_config(world, n->config->path))
			(void)json_object_set_new(nodes, n->config->path, node_json(world, n));
	all = json_pack("{s:o, s:o}", "nodes", nodes, "edges", edges_json(world));
	text = json_dumps(all, JSON_SORT_KEYS | JSON_INDENT(1));
	FUZZ_CHECK(text);
	json_decref(all);
	return text;
}

static int reload_now(struct world *world)
{
	cleanup(freep) char *reason = NULL;
	json_t *changes = NULL;
	struct memstream m;
	int r;

	FUZZ_CHECK(memstream_open(&m) == 0);
	r = reload_run(&world->reload, &(struct reload_how){ .config = NULL }, m.file, &changes);
	FUZZ_CHECK(memstream_close(&m, &reason) == 0);
	json_decref(changes);
	world_run(world);
	return r;
}

/* Returns true if a node or a service that the configuration has not still ends. */
static bool has_others(const struct world *world)
{
	for (struct node *n = world->tree.root; n; n = node_next(n, world->tree.root))
		if (!is_of_config(world, n->config->path) || (n->service && !n->config->argv))
			return true;
	return false;
}

static void check_same(const struct world *world, const char *before)
{
	cleanup(freep) char *now = show(world);

	if (strcmp(before, now) != 0)
		(void)fprintf(stderr, "before: %s\nnow: %s\n", before, now);
	FUZZ_CHECK(strcmp(before, now) == 0);
}

/* Returns the tree with the second configuration as text; NULL: it is refused, or ends the tree. */
static char *go_and_come_back(struct world *world, const struct files *files)
{
	cleanup(freep) char *before = show(world), *second = NULL;

	use_files(files, 1);
	if (reload_now(world) < 0)
		check_same(world, before);
	else if (!node_is_stopped(world->tree.root))
		second = show(world);
	use_files(files, 0);
	/* A tree that ends, as of an essential service, is reloaded no more. */
	if (node_is_stopped(world->tree.root))
		return take(second);
	FUZZ_CHECK(reload_now(world) == 0);
	check_same(world, before);
	for (int i = 0; has_others(world) && !node_is_stopped(world->tree.root); i++) {
		FUZZ_CHECK(i < ROUNDS_MAX);
		world_end_processes(world);
		world_pass(world, 3600 * USEC_PER_SEC);
	}
	if (!node_is_stopped(world->tree.root))
		check_same(world, before);
	return take(second);
}

/* The tree that is made of the second configuration shows the same as that which is reloaded with it. */
static void check_fresh(const struct files *files, const char *second)
{
	static struct world world;

	use_files(files, 1);
	if (!second || !world_begin_at(&world, files->main))
		return;
	check_same(&world, second);
	world_end(&world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world world;
	cleanup(freep) char *text = malloc(size + 1), *second = NULL;
	struct files files;

	FUZZ_CHECK(text);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	name_files(&files);
	split(&files, text);
	FUZZ_CHECK(mkdir(files.folder, 0700) == 0 || errno == EEXIST);
	use_files(&files, 0);
	if (world_begin_at(&world, files.main)) {
		world_run(&world);
		if (world.tree.config->n_nodes <= NODES_MAX)
			second = go_and_come_back(&world, &files);
		world_end(&world);
		check_fresh(&files, second);
	}
	(void)unlink(files.dropin);
	(void)rmdir(files.folder);
	(void)unlink(files.main);
	return 0;
}
