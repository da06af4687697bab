/*
 * Input is a queue of bytes; replies are cut at their NUL.  Only what the simulation needs of a reply is
 * looked for in its text.
 */
#include "tests/sim/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/macro.h"
#include "tests/sim/kernel.h"
#include "tests/sim/run.h"

void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);

static struct client clients[CLIENTS_MAX];
static struct {
	char *bytes;
	size_t n, room;
} partial[CLIENTS_MAX];

static void client_free(struct client *c)
{
	free(c->in);
	free(c->reply);
	partial[c - clients].n = 0;
	*c = (struct client){ .state = CLIENT_FREE };
}

void clients_init(void)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		client_free(&clients[i]);
}

struct client *client_at(unsigned i)
{
	return &clients[i];
}

struct client *client_get(void)
{
	struct client *free_one = NULL;

	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = &clients[i];

		if ((c->state == CLIENT_CONNECTED || c->state == CLIENT_QUEUED) && !c->waits &&
		    !*c->guarded)
			return c;
		if ((c->state == CLIENT_FREE || c->state == CLIENT_DROPPED) && !free_one)
			free_one = c;
	}
	if (!free_one)
		return NULL;
	client_free(free_one);
	free_one->state = CLIENT_QUEUED;
	return free_one;
}

void client_call(struct client *c, const char *method, const char *parameters, bool more)
{
	size_t room = strlen(method) + strlen(parameters) + 80, n;

	if (c->n_in + room > c->room_in) {
		c->room_in = 2 * (c->n_in + room);
		c->in = __real_realloc(c->in, c->room_in);
	}
	n = (size_t)snprintf(c->in + c->n_in, room,
			     "{\"method\":\"io.swansong.%s\",\"parameters\":{%s}%s}", method,
			     parameters, more ? ",\"more\":true" : "");
	c->n_in += n + 1;
	c->waits = true;
	c->more = more;
	c->failed = false;
	c->replies = 0;
	c->called_usec = kernel.now_usec;
	(void)snprintf(c->call, sizeof(c->call), "%s %s", method, parameters);
}

void client_leave(struct client *c)
{
	if (c->state == CLIENT_CONNECTED)
		c->state = CLIENT_LEFT;
	else if (c->state != CLIENT_LEFT)
		client_free(c);
	c->waits = false;
	*c->guarded = '\0';
}

/* --- the end of the daemon --- */

static int client_find_queued(void)
{
	for (int i = 0; i < CLIENTS_MAX; i++)
		if (clients[i].state == CLIENT_QUEUED)
			return i;
	return -1;
}

bool client_waits(void)
{
	return client_find_queued() >= 0;
}

int client_accept(void)
{
	int i = client_find_queued();

	if (i >= 0)
		clients[i].state = CLIENT_CONNECTED;
	return i;
}

uint32_t client_poll(unsigned i)
{
	const struct client *c = &clients[i];
	uint32_t events = EPOLLOUT;

	if (c->read_in < c->n_in)
		events |= EPOLLIN;
	if (c->state == CLIENT_LEFT)
		events |= EPOLLIN | EPOLLHUP | EPOLLRDHUP;
	return events;
}

ssize_t client_receive(unsigned i, void *buf, size_t size)
{
	struct client *c = &clients[i];
	size_t n = MIN(size, c->n_in - c->read_in);

	if (n == 0)
		return c->state == CLIENT_LEFT ? 0 : -EAGAIN;
	memcpy(buf, c->in + c->read_in, n);
	c->read_in += n;
	if (c->read_in == c->n_in)
		c->read_in = c->n_in = 0;
	return (ssize_t)n;
}

static void client_on_reply(struct client *c, const char *text)
{
	bool continues = strstr(text, "\"continues\":true");

	free(c->reply);
	c->reply = __real_strdup(text);
	c->replies++;
	c->failed = strstr(text, "\"error\":");
	run_facts.left |= c->failed && strncmp(c->call, "Scale", 5) == 0;
	if (!continues)
		c->waits = false;
	if (strncmp(c->call, "TakeGuard", 9) == 0 && !c->failed)
		memcpy(c->guarded, c->guarding, sizeof(c->guarded));
	else if (strncmp(c->call, "Release", 7) == 0 && !c->failed)
		*c->guarded = '\0';
}

ssize_t client_reply(unsigned i, const void *buf, size_t size)
{
	const char *end;
	size_t used = 0;

	if (clients[i].state != CLIENT_CONNECTED)
		return -EPIPE;
	if (partial[i].n + size > partial[i].room) {
		partial[i].room = 2 * (partial[i].n + size);
		partial[i].bytes = __real_realloc(partial[i].bytes, partial[i].room);
	}
	memcpy(partial[i].bytes + partial[i].n, buf, size);
	partial[i].n += size;
	while ((end = memchr(partial[i].bytes + used, '\0', partial[i].n - used))) {
		client_on_reply(&clients[i], partial[i].bytes + used);
		used = (size_t)(end - partial[i].bytes) + 1;
	}
	memmove(partial[i].bytes, partial[i].bytes + used, partial[i].n - used);
	partial[i].n -= used;
	return (ssize_t)size;
}

void client_on_close(unsigned i)
{
	if (clients[i].state == CLIENT_LEFT)
		client_free(&clients[i]);
	else if (clients[i].state == CLIENT_CONNECTED)
		clients[i].state = CLIENT_DROPPED;
	*clients[i].guarded = '\0';
}
