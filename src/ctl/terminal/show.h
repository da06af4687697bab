#pragma once

/* The words for nodes and guards, the same in every command. */

#include "ctl/terminal/screen.h"
#include "proto/node-view.h"

/* Text that is put together in a buffer.  Text without room is cut. */
struct words {
	char *buf;
	size_t size, used;
};

/* @buf is empty then. */
struct words words_in(char *buf, size_t size);

/* Adds the text, behind @separator unless it is the first one. */
void words_add(struct words *words, const char *separator, const char *format, ...)
	printf_like(3, 4);

/* "up", "shutting-down"; and how it is shown. */
#define SHOW_STATE_MAX 32
const char *show_state(char buf[static SHOW_STATE_MAX], const struct node_view *node,
		       enum style *ret_style);

void show_add_state(struct table *table, const struct node_view *node);

/* "ready", "since 3d 2h, waiting: app", "kill in 18s": the other facts about a node. */
#define SHOW_NOTE_MAX 1024
char *show_note(char buf[static SHOW_NOTE_MAX], const struct node_view *node);

/* "kill in 18s", "being killed", or nothing: the time until a guard ends by force. */
#define SHOW_KILL_MAX (CLOCK_TEXT_MAX + 16)
const char *show_kill(char buf[static SHOW_KILL_MAX], uint64_t kill_usec);

/* The time left until something is killed, or FIELD_NONE. */
uint64_t show_kill_usec(const struct node_view *node);

/* "pid 812", "pg_dump, pid 9911, postgres, \"nightly\"", "web, pid 812, 3 guards": the holder. */
char *show_holder(char buf[static SHOW_NOTE_MAX], const struct guard_view *guard);

/* "1 guard", "2 guards".  Returns @buf. */
#define SHOW_COUNT_MAX 48
char *show_count(char buf[static SHOW_COUNT_MAX], uint64_t n, const char *singular);
