/*
 * Allocations of the daemon and of its libraries, which may fail.  Those inside the C library never do.  The
 * simulation itself has __real_calloc() and the like where it allocates for the world.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/kernel.h"
#include "tests/sim/system.h"

static bool memory_fails(void)
{
	int error = kernel_fails(FAULT_MEMORY);

	if (error)
		errno = error;
	return error != 0;
}

#define WRAP(type, name, arguments, call)                          \
	type __real_##name arguments;                              \
	type __wrap_##name arguments;                              \
	type __wrap_##name arguments                               \
	{                                                          \
		return memory_fails() ? NULL : __real_##name call; \
	}

WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, (void *p, size_t size), (p, size))
WRAP(void *, reallocarray, (void *p, size_t n, size_t size), (p, n, size))
WRAP(char *, strdup, (const char *text), (text))
WRAP(char *, strndup, (const char *text, size_t n), (text, n))
WRAP(void *, tsearch, (const void *key, void **root, int (*f)(const void *, const void *)),
     (key, root, f))
WRAP(FILE *, fopencookie, (void *cookie, const char *mode, cookie_io_functions_t functions),
     (cookie, mode, functions))

/* The parser of jansson 2.14 writes beyond its memory when an allocation fails. */
json_t *__real_json_loads(const char *text, size_t flags, json_error_t *error);
json_t *__wrap_json_loads(const char *text, size_t flags, json_error_t *error);
json_t *__wrap_json_loads(const char *text, size_t flags, json_error_t *error)
{
	json_t *json;

	json_set_alloc_funcs(__real_malloc, free);
	json = memory_fails() ? NULL : __real_json_loads(text, flags, error);
	system_memory_init();
	return json;
}

void system_memory_init(void)
{
	json_set_alloc_funcs(__wrap_malloc, free);
}
