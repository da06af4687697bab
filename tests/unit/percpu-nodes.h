#pragma once

/* Included before a test (-include): all its nodes count their guards for each processor apart. */

#include "swansong/node.h"

static inline int swansong_new_percpu(struct swansong **ret)
{
	struct swansong *s;
	int r = swansong_new(&s);

	if (r < 0)
		return r;
	r = swansong_percpu_enable(s);
	if (r < 0)
		s = swansong_unref(s);
	else
		*ret = s;
	return r;
}

static inline int swansong_child_percpu(struct swansong *parent, struct swansong **ret)
{
	struct swansong *s;
	int r = swansong_child(parent, &s);

	if (r < 0)
		return r;
	r = swansong_percpu_enable(s);
	if (r < 0)
		s = swansong_unref(s);
	else
		*ret = s;
	return r;
}

#define swansong_new   swansong_new_percpu
#define swansong_child swansong_child_percpu
