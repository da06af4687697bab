#pragma once

/*
 * Descriptors of the simulated world.  Their numbers are above those of real files, so a call that
 * the world does not serve reaches the real kernel with a number that is not open there.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DESCRIPTORS_FIRST 0x1000000
#define DESCRIPTORS_MAX	  4096

enum descriptor_kind {
	DESCRIPTOR_FREE,
	DESCRIPTOR_NULL,     /* open, and never ready */
	DESCRIPTOR_FILE,     /* a text that is read */
	DESCRIPTOR_EPOLL,    /* a set of DESCRIPTOR_EXEC */
	DESCRIPTOR_EXEC,     /* ready when @pid has left its start */
	DESCRIPTOR_SIGNALS,  /* ready while signals for the daemon are pending */
	DESCRIPTOR_LISTENER, /* ready while a client waits */
	DESCRIPTOR_STREAM,   /* a connection with client @number */
	DESCRIPTOR_DATAGRAM, /* of messages to @name */
	DESCRIPTOR_PID,	     /* ready when process @pid has ended */
	DESCRIPTOR_CLOCK,    /* ready when the clock was set */
	DESCRIPTOR_GROUP,    /* control group @number */
	DESCRIPTOR_PRESSURE, /* ready after each period in which memory was short */
	DESCRIPTOR_WATCHES,  /* ready when a watched group has changed */
};

#define DATAGRAM_MAX  256
#define DATAGRAMS_MAX 16

struct datagram {
	pid_t sender;
	char text[DATAGRAM_MAX];
};

struct descriptor {
	enum descriptor_kind kind;
	pid_t pid;
	unsigned number;
	const char *text; /* DESCRIPTOR_FILE */
	size_t offset;
	char name[32];
	struct datagram *datagrams; /* DESCRIPTOR_DATAGRAM */
	size_t n_datagrams;
	int set;       /* DESCRIPTOR_EXEC: the one in which it is watched; 0: none */
	uint64_t data; /* of the watch */
	bool armed;
	bool locked;	/* DESCRIPTOR_GROUP */
	bool inherited; /* the next image of the daemon has it: it is not CLOEXEC */
};

/* Closes all. */
void descriptors_init(void);

/* Returns a descriptor of the kind; -1: there is none left. */
int descriptors_open(enum descriptor_kind kind);

/* Returns the object, or NULL if @fd is none of the world. */
struct descriptor *descriptors_find(int fd);

/* Returns true if it was one of the world. */
bool descriptors_close(int fd);

/* Returns the next open descriptor of the kind after @fd, which is 0 at first; 0: none. */
int descriptors_next(enum descriptor_kind kind, int fd);

/* Returns the events of epoll(7) that hold for @fd. */
uint32_t descriptors_poll(int fd);

/* Closes those that are not inherited, or the others: those that the next image does not know. */
void descriptors_execute(void);
void descriptors_close_inherited(void);

/* The number that are open. */
unsigned descriptors_count(void);
