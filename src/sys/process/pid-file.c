/*
 * The file is of a program that may be hostile: it is opened without following a link or waiting,
 * must be a regular file, and only its first bytes are read.  Each failure has a reason for the log.
 */
#include "sys/process/pid-file.h"

#include <ctype.h>

/* The longest line that may hold a pid. */
#define LINE_MAX_BYTES 32

static const char *pid_file_open_error(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return "no such file";
	case ELOOP:
		return "a symbolic link";
	case EACCES:
		return "permission denied";
	default:
		return "cannot be opened";
	}
}

/* Return: 0 or -EINVAL; -ENODATA if the line is not there yet. */
static int pid_file_parse(const char *text, pid_t *ret)
{
	char *end;
	long pid;

	if (!*text)
		return -ENODATA;
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	pid = strtol(text, &end, 10);
	while (*end == ' ' || *end == '\t' || *end == '\r')
		end++;
	if (errno || (*end && *end != '\n') || pid < 1 || pid > INT32_MAX)
		return -EINVAL;
	*ret = (pid_t)pid;
	return 0;
}

int pid_file_read(const char *path, pid_t *ret, uid_t *owner, const char **why)
{
	cleanup(closep) int fd =
		open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char text[LINE_MAX_BYTES + 1];
	struct stat st;
	ssize_t n;
	int r;

	*why = fd < 0 ? pid_file_open_error(errno) : "cannot be read";
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	*why = "not a regular file";
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	*owner = st.st_uid;
	*why = "cannot be read";
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	/* A longer line is cut, perhaps within the number: it is invalid. */
	r = n < LINE_MAX_BYTES || strchr(text, '\n') ? pid_file_parse(text, ret) : -EINVAL;
	*why = r == -ENODATA ? "empty" : "not a pid";
	return r;
}
