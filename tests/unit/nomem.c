#include "nomem.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local long allocations_left = -1;

#define WRAP(type, name, arguments, call)                              \
	type __real_##name arguments;                                  \
	type __wrap_##name arguments;                                  \
	type __wrap_##name arguments                                   \
	{                                                              \
		return allocation_fails() ? NULL : __real_##name call; \
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
