#include "ctl/commands/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "ctl/session/nodes.h"

/*
 * The daemon keeps no output: it goes where the key log says.  Of what goes into a file the end is
 * shown, by tail(1), which can also follow it.
 */

enum { TAIL_WORDS = 5 }; /* tail -n N [-F] -- */

struct log_file {
	const char *node, *path;
};

/* Of the services that write to files, each file once. */
struct logs {
	struct nodes *trees; /* that were asked for; of these are the strings */
	size_t n_trees;
	struct log_file *files;
	size_t n;
};

static void logs_done(struct logs *logs)
{
	for (size_t i = 0; i < logs->n_trees; i++)
		nodes_done(&logs->trees[i]);
	free(logs->trees);
	free(logs->files);
}

static int add_file(struct logs *logs, const char *node, const char *path)
{
	struct log_file *files;

	for (size_t i = 0; i < logs->n; i++)
		if (strcmp(logs->files[i].path, path) == 0)
			return 0;
	files = reallocarray(logs->files, logs->n + 1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	logs->files = files;
	files[logs->n++] = (struct log_file){ node, path };
	return 0;
}

/* Return: how many files the services in @tree write to; or -ENOMEM. */
static int add_files(struct logs *logs, const struct nodes *tree)
{
	int found = 0;

	for (size_t i = 0; i < tree->n; i++) {
		const struct node_view *node = &tree->nodes[i];
		size_t n = node->is_service ? json_array_size(node->service.logs) : 0;

		for (size_t k = 0; k < n; k++) {
			json_t *path = json_array_get(node->service.logs, k);

			if (add_file(logs, node->path, json_string_value(path)) < 0)
				return -ENOMEM;
			found++;
		}
	}
	return found;
}

/* The files of the node at @path and of all nodes below it.  A node without a file is named in an error. */
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
		log_line(&ctl->log, LOG_ERR,
			 "%s: no log file: set log = file:PATH, or see journalctl -u swansongd",
			 node_name(path));
	return CTL_DONE;
}

static int print_files(struct ctl *ctl, const struct logs *logs)
{
	cleanup(json_decrefp) json_t *all = json_pack("{s:[]}", "logs");

	for (size_t i = 0; i < logs->n; i++)
		(void)json_array_append_new(json_object_get(all, "logs"),
					    json_pack("{s:s, s:o}", "node", logs->files[i].node,
						      "file", message_string(logs->files[i].path)));
	return ctl_print_json(ctl, all);
}

/* Comes back on failure only. */
static int become_tail(struct ctl *ctl, const struct logs *logs)
{
	cleanup(freep) char **argv = calloc(TAIL_WORDS + logs->n + 1, sizeof(*argv));
	char lines[TEXT_NUMBER_MAX];
	size_t n = 0;

	if (!argv)
		return ctl_fail(ctl, -ENOMEM);
	argv[n++] = (char *)"tail";
	argv[n++] = (char *)"-n";
	argv[n++] = text_number(lines, ctl->options.lines);
	if (ctl->options.follow)
		argv[n++] = (char *)"-F";
	argv[n++] = (char *)"--";
	for (size_t i = 0; i < logs->n; i++)
		argv[n++] = (char *)logs->files[i].path;
	(void)execvp(argv[0], argv);
	log_line(&ctl->log, LOG_ERR, "tail: %s", strerror(errno));
	return CTL_FAILED;
}

int cmd_logs(struct ctl *ctl, int argc, char **argv)
{
	cleanup(logs_done) struct logs logs = { .n = 0 };
	int r = CTL_DONE;

	logs.trees = calloc((size_t)argc + 1, sizeof(*logs.trees));
	if (!logs.trees)
		return ctl_fail(ctl, -ENOMEM);
	for (size_t i = 0; argv[i] && r == CTL_DONE; i++)
		r = find_files(ctl, argv[i], &logs);
	if (r != CTL_DONE)
		return r;
	if (logs.n == 0)
		return CTL_FAILED;
	return ctl->options.json ? print_files(ctl, &logs) : become_tail(ctl, &logs);
}
