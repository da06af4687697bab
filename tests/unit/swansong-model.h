#pragma once

/*
 * What the library is to do, as simple as can be: it counts nothing in advance, and looks at the whole
 * tree for each answer.  What is taken and dropped is written down here, beside what the library has
 * given for it (real), and then settled.
 */

#include "main.h"
#include "swansong/swansong.h"

#define NODES	    30
#define GUARDS	    40
#define COMPLETIONS 20
#define INTERRUPTS  20
#define NONE	    (-1)

struct model_node {
	bool used; /* alive, or seen by an interrupt */
	bool alive;
	bool stopped;
	int parent;
	unsigned int handles;
	struct swansong *real; /* as many references as handles */
};

struct model_guard {
	bool held;
	int node;
	struct swansong_guard real; /* not if it is the interrupt's own */
};

struct model_completion {
	bool used;
	bool done; /* latched */
	int node;
	unsigned int calls;
	struct swansong_completion *real;
};

struct model_interrupt {
	bool used;
	int node;
	int guard; /* of the guards, or NONE */
	struct swansong_interrupt *real;
};

extern struct model_node nodes[NODES];
extern struct model_guard guards[GUARDS + INTERRUPTS]; /* those of interrupts at the end */
extern struct model_completion completions[COMPLETIONS];
extern struct model_interrupt interrupts[INTERRUPTS];

#define each(i, array) (int i = 0; i < (int)(sizeof(array) / sizeof((array)[0])); i++)

/* How many nodes there are from @n up to its root. */
unsigned int depth_of(int n);

/* How many guards are held on @top and below it, and what state follows from that. */
uint64_t guards_below(int top);
enum swansong_state state_of(int n);

/* Whether anything keeps it alive. */
bool is_kept(int n);

/* What follows from any change: deaths, up the tree, and completions. */
void model_settle(void);

/* All that is alive below @top is stopped, and settled. */
void model_stop(int top);
