/*
 * The report of a shutdown is read at each request: it is small, and few ask for it.  The history is
 * read at a request.  The figures are kept until the file is another one or has grown: the daemon renames
 * the rotated files only when it begins a new one.  Of 4 MB that takes some 0.2 s, so that a file that
 * grows all the time, or cannot be read, is read less often.
 */
#include "exporter/text/past.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "proto/config/settings.h"
#include "proto/history/figures.h"
#include "proto/history/otlp.h"
#include "proto/history/starts.h"
#include "proto/message.h"

#define READ_SHARE 30 /* between the begins of two readings, at least, in times of what one takes */

void past_done(struct past *past)
{
	free(past->path);
	history_free(past->history);
	*past = (struct past){ 0 };
}

static json_t *past_describe_error(const char *file, int r)
{
	static const struct {
		int r;
		const char *text;
	} reasons[] = {
		{ -EAGAIN, "the daemon has not answered yet" },
		{ -ENODATA, "the daemon writes no such file: set history or report in [swansong]" },
		{ -ENOTSUP, "not a regular file" },
		{ -ESRCH, "the history has no such node" },
		{ -EBADMSG, "not a report of a shutdown" },
		{ -EPROTONOSUPPORT, "a report in an unknown format" },
	};
	const char *reason = strerror(-r);

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].r == r)
			reason = reasons[i].text;
	return json_pack("{s:s, s:o*}", "error", reason, "file",
			 file ? message_string(file) : NULL);
}

/* --- history --- */

static int past_find_history(const struct past *past, const json_t *settings, char **ret)
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

static bool past_is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int past_read(struct past *past, const char *path)
{
	uint64_t begun_usec = clock_now_usec();
	struct stat st;
	char *name;

	if (stat(path, &st) < 0)
		return -errno;
	if (past->path && strcmp(past->path, path) == 0 &&
	    (begun_usec < past->again_usec || (past->history && past_is_same_file(&past->st, &st))))
		return past->error;
	name = strdup(path);
	if (!name)
		return -ENOMEM;
	free(past->path);
	past->path = name;
	past->st = st;
	past->history = history_free(past->history);
	past->error = history_load(&past->history, path, PAST_SIZE_MAX);
	past->again_usec = begun_usec + READ_SHARE * (clock_now_usec() - begun_usec);
	return past->error;
}

static json_t *past_build_history(const struct past *past, const char *node)
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
	int r = past_find_history(past, settings, &path);

	*ret_found = false;
	if (r == 0)
		r = past_read(past, path);
	if (r < 0)
		return past_describe_error(path, r);
	object = past_build_history(past, node);
	if (*node && json_array_size(json_object_get(object, "nodes")) == 0) {
		json_decref(object);
		return past_describe_error(path, -ESRCH);
	}
	*ret_found = true;
	return object;
}

json_t *past_ends(struct past *past, const json_t *settings, const char *node)
{
	cleanup(freep) char *path = NULL;
	const struct figures *figures;

	if (past_find_history(past, settings, &path) < 0 || past_read(past, path) < 0)
		return NULL;
	figures = history_find(past->history, node);
	return figures ? figures_build_last(figures) : NULL;
}

/* --- spans --- */

json_t *past_shutdown(const struct past *past, const json_t *settings, bool *ret_found)
{
	const char *path = past->report_file;
	cleanup(json_decrefp) json_t *root = NULL;
	cleanup(report_done) struct report report = { 0 };
	int r = path || settings ? 0 : -EAGAIN;

	if (!path)
		path = settings_find(settings, "report");
	if (r == 0)
		r = path && strcmp(path, "none") != 0
			    ? report_load(path, PAST_SIZE_MAX, &root, &report)
			    : -ENODATA;
	*ret_found = r == 0;
	return r < 0 ? past_describe_error(path, r) : otlp_build(&report, OTLP_SHUTDOWN);
}

json_t *past_starts(json_t *events, bool *ret_found)
{
	cleanup(json_decrefp) json_t *reply = json_pack("{s:O*}", "events", events);
	cleanup(report_done) struct report report = { 0 };
	char host[HOST_NAME_MAX + 1] = "";
	int r;

	(void)gethostname(host, sizeof(host) - 1);
	r = starts_report(reply, host, &report);
	*ret_found = r == 0 && report.n > 0;
	if (!*ret_found)
		return json_pack("{s:s}", "error", "the daemon remembers no start");
	return otlp_build(&report, OTLP_START);
}
