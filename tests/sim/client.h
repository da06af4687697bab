#pragma once

/*
 * Clients of the control socket.  Each has one connection, and one call at a time.  A client sends
 * bytes and reads replies; it never looks into the daemon.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/types.h>

#define CLIENTS_MAX 24

enum client_state {
	CLIENT_FREE,
	CLIENT_QUEUED, /* not accepted */
	CLIENT_CONNECTED,
	CLIENT_LEFT,	/* has closed its end; the daemon has not noticed */
	CLIENT_DROPPED, /* the daemon has closed its end */
};

struct client {
	enum client_state state;
	char *in; /* bytes that the daemon has not read */
	size_t n_in, read_in, room_in;
	bool waits;  /* for the reply of its call */
	bool more;   /* the call is one that goes on */
	bool failed; /* the last reply was an error */
	char *reply; /* the last one, or NULL */
	char call[160];
	uint64_t called_usec;

	/* A guard that it holds, as its replies show. */
	char guarded[64];  /* the path; "": none */
	char guarding[64]; /* the path of the guard that its call requests */
	unsigned beyond;   /* turns for which it was held beyond the end of its node */
	unsigned replies;  /* of the present call */
};

void clients_init(void);

/* Returns a client without a call, connected or waiting to be; NULL: there is none. */
struct client *client_get(void);

struct client *client_at(unsigned i);

/* Sends the call, with parameters as JSON. */
void client_call(struct client *client, const char *method, const char *parameters, bool more);

/* Closes its end of the connection. */
void client_leave(struct client *client);

/* --- the end of the daemon --- */

bool client_waits(void);
/* Return: the number of a client that was waiting, or -1. */
int client_accept(void);
uint32_t client_poll(unsigned i);
/* Return: as recv(2), with -errno. */
ssize_t client_receive(unsigned i, void *buf, size_t size);
/* Bytes of replies from the daemon.  Return: as send(2), with -errno. */
ssize_t client_reply(unsigned i, const void *buf, size_t size);
void client_on_close(unsigned i);
