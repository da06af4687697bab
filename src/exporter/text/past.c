/*
 * The history is read at a request.  The figures are kept until the file is another one or has grown:
 * the daemon renames the rotated files only when it begins a new one.  Of 4 MB that takes some 0.2 s, so
 * that a file that grows all the time is read less often.
 */
#include "exporter/text/past.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "proto/config/settings.h"
#include "proto/history/figures.h"
#include "proto/message.h"

#define READ_SHARE 30 /* between the begins of two readings, at least, in times of what one takes */

void past_done(struct past *past)
{
	free(past->path);
	history_free(past->history);
	*past = (struct past){ 0 };
}

static json_t *describe_error(const char *file, int r)
{
	const char *reason = strerror(-r);

	if (r == -EAGAIN)
		reason = "the daemon has not answered yet";
	else if (r == -ENODATA)
		reason = "the daemon writes no history: set history in [swansong]";
	else if (r == -ESRCH)
		reason = "the history has no such node";
	else if (r == -ENOTSUP)
		reason = "not a regular file";
	return json_pack("{s:s, s:o*}", "error", reason, "file",
			 file ? message_string(file) : NULL);
}

static int find_history(const struct past *past, const json_t *settings, char **ret)
{
	int r;

	if (past->history_file)
		return (*ret = strdup(past->history_file)) ? 0 : -ENOMEM;
	if (!settings)
		return -EAGAIN;
	r = history_path(ret, settings_find(settings, "history"),
			 settings_find(settings, "report"));
	return r < 0 || *ret ? r : -ENODATA;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int past_read(struct past *past, const char *path)
{
	uint64_t begun_usec = clock_now_usec();
	struct history *history;
	struct stat st;
	char *name;
	int r;

	if (stat(path, &st) < 0)
		return -errno;
	if (past->path && strcmp(past->path, path) == 0 &&
	    (begun_usec < past->again_usec || is_same_file(&past->st, &st)))
		return 0;
	name = strdup(path);
	r = name ? history_load(&history, path, PAST_SIZE_MAX) : -ENOMEM;
	if (r < 0) {
		free(name);
		return r;
	}
	free(past->path);
	history_free(past->history);
	past->path = name;
	past->st = st;
	past->again_usec = begun_usec + READ_SHARE * (clock_now_usec() - begun_usec);
	past->history = history;
	return 0;
}

static json_t *build_history(const struct past *past, const char *node)
{
	const struct history *h = past->history;
	json_t *nodes = json_array();

	for (size_t i = 0; i < h->n; i++)
		if (text_is_within(h->nodes[i]->node, node))
			(void)json_array_append_new(nodes, figures_build(h->nodes[i]));
	return json_pack("{s:o, s:I, s:o}", "file", message_string(past->path), "skipped",
			 (json_int_t)h->skipped, "nodes", nodes);
}

json_t *past_history(struct past *past, const json_t *settings, const char *node, bool *ret_found)
{
	cleanup(freep) char *path = NULL;
	json_t *object;
	int r = find_history(past, settings, &path);

	*ret_found = false;
	if (r == 0)
		r = past_read(past, path);
	if (r < 0)
		return describe_error(path, r);
	object = build_history(past, node);
	if (*node && json_array_size(json_object_get(object, "nodes")) == 0) {
		json_decref(object);
		return describe_error(path, -ESRCH);
	}
	*ret_found = true;
	return object;
}
