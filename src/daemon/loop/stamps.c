/*
 * A stamp is an empty file in STATE.runs, one for each scheduled service: its modification time is
 * the time of the last run.  The slashes of a path are colons in its name.  A write that fails is
 * logged once, until one succeeds; a file system that does not answer is left alone until a reload.
 */
#include "daemon/loop/stamps.h"

#include "sys/file/path.h"

void stamps_use(struct stamps *stamps, const char *state, struct log *log)
{
	stamps_done(stamps);
	if (!state || strcmp(state, "none") == 0)
		return;
	stamps->directory = text_format("%s.runs", state);
	if (!stamps->directory)
		log_line(log, LOG_ERR, "no times of scheduled runs are kept: out of memory");
}

void stamps_done(struct stamps *stamps)
{
	free(stamps->directory);
	*stamps = (struct stamps){ .directory = NULL };
}

/* Prints the path of the stamp, with a colon, which no name has, for each slash. */
static int stamps_path(const struct stamps *stamps, const char *name, char path[static PATH_MAX])
{
	size_t length = strlen(stamps->directory) + 1;

	if (snprintf(path, PATH_MAX, "%s/%s", stamps->directory, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	for (char *p = path + length; *p; p++)
		if (*p == '/')
			*p = ':';
	return 0;
}

struct stamp {
	const struct stamps *stamps;
	char path[PATH_MAX];
	struct timespec time;
};

static int stamps_set(void *arg)
{
	const struct stamp *stamp = arg;
	cleanup(closep) int fd = -1;
	int r = path_make_directory(stamp->stamps->directory, 0755);

	if (r < 0 && r != -EEXIST)
		return r;
	fd = path_open(stamp->path, O_WRONLY | O_CREAT, 0644);
	if (fd < 0)
		return fd;
	/* Not the time of the kernel, which may be a tick behind: a run would be repeated. */
	return futimens(fd, (struct timespec[]){ stamp->time, stamp->time }) < 0 ? -errno : 0;
}

static int stamps_get(void *arg)
{
	struct stamp *stamp = arg;
	struct stat st;

	if (lstat(stamp->path, &st) < 0)
		return -errno;
	stamp->time = st.st_mtim;
	return 0;
}

uint64_t stamps_read(const struct stamps *stamps, const char *name)
{
	struct stamp stamp;

	if (!stamps->directory || stamps_path(stamps, name, stamp.path) < 0 ||
	    mount_call(stamp.path, MOUNT_ANSWER_MSEC, stamps_get, &stamp, sizeof(stamp)) < 0 ||
	    stamp.time.tv_sec < 0)
		return 0;
	return (uint64_t)stamp.time.tv_sec * USEC_PER_SEC + (uint64_t)stamp.time.tv_nsec / 1000;
}

static int stamps_write_one(const struct stamps *stamps, const char *name, uint64_t usec)
{
	struct stamp stamp = {
		.stamps = stamps,
		.time.tv_sec = (time_t)(usec / USEC_PER_SEC),
		.time.tv_nsec = (long)(usec % USEC_PER_SEC) * 1000,
	};
	int r = stamps_path(stamps, name, stamp.path);

	return r < 0 ? r
		     : mount_call(stamp.path, MOUNT_ANSWER_MSEC, stamps_set, &stamp, sizeof(stamp));
}

void stamps_write(struct stamps *stamps, const char *name, uint64_t usec, struct log *log)
{
	int r = stamps->directory ? stamps_write_one(stamps, name, usec) : 0;

	if (r < 0 && !stamps->failed)
		log_node(log, LOG_WARNING, name,
			 "a scheduled run may be repeated or left out after a restart of the "
			 "daemon: no file in %s: %s",
			 stamps->directory, path_error_text(-r));
	stamps->failed = r < 0;
	if (r == -ETIMEDOUT)
		stamps_done(stamps);
}
