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

static void say_elsewhere(struct ctl *ctl, const char *path)
{
	char node[1024];

	log_line(
		&ctl->log, LOG_ERR,
		"%s: its output goes to no file, as log = file:PATH would have it; what the daemon "
		"itself writes to may have it, as the journal: journalctl -u swansongd",
		text_escape(node, sizeof(node), node_name(path)));
}

/* The file of the node's own service, to be released by free(). */
static int find_file(struct ctl *ctl, const char *path, char **ret)
{
	struct nodes nodes;
	int r = nodes_fetch(ctl, path, &nodes);

	if (r != CTL_DONE)
		return r;
	if (nodes.n > 0 && nodes.nodes[0].is_service && nodes.nodes[0].service.log) {
		*ret = strdup(nodes.nodes[0].service.log);
		r = *ret ? CTL_DONE : ctl_fail(ctl, -ENOMEM);
	} else {
		say_elsewhere(ctl, path);
		r = CTL_FAILED;
	}
	nodes_done(&nodes);
	return r;
}

static int print_files(struct ctl *ctl, char **paths, char **files)
{
	cleanup(json_decrefp) json_t *all = json_pack("{s:[]}", "logs");

	for (size_t i = 0; paths[i]; i++)
		(void)json_array_append_new(json_object_get(all, "logs"),
					    json_pack("{s:s, s:o}", "node", paths[i], "file",
						      message_string(files[i])));
	return ctl_print_json(ctl, all);
}

/* Comes back on failure only. */
static int become_tail(struct ctl *ctl, char **argv, size_t n_files, char **files)
{
	char lines[16];
	size_t n = 0;

	(void)snprintf(lines, sizeof(lines), "%u", ctl->options.lines);
	argv[n++] = (char *)"tail";
	argv[n++] = (char *)"-n";
	argv[n++] = lines;
	if (ctl->options.follow)
		argv[n++] = (char *)"-F";
	argv[n++] = (char *)"--";
	for (size_t i = 0; i < n_files; i++)
		argv[n++] = files[i];
	argv[n] = NULL;
	(void)execvp(argv[0], argv);
	log_line(&ctl->log, LOG_ERR, "tail: %s", strerror(errno));
	return CTL_FAILED;
}

int cmd_logs(struct ctl *ctl, int argc, char **argv)
{
	cleanup(freep) char **paths = NULL;
	cleanup(freep) char **files = NULL;
	cleanup(freep) char **words = NULL;
	size_t n = 0, found = 0;
	int r = nodes_resolve(ctl, argv, (size_t)argc, &paths);

	if (r != CTL_DONE)
		return r;
	while (paths[n])
		n++;
	files = calloc(n + 1, sizeof(*files));
	words = calloc(n + TAIL_WORDS + 1, sizeof(*words));
	if (!files || !words)
		return ctl_fail(ctl, -ENOMEM);
	while (r == CTL_DONE && found < n) {
		r = find_file(ctl, paths[found], &files[found]);
		found += r == CTL_DONE;
	}
	if (r == CTL_DONE)
		r = ctl->options.json ? print_files(ctl, paths, files)
				      : become_tail(ctl, words, n, files);
	while (found > 0)
		free(files[--found]);
	return r;
}
