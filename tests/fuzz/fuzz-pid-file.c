/*
 * A pid-file with any content; the first byte selects the type of the file.  A pid is only
 * taken from a regular file of an expected owner, and is the number at its beginning.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys/process/pid-file.h"

enum kind { REGULAR, LINK, FIFO, FOLDER, MISSING, N_KINDS };

static void write_file(const char *path, const uint8_t *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_CHECK(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size));
	(void)fd_close(fd);
}

static void make(enum kind kind, const char *path, const uint8_t *data, size_t size)
{
	static const char target[] = "fuzz-pid-file.target";

	if (kind == REGULAR)
		write_file(path, data, size);
	if (kind == LINK) {
		write_file(target, data, size);
		FUZZ_CHECK(symlink(target, path) == 0);
	}
	if (kind == FIFO)
		FUZZ_CHECK(mkfifo(path, 0600) == 0);
	if (kind == FOLDER)
		FUZZ_CHECK(mkdir(path, 0700) == 0);
}

/* The pid is written at the beginning, with zeroes before it or none; a blank or a line ends it. */
static void check_pid(pid_t pid, const uint8_t *data, size_t size)
{
	char text[16];
	size_t zeroes = 0, length;

	FUZZ_CHECK(pid > 0);
	length = (size_t)snprintf(text, sizeof(text), "%d", (int)pid);
	while (zeroes < size && data[zeroes] == '0')
		zeroes++;
	FUZZ_CHECK(zeroes + length <= size && memcmp(data + zeroes, text, length) == 0);
	FUZZ_CHECK(zeroes + length == size || memchr(" \t\r\n", data[zeroes + length], 5));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	enum kind kind = fuzz_byte(&input) % N_KINDS;
	const char *why = NULL;
	char path[64];
	pid_t pid = -1;
	uid_t owner;
	int r;

	(void)snprintf(path, sizeof(path), "fuzz-%d.pid", (int)getpid());
	(void)remove(path);
	make(kind, path, input.data, input.size);
	r = pid_file_read(path, &pid, &owner, &why);
	(void)remove(path);
	FUZZ_CHECK(r <= 0 && why && (kind == REGULAR || r < 0));
	if (r == 0)
		check_pid(pid, input.data, input.size);
	else
		FUZZ_CHECK(r != -ENODATA || input.size == 0 || *input.data == '\0');
	return 0;
}
