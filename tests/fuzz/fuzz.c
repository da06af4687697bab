#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"

_Noreturn void fuzz_fail(const char *file, int line, const char *condition)
{
	(void)fprintf(stderr, "%s:%d: not true: %s\n", file, line, condition);
	abort();
}

void fuzz_file_set(struct fuzz_file *file, const void *data, size_t size)
{
	if (file->fd < 0) {
		file->fd = memfd_create("fuzz", MFD_CLOEXEC);
		FUZZ_CHECK(file->fd >= 0 && fchmod(file->fd, 0600) == 0);
		(void)snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
	}
	FUZZ_CHECK(ftruncate(file->fd, 0) == 0);
	FUZZ_CHECK(pwrite(file->fd, data, size, 0) == (ssize_t)size);
}

uint8_t fuzz_byte(struct fuzz_input *input)
{
	const uint8_t *byte;

	return fuzz_bytes(input, 1, &byte) ? *byte : 0;
}

size_t fuzz_bytes(struct fuzz_input *input, size_t want, const uint8_t **ret)
{
	size_t n = MIN(want, input->size);

	*ret = input->data;
	input->data += n;
	input->size -= n;
	return n;
}
