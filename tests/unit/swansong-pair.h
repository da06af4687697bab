#pragma once

/* What tests of the library begin with: a root and a node below it. */

#include <poll.h>

#include "main.h"
#include "swansong/swansong.h"

static struct swansong *root, *child;

static inline void make_pair(void)
{
	ck_assert_int_eq(swansong_new(&root), 0);
	ck_assert_int_eq(swansong_child(root, &child), 0);
}

static inline void drop_pair(void)
{
	child = swansong_unref(child);
	root = swansong_unref(root);
}

static inline bool is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	ck_assert_int_ge(fd, 0);
	return poll(&p, 1, 0) == 1;
}
