#include "swansong-model.h"

struct model_node nodes[NODES];
struct model_guard guards[GUARDS + INTERRUPTS];
struct model_completion completions[COMPLETIONS];
struct model_interrupt interrupts[INTERRUPTS];

static bool is_below(int n, int top)
{
	while (n != NONE && n != top)
		n = nodes[n].parent;
	return n == top;
}

unsigned int depth_of(int n)
{
	unsigned int depth = 0;

	for (; n != NONE; n = nodes[n].parent)
		depth++;
	return depth;
}

uint64_t guards_below(int top)
{
	uint64_t count = 0;

	for each (g, guards)
		count += guards[g].held && is_below(guards[g].node, top);
	return count;
}

enum swansong_state state_of(int n)
{
	if (!nodes[n].stopped)
		return SWANSONG_RUNNING;
	return guards_below(n) ? SWANSONG_SHUTTING_DOWN : SWANSONG_COMPLETE;
}

bool is_kept(int n)
{
	bool kept = nodes[n].handles > 0;

	for each (g, guards)
		kept |= guards[g].held && guards[g].node == n;
	for each (c, completions)
		kept |= completions[c].used && completions[c].node == n;
	for each (m, nodes)
		kept |= nodes[m].alive && nodes[m].parent == n;
	return kept;
}

static bool is_watched(int n)
{
	for each (i, interrupts)
		if (interrupts[i].used && interrupts[i].node == n)
			return true;
	return false;
}

void model_settle(void)
{
	bool died;

	for each (c, completions)
		if (completions[c].used && state_of(completions[c].node) == SWANSONG_COMPLETE)
			completions[c].done = true;
	do {
		died = false;
		for each (n, nodes)
			if (nodes[n].alive && !is_kept(n)) {
				nodes[n].alive = false;
				nodes[n].parent = NONE;
				died = true;
			}
	} while (died);
	for each (n, nodes)
		nodes[n].used = nodes[n].alive || is_watched(n);
}

void model_stop(int top)
{
	for each (n, nodes)
		if (nodes[n].alive && is_below(n, top))
			nodes[n].stopped = true;
	model_settle();
}
