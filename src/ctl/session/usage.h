#pragma once

/* The usage of services, which this program reads from /proc itself: the daemon does not measure it. */

#include "ctl/session/session.h"
#include "sys/process/usage.h"

struct usages {
	struct snapshot snapshot;
	pid_t daemon; /* 0: unknown */
};

/* @ret->snapshot is to be released. */
void usages_take(struct ctl *ctl, struct usages *ret);

/* Returns false if @node is no service with a process, or if the usage of that is not known. */
bool usages_of(const struct usages *usages, const struct node_view *node, struct usage *ret);
bool usages_of_one(const struct ctl *ctl, const struct node_view *node, struct usage *ret);

/* "12.3M".  Returns @buf. */
#define USAGE_TEXT_MAX 32
char *usage_bytes_text(char buf[static USAGE_TEXT_MAX], uint64_t bytes);
