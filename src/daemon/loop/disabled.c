/*
 * The state file is text: a comment, "disabled NAME" for each service, and "instances TEMPLATE NUMBER".  It is written beside
 * its place, synchronised and renamed: after a crash there is the old file or the new one.  After a fault of
 * the daemon its file system may not answer: a copy in memory, in the same form, is read instead.
 */
#include "daemon/loop/disabled.h"

#include "daemon/loop/roster.h"
#include "model/base/nodes.h"
#include "model/file/source.h"
#include "sys/file/path.h"
#include "sys/file/replace.h"

#define COPY_NAME "state"

static const char disabled_word[] = "disabled ", instances_word[] = "instances ";

void disabled_done(struct disabled *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->names[i]);
	free(d->names);
	*d = (struct disabled){ .names = NULL };
}

/* Returns the index of @name, or the one where it belongs. */
static size_t disabled_find_index(const struct disabled *d, const char *name)
{
	size_t low = 0, high = d->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(d->names[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool disabled_is_at(const struct disabled *d, size_t i, const char *name)
{
	return i < d->n && strcmp(d->names[i], name) == 0;
}

bool disabled_has(const struct disabled *d, const char *name)
{
	return disabled_is_at(d, disabled_find_index(d, name), name);
}

static int disabled_insert(struct disabled *d, size_t i, const char *name)
{
	char *copy = strdup(name);

	if (!copy || array_reserve(d->names, d->n) < 0) {
		free(copy);
		return -ENOMEM;
	}
	memmove(d->names + i + 1, d->names + i, (d->n++ - i) * sizeof(*d->names));
	d->names[i] = copy;
	return 0;
}

int disabled_set(struct disabled *d, const char *name, bool value)
{
	size_t i = disabled_find_index(d, name);

	if (disabled_is_at(d, i, name) == value)
		return 0;
	if (value)
		return disabled_insert(d, i, name);
	free(d->names[i]);
	memmove(d->names + i, d->names + i + 1, (--d->n - i) * sizeof(*d->names));
	return 0;
}

/* An entry of a template is "TEMPLATE NUMBER". */
int disabled_scale(struct disabled *d, const char *template, const uint64_t *number)
{
	char entry[CONFIG_NAME_MAX + 24];
	size_t length = (size_t)snprintf(entry, sizeof(entry), "%s ", template);
	size_t i = disabled_find_index(d, entry);

	if (i < d->n && strncmp(d->names[i], entry, length) == 0)
		(void)disabled_set(d, d->names[i], false);
	if (!number)
		return 0;
	(void)snprintf(entry + length, sizeof(entry) - length, "%" PRIu64, *number);
	return disabled_set(d, entry, true);
}

bool disabled_has_scaled(const struct disabled *d, const char *prefix)
{
	for (size_t i = 0; i < d->n; i++)
		if (strchr(d->names[i], ' ') && strncmp(d->names[i], prefix, strlen(prefix)) == 0)
			return true;
	return false;
}

/* --- file --- */

static int disabled_read_instances(struct disabled *d, char *text)
{
	char *number = strchr(text, ' ');
	uint64_t value;

	if (number)
		*number++ = '\0';
	if (!number || config_check_name(text) || !config_is_template(text) ||
	    parse_uint(number, CONFIG_INSTANCES_MAX, &value) < 0)
		return -EBADMSG;
	return disabled_scale(d, text, &value);
}

static int disabled_read_text(void *arg, const char *file, char *text, size_t size)
{
	size_t length = strlen(disabled_word), instances = strlen(instances_word);
	int r = strlen(text) == size ? 0 : -EBADMSG;
	char *line;

	while (r == 0 && (line = strsep(&text, "\n"))) {
		if (!*line || *line == '#')
			continue;
		if (strncmp(line, instances_word, instances) == 0)
			r = disabled_read_instances(arg, line + instances);
		else if (strncmp(line, disabled_word, length) == 0 &&
			 !config_check_name(line + length))
			r = disabled_set(arg, line + length, true);
		else
			r = -EBADMSG;
	}
	return r;
}

void disabled_keep_aside(const char *path, struct log *log)
{
	cleanup(path_done) struct path in;
	char aside[NAME_MAX + sizeof(".bad")] = "";
	int r = path_find(&in, path, PATH_FIND);

	(void)snprintf(aside, sizeof(aside), "%s.bad", in.name);
	if (r < 0 || path_rename_in(&in, in.name, aside, PATH_REPLACE) < 0)
		log_line(log, LOG_ERR, "%s: not a state file: no service is disabled", path);
	else
		log_line(log, LOG_ERR,
			 "%s: not a state file: renamed to %s.bad, and no service is disabled",
			 path, path);
}

int disabled_read(struct disabled *d, const char *path, struct log *log)
{
	cleanup(diag_freep) struct diag *diag = NULL;
	int r;

	if (!path || strcmp(path, "none") == 0)
		return 0;
	r = diag_new(&diag);
	if (r == 0)
		r = source_one(&(struct source){ true, 0, diag, disabled_read_text, d }, path);
	if (diag)
		diag_report(diag, log, NULL);
	/* source_one() reports a directory, for example, as a mistake only. */
	if (r == 0 && diag_errors(diag) > 0)
		r = -EINVAL;
	if (r < 0)
		disabled_done(d);
	return r == -ENOENT ? 0 : r;
}

static int disabled_write_text(FILE *f, const void *arg)
{
	const struct disabled *d = arg;

	(void)fputs("# Written by swansongd: see disable and scale in swansongctl(1).\n", f);
	for (size_t i = 0; i < d->n; i++)
		(void)fprintf(f, "%s%s\n",
			      strchr(d->names[i], ' ') ? instances_word : disabled_word,
			      d->names[i]);
	return 0;
}

/* Without memory the previous copy stays. */
void disabled_enter(const struct disabled *d, struct roster *roster, struct disabled_copy *copy)
{
	cleanup(closep) int fd = roster ? memfd_create(COPY_NAME, MFD_CLOEXEC) : -1;
	FILE *f = fd < 0 ? NULL : fdopen(fcntl(fd, F_DUPFD_CLOEXEC, 0), "w");

	if (!f)
		return;
	(void)disabled_write_text(f, d);
	if (fclose(f) != 0)
		return;
	roster_enter_descriptor(roster, &copy->place, fd, 0, COPY_NAME);
	(void)fd_close(copy->fd);
	copy->fd = take_fd(fd);
}

int disabled_take(struct disabled *d, struct roster *roster)
{
	cleanup(closep) int fd = roster_take_descriptor(roster, COPY_NAME, NULL);
	cleanup(freep) char *text = NULL;
	struct stat st;
	ssize_t n;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -ENOENT;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	n = pread(fd, text, (size_t)st.st_size, 0);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	r = disabled_read_text(d, COPY_NAME, text, (size_t)n);
	if (r < 0)
		disabled_done(d);
	return r;
}

int disabled_write(const struct disabled *d, const char *path)
{
	return replace_file(path, 0644, true, disabled_write_text, d);
}
