#include "nomem-counted.h"

#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-event.h>

_Thread_local long allocations_left = -1;
_Atomic long live;

static void *counted(void *p)
{
	if (p)
		atomic_fetch_add(&live, 1);
	return p;
}

#define WRAP(name, arguments, call)                                             \
	void *__real_##name arguments;                                          \
	void *__wrap_##name arguments;                                          \
	void *__wrap_##name arguments                                           \
	{                                                                       \
		return allocation_fails() ? NULL : counted(__real_##name call); \
	}

WRAP(malloc, (size_t size), (size))
WRAP(calloc, (size_t n, size_t size), (n, size))
WRAP(aligned_alloc, (size_t alignment, size_t size), (alignment, size))

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size)
{
	if (allocation_fails())
		return NULL;
	return p ? __real_realloc(p, size) : counted(__real_realloc(p, size));
}

void *__real_reallocarray(void *p, size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	if (allocation_fails())
		return NULL;
	return p ? __real_reallocarray(p, n, size) : counted(__real_reallocarray(p, n, size));
}

int __real_posix_memalign(void **ret, size_t alignment, size_t size);
int __wrap_posix_memalign(void **ret, size_t alignment, size_t size);
int __wrap_posix_memalign(void **ret, size_t alignment, size_t size)
{
	int error = allocation_fails() ? ENOMEM : __real_posix_memalign(ret, alignment, size);

	if (!error)
		(void)counted(*ret);
	return error;
}

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p)
{
	if (p)
		atomic_fetch_sub(&live, 1);
	__real_free(p);
}

/* What the C library allocates for it is its own. */
FILE *__real_fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);
FILE *__wrap_fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);
FILE *__wrap_fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
{
	return allocation_fails() ? NULL : __real_fopencookie(cookie, mode, functions);
}

/* Nor is what sd-event allocates. */
int __real_sd_event_new(sd_event **ret);
int __wrap_sd_event_new(sd_event **ret);
int __wrap_sd_event_new(sd_event **ret)
{
	return allocation_fails() ? -ENOMEM : __real_sd_event_new(ret);
}

int __real_sd_event_add_io(sd_event *e, sd_event_source **ret, int fd, uint32_t events,
			   sd_event_io_handler_t fn, void *arg);
int __wrap_sd_event_add_io(sd_event *e, sd_event_source **ret, int fd, uint32_t events,
			   sd_event_io_handler_t fn, void *arg);
int __wrap_sd_event_add_io(sd_event *e, sd_event_source **ret, int fd, uint32_t events,
			   sd_event_io_handler_t fn, void *arg)
{
	return allocation_fails() ? -ENOMEM : __real_sd_event_add_io(e, ret, fd, events, fn, arg);
}
