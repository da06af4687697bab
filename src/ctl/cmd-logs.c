#include "ctl/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "ctl/nodes.h"

/*
 * The daemon keeps no output: it goes where the key log says.  Of what goes into a file the end is
 * shown, by tail(1), which can also follow it; of the rest can be said only that it is not there.
 */

enum { TAIL_WORDS = 5 }; /* tail -n N [-F] -- */

/* Of the services that write to files, a file each. */
struct logs {
	struct nodes *trees; /* that were asked for; of these are the strings */
	size_t n_trees;
	const struct node_view **services;
	size_t n;
};

static void logs_done(struct logs *logs)
{
	for (size_t i = 0; i < logs->n_trees; i++)
		nodes_done(&logs->trees[i]);
	free(logs->trees);
	free(logs->services);
}

static bool has_file(const struct logs *logs, const char *file)
{
	for (size_t i = 0; i < logs->n; i++)
		if (strcmp(logs->services[i]->service.log, file) == 0)
			return true;
	return false;
}

/* Return: how many services in @tree write to files; or -ENOMEM. */
static int add_files(struct logs *logs, const struct nodes *tree)
{
	int found = 0;
	const struct node_view **services =
		reallocarray(logs->services, logs->n + tree->n, sizeof(*services));

	if (!services)
		return -ENOMEM;
	logs->services = services;
	for (size_t i = 0; i < tree->n; i++) {
		const struct node_view *node = &tree->nodes[i];

		if (!node->is_service || !node->service.log)
			continue;
		found++;
		if (!has_file(logs, node->service.log))
			services[logs->n++] = node;
	}
	return found;
}

static void say_elsewhere(struct ctl *ctl, const char *path)
{
	char node[1024];

	log_line(
		&ctl->log, LOG_ERR,
		"%s: its output goes to no file, as log = file:PATH would have it; what the daemon "
		"itself writes to may have it, as the journal: journalctl -u swansongd",
		text_escape(node, sizeof(node), node_name(path)));
}

/* Those of the node at @path and of all below it. */
static int find_files(struct ctl *ctl, const char *path, struct logs *logs)
{
	struct nodes *tree = &logs->trees[logs->n_trees];
	int r = nodes_fetch(ctl, path, tree);

	if (r != CTL_DONE)
		return r;
	logs->n_trees++;
	r = add_files(logs, tree);
	if (r < 0)
		return ctl_fail(ctl, r);
	if (r == 0)
		say_elsewhere(ctl, path);
	return r > 0 ? CTL_DONE : CTL_FAILED;
}

static int print_files(struct ctl *ctl, const struct logs *logs)
{
	cleanup(json_decrefp) json_t *all = json_pack("{s:[]}", "logs");

	for (size_t i = 0; i < logs->n; i++)
		(void)json_array_append_new(
			json_object_get(all, "logs"),
			json_pack("{s:s, s:o}", "node", logs->services[i]->path, "file",
				  message_string(logs->services[i]->service.log)));
	return ctl_print_json(ctl, all);
}

/* Comes back on failure only. */
static int become_tail(struct ctl *ctl, const struct logs *logs)
{
	cleanup(freep) char **argv = calloc(TAIL_WORDS + logs->n + 1, sizeof(*argv));
	char lines[16];
	size_t n = 0;

	if (!argv)
		return ctl_fail(ctl, -ENOMEM);
	(void)snprintf(lines, sizeof(lines), "%u", ctl->options.lines);
	argv[n++] = (char *)"tail";
	argv[n++] = (char *)"-n";
	argv[n++] = lines;
	if (ctl->options.follow)
		argv[n++] = (char *)"-F";
	argv[n++] = (char *)"--";
	for (size_t i = 0; i < logs->n; i++)
		argv[n++] = (char *)logs->services[i]->service.log;
	(void)execvp(argv[0], argv);
	log_line(&ctl->log, LOG_ERR, "tail: %s", strerror(errno));
	return CTL_FAILED;
}

int cmd_logs(struct ctl *ctl, int argc, char **argv)
{
	cleanup(logs_done) struct logs logs = { .n = 0 };
	cleanup(freep) char **paths = NULL;
	size_t n = 0;
	int r = nodes_resolve(ctl, argv, (size_t)argc, &paths);

	if (r != CTL_DONE)
		return r;
	while (paths[n])
		n++;
	logs.trees = calloc(n + 1, sizeof(*logs.trees));
	if (!logs.trees)
		return ctl_fail(ctl, -ENOMEM);
	for (size_t i = 0; i < n && r == CTL_DONE; i++)
		r = find_files(ctl, paths[i], &logs);
	if (r != CTL_DONE)
		return r;
	return ctl->options.json ? print_files(ctl, &logs) : become_tail(ctl, &logs);
}
