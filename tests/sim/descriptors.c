/*
 * A table with a first free place.  Readiness is computed from the objects behind a descriptor at the
 * moment of the question: it is level-triggered, as in the loop of the daemon.
 */
#include "tests/sim/descriptors.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "tests/sim/client.h"
#include "tests/sim/group.h"
#include "tests/sim/kernel.h"

void *__real_calloc(size_t n, size_t size);

static struct descriptor table[DESCRIPTORS_MAX];
static size_t n_used; /* the places from here on are free */

static void descriptor_free(struct descriptor *d)
{
	if (d->kind == DESCRIPTOR_STREAM)
		client_on_close(d->number);
	free(d->datagrams);
	*d = (struct descriptor){ .kind = DESCRIPTOR_FREE };
}

void descriptors_init(void)
{
	for (size_t i = 0; i < n_used; i++)
		descriptor_free(&table[i]);
	n_used = 0;
}

int descriptors_open(enum descriptor_kind kind)
{
	size_t i = 0;

	while (i < n_used && table[i].kind != DESCRIPTOR_FREE)
		i++;
	if (i == DESCRIPTORS_MAX)
		return -1;
	if (i == n_used)
		n_used++;
	table[i].kind = kind;
	kernel.freed = false;
	if (kind == DESCRIPTOR_DATAGRAM)
		table[i].datagrams = __real_calloc(DATAGRAMS_MAX, sizeof(struct datagram));
	return DESCRIPTORS_FIRST + (int)i;
}

struct descriptor *descriptors_find(int fd)
{
	int i = fd - DESCRIPTORS_FIRST;

	if (i < 0 || (size_t)i >= n_used || table[i].kind == DESCRIPTOR_FREE)
		return NULL;
	return &table[i];
}

bool descriptors_close(int fd)
{
	struct descriptor *d = descriptors_find(fd);

	if (!d)
		return fd >= DESCRIPTORS_FIRST;
	descriptor_free(d);
	kernel.freed = true;
	return true;
}

int descriptors_next(enum descriptor_kind kind, int fd)
{
	size_t i = fd == 0 ? 0 : (size_t)(fd - DESCRIPTORS_FIRST) + 1;

	for (; i < n_used; i++)
		if (table[i].kind == kind)
			return DESCRIPTORS_FIRST + (int)i;
	return 0;
}

static bool descriptor_has_left_start(const struct descriptor *d)
{
	const struct row *row = kernel_find(d->pid);

	return !row || row->state != ROW_STARTING;
}

static bool descriptor_has_ended(const struct descriptor *d)
{
	const struct row *row = kernel_find(d->pid);

	return !row || !row_is_alive(row);
}

static bool set_has_news(int set)
{
	int fd = 0;

	while ((fd = descriptors_next(DESCRIPTOR_EXEC, fd))) {
		const struct descriptor *d = descriptors_find(fd);

		if (d->set == set && d->armed && descriptor_has_left_start(d))
			return true;
	}
	return false;
}

uint32_t descriptors_poll(int fd)
{
	const struct descriptor *d = descriptors_find(fd);

	if (!d)
		return 0;
	switch (d->kind) {
	case DESCRIPTOR_EPOLL:
		return set_has_news(fd) ? EPOLLIN : 0;
	case DESCRIPTOR_EXEC:
		return descriptor_has_left_start(d) ? EPOLLIN : 0;
	case DESCRIPTOR_SIGNALS:
		return kernel.pending ? EPOLLIN : 0;
	case DESCRIPTOR_LISTENER:
		return client_waits() ? EPOLLIN : 0;
	case DESCRIPTOR_STREAM:
		return client_poll(d->number);
	case DESCRIPTOR_DATAGRAM:
		return d->n_datagrams > 0 ? EPOLLIN : 0;
	case DESCRIPTOR_CLOCK:
		return kernel.clock_was_set ? EPOLLIN : 0;
	case DESCRIPTOR_PID:
		return descriptor_has_ended(d) ? EPOLLIN : 0;
	case DESCRIPTOR_PRESSURE:
		return d->number != kernel.shortages ? EPOLLPRI : 0;
	case DESCRIPTOR_WATCHES:
		return groups_have_changed() ? EPOLLIN : 0;
	default:
		return 0;
	}
}

void descriptors_execute(void)
{
	for (size_t i = 0; i < n_used; i++)
		if (table[i].kind != DESCRIPTOR_FREE && !table[i].inherited)
			descriptor_free(&table[i]);
}

void descriptors_close_inherited(void)
{
	for (size_t i = 0; i < n_used; i++)
		if (table[i].kind != DESCRIPTOR_FREE && table[i].inherited)
			descriptor_free(&table[i]);
}

unsigned descriptors_count(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < n_used; i++)
		n += table[i].kind != DESCRIPTOR_FREE;
	return n;
}
