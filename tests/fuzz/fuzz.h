#pragma once

/*
 * The frame of all fuzz targets.  A target is one function that reads bytes from outside as the
 * programs do.  With configure --enable-fuzzing libFuzzer calls it; without, replay.c calls it with
 * each seed, as a test.
 */

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program, as a crash, unless @condition is true. */
#define FUZZ_CHECK(condition)                                      \
	do {                                                       \
		if (!(condition))                                  \
			fuzz_fail(__FILE__, __LINE__, #condition); \
	} while (0)
_Noreturn void fuzz_fail(const char *file, int line, const char *condition);

/* A file in memory with a path, which only its owner may write to. */
struct fuzz_file {
	int fd; /* -1: not made yet */
	char path[32];
};
#define FUZZ_FILE        \
	{                \
		.fd = -1 \
	}

/* The file holds these bytes from now on. */
void fuzz_file_set(struct fuzz_file *file, const void *data, size_t size);

/* Takes bytes off the front of an input; an input that has ended gives zeroes. */
struct fuzz_input {
	const uint8_t *data;
	size_t size;
};
uint8_t fuzz_byte(struct fuzz_input *input);

/* At most @want bytes; *ret points into the input. */
size_t fuzz_bytes(struct fuzz_input *input, size_t want, const uint8_t **ret);
