/*
 * The history is read at a request.  The figures are kept until the file is another one or has grown: the daemon renames
 * the rotated files only when it begins a new one.  Of 4 MB that takes some 0.2 s, so that a file that
 * grows all the time, or cannot be read, is read less often.
 */
#include "exporter/text/past.h"

#include "proto/config/settings.h"
#include "proto/history/figures.h"

#define READ_SHARE \
	30 /* least time from one reading to the next, as a multiple of the time that one takes */

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
	};
	const char *reason = strerror(-r);

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].r == r)
			reason = reasons[i].text;
	return json_pack("{s:s, s:o*}", "error", reason, "file",
			 file ? message_string(file) : NULL);
}

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

json_t *past_history(struct past *past, const json_t *settings, const char *node, bool *ret_found)
{
	cleanup(json_decrefp) json_t *nodes = json_array();
	cleanup(freep) char *path = NULL;
	int r = past_find_history(past, settings, &path);

	*ret_found = false;
	if (r == 0)
		r = past_read(past, path);
	if (r < 0)
		return past_describe_error(path, r);
	for (size_t i = 0; i < past->history->n; i++)
		if (past->history->nodes[i]->n > 0 &&
		    text_is_within(past->history->nodes[i]->node, node))
			(void)json_array_append_new(nodes, figures_build(past->history->nodes[i]));
	if (*node && json_array_size(nodes) == 0)
		return past_describe_error(path, -ESRCH);
	*ret_found = true;
	return json_pack("{s:o, s:I, s:O}", "file", message_string(past->path), "skipped",
			 (json_int_t)past->history->skipped, "nodes", nodes);
}

json_t *past_of(struct past *past, const json_t *settings, const char *node, uint64_t until_usec)
{
	cleanup(freep) char *path = NULL;
	const struct figures *f = NULL;
	uint64_t until;

	if (past_find_history(past, settings, &path) == 0 && past_read(past, path) == 0)
		f = history_find(past->history, node);
	if (!f)
		return json_object();
	until = until_usec ? until_usec : past->history->last_usec;
	return json_pack(
		"{s:o*, s:o*}", "ends", f->n > 0 ? figures_build_last(f) : NULL, "availability",
		ledger_is_kept(&f->ledger)
			? ledger_build(&f->ledger, node, until - MIN(until, LEDGER_USEC), until)
			: NULL);
}
