#include "model/graph.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memstream.h"

/*
 * Every node N is two vertices, start(N) and ready(N), and an arrow says "needs":
 *
 *	ready(N) ─▶ start(N)			nothing is ready that was not started
 *	start(child) ─▶ start(parent)		a node's start is that of all in it
 *	ready(parent) ─▶ ready(child)		it is ready when all in it is
 *	start(A) ─▶ ready(B)			for an edge A -> B of the configuration
 *
 * A circle of arrows can never come to be.  Without the last kind there is none, so that every
 * circle has an edge to be named by.
 *
 * The stop is the start backwards: what must be ready before A starts is signalled after A is
 * Complete.  "B term-after A" says that of the stop alone; it is an arrow like that of an edge A ->
 * B, and a circle with such an arrow could start, but not end.
 *
 * The search is depth first with a stack of its own.  An arrow to a vertex on the stack closes a
 * circle.  It is reported, its topmost edge is marked as broken, and the search is taken back to
 * where that edge begins and goes on without it: what is finished then is free of further circles.
 */

enum side { SIDE_START, SIDE_READY };
enum colour { WHITE, ON_STACK, FINISHED };

#define NOBODY	    SIZE_MAX
#define STEPS_SHOWN 40

struct vertex {
	size_t node;
	enum side side;
};

struct frame {
	struct vertex vertex;
	bool inside;	/* the arrow to the same node, or its parent, was followed */
	bool at_edge;	/* the last arrow followed is that of an edge */
	enum edge kind; /* ... of this kind */
	struct node_config *const *edge; /* the next one of it to follow */
	size_t child;			 /* SIDE_READY: the next child to follow */
};

struct graph {
	const struct config *config;
	struct diag *diag;
	unsigned char *colours[SIDE_READY + 1];
	size_t *first_child, *next_sibling;
	struct node_config **before; /* for each node who is term-after it, and a NULL */
	size_t *first_before;	     /* where a node's begin in there */
	struct frame *stack;
	size_t depth;
};

static void graph_done(struct graph *g)
{
	free(g->colours[SIDE_START]);
	free(g->colours[SIDE_READY]);
	free(g->first_child);
	free(g->next_sibling);
	free(g->before);
	free(g->first_before);
	free(g->stack);
}

/* Turns the edges of term-after round. */
static int graph_init_before(struct graph *g)
{
	const struct config *config = g->config;
	size_t n = config->n_nodes, total = 0;

	for (size_t i = 0; i < n; i++) {
		for (struct node_config **to = node_config_edges(config->nodes[i], EDGE_TERM_AFTER);
		     to && *to; to++, total++)
			g->first_before[(*to)->index]++;
	}
	g->before = calloc(n + total, sizeof(struct node_config *));
	if (!g->before)
		return -ENOMEM;
	/* From how many to where they end, which filling them in turns into where they begin. */
	for (size_t i = 0, end = 0; i < n; i++) {
		end += g->first_before[i];
		g->first_before[i] = end++;
	}
	for (size_t i = n; i-- > 0;) {
		for (struct node_config **to = node_config_edges(config->nodes[i], EDGE_TERM_AFTER);
		     to && *to; to++)
			g->before[--g->first_before[(*to)->index]] = config->nodes[i];
	}
	return 0;
}

static int graph_init(struct graph *g, const struct config *config, struct diag *diag)
{
	size_t n = config->n_nodes;

	*g = (struct graph){
		.config = config,
		.diag = diag,
		.colours = { calloc(n, 1), calloc(n, 1) },
		.first_child = calloc(n, sizeof(*g->first_child)),
		.next_sibling = calloc(n, sizeof(*g->next_sibling)),
		.first_before = calloc(n, sizeof(*g->first_before)),
		.stack = calloc(2 * n, sizeof(*g->stack)),
	};
	if (!g->colours[SIDE_START] || !g->colours[SIDE_READY] || !g->first_child ||
	    !g->next_sibling || !g->first_before || !g->stack)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		g->first_child[i] = g->next_sibling[i] = NOBODY;
	for (size_t i = n; i-- > 1;) {
		size_t parent = config->nodes[i]->parent->index;

		g->next_sibling[i] = g->first_child[parent];
		g->first_child[parent] = i;
	}
	return graph_init_before(g);
}

static struct node_config *const *graph_edges(const struct graph *g, size_t node, enum edge kind)
{
	if (kind == EDGE_TERM_AFTER)
		return g->before + g->first_before[node];
	return node_config_edges(g->config->nodes[node], kind);
}

static bool graph_next_ready(const struct graph *g, struct frame *f, struct vertex *ret)
{
	if (!f->inside) {
		f->inside = true;
		f->child = g->first_child[f->vertex.node];
		*ret = (struct vertex){ f->vertex.node, SIDE_START };
		return true;
	}
	if (f->child == NOBODY)
		return false;
	*ret = (struct vertex){ f->child, SIDE_READY };
	f->child = g->next_sibling[f->child];
	return true;
}

static bool graph_next_start(const struct graph *g, struct frame *f, struct vertex *ret)
{
	size_t index = f->vertex.node;
	const struct node_config *parent = g->config->nodes[index]->parent;

	if (!f->inside) {
		f->inside = true;
		f->edge = graph_edges(g, index, f->kind);
		if (parent) {
			*ret = (struct vertex){ parent->index, SIDE_START };
			return true;
		}
	}
	f->at_edge = true;
	while (!f->edge || !*f->edge) {
		if (++f->kind == N_EDGES)
			return false;
		f->edge = graph_edges(g, index, f->kind);
	}
	*ret = (struct vertex){ (*f->edge++)->index, SIDE_READY };
	return true;
}

/* The next vertex that the frame's one needs. */
static bool graph_next(const struct graph *g, struct frame *f, struct vertex *ret)
{
	return f->vertex.side == SIDE_READY ? graph_next_ready(g, f, ret)
					    : graph_next_start(g, f, ret);
}

/* "a requires b/x, which is in b": @f's edge, and how its end hangs together with @next's begin. */
static void graph_write_edge(const struct graph *g, FILE *out, const struct frame *f,
			     const struct frame *next)
{
	static const char *const words[N_EDGES] = {
		[EDGE_REQUIRES] = "requires",
		[EDGE_WANTS] = "wants",
		[EDGE_AFTER] = "after",
		[EDGE_TERM_AFTER] = "ends before (term-after)",
	};
	const struct node_config *from = g->config->nodes[f->vertex.node];
	const struct node_config *to = f->edge[-1];
	const struct node_config *onward = g->config->nodes[next->vertex.node];

	(void)fprintf(out, "%s %s %s", node_config_section(from), words[f->kind],
		      node_config_section(to));
	if (to != onward)
		(void)fprintf(out, ", which %s %s",
			      node_config_is_within(to, onward) ? "is in" : "holds",
			      node_config_section(onward));
}

/* The edge of @f is where it is reported: in the section that has it. */
static void graph_add_mistake(const struct graph *g, const struct frame *f, bool at_the_stop,
			      const char *steps)
{
	static const char *const names[N_EDGES] = {
		[EDGE_REQUIRES] = "requires",
		[EDGE_WANTS] = "wants",
		[EDGE_AFTER] = "after",
		[EDGE_TERM_AFTER] = "term-after",
	};
	const struct node_config *node =
		f->kind == EDGE_TERM_AFTER ? f->edge[-1] : g->config->nodes[f->vertex.node];
	struct place place = { .file = node->place.file, .line = node->edges->lines[f->kind] };

	diag_add(g->diag, DIAG_ERROR, place,
		 "[%s] %s: a circle that could never %s, allowed without one of its steps: %s",
		 node_config_section(node), names[f->kind], at_the_stop ? "end" : "start", steps);
}

/*
 * The edges from @bottom, which is one, to the top of the stack, and round again.  Return: is one
 * of them about the stop alone?
 */
static bool graph_write_circle(const struct graph *g, FILE *out, size_t bottom)
{
	const struct frame *first = &g->stack[bottom], *last = first;
	bool at_the_stop = first->kind == EDGE_TERM_AFTER;
	size_t n = 1;

	for (size_t i = bottom + 1; i < g->depth; i++) {
		const struct frame *f = &g->stack[i];

		if (!f->at_edge)
			continue;
		at_the_stop |= f->kind == EDGE_TERM_AFTER;
		if (n <= STEPS_SHOWN) {
			graph_write_edge(g, out, last, f);
			(void)fputs("; ", out);
		}
		last = f;
		n++;
	}
	if (n > STEPS_SHOWN + 1)
		(void)fprintf(out, "and %zu more; ", n - STEPS_SHOWN - 1);
	graph_write_edge(g, out, last, first);
	return at_the_stop;
}

/* The frames from @bottom to the top of the stack are a circle. */
static int graph_report(const struct graph *g, size_t bottom)
{
	cleanup(freep) char *text = NULL;
	const struct frame *first;
	struct memstream m;
	bool at_the_stop;
	int r = memstream_open(&m);

	if (r < 0)
		return r;
	while (!g->stack[bottom].at_edge)
		bottom++;
	first = &g->stack[bottom];
	at_the_stop = graph_write_circle(g, m.file, bottom);
	r = memstream_close(&m, &text);
	if (r < 0)
		return r;

	graph_add_mistake(g, first, at_the_stop, text);
	return 0;
}

/* Back to where the topmost edge begins. */
static void graph_break(struct graph *g)
{
	for (; !g->stack[g->depth - 1].at_edge; g->depth--) {
		struct vertex v = g->stack[g->depth - 1].vertex;

		g->colours[v.side][v.node] = WHITE;
	}
}

static void graph_push(struct graph *g, struct vertex v)
{
	g->colours[v.side][v.node] = ON_STACK;
	g->stack[g->depth++] = (struct frame){ .vertex = v };
}

static int graph_close(struct graph *g, struct vertex v)
{
	size_t bottom = g->depth - 1;
	int r;

	while (g->stack[bottom].vertex.node != v.node || g->stack[bottom].vertex.side != v.side)
		bottom--;
	r = graph_report(g, bottom);
	graph_break(g);
	return r;
}

/* Everything that @v needs, until DIAG_MAX circles are found.  Return: 0 or -ENOMEM. */
static int graph_search(struct graph *g, struct vertex v, size_t *circles)
{
	int r;

	if (g->colours[v.side][v.node] != WHITE)
		return 0;
	graph_push(g, v);
	while (g->depth > 0 && *circles < DIAG_MAX) {
		struct frame *top = &g->stack[g->depth - 1];

		if (!graph_next(g, top, &v)) {
			g->colours[top->vertex.side][top->vertex.node] = FINISHED;
			g->depth--;
		} else if (g->colours[v.side][v.node] == WHITE) {
			graph_push(g, v);
		} else if (g->colours[v.side][v.node] == ON_STACK) {
			(*circles)++;
			r = graph_close(g, v);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

int graph_check(const struct config *config, struct diag *diag)
{
	cleanup(graph_done) struct graph g;
	size_t circles = 0;
	int r = graph_init(&g, config, diag);

	/* What is ready must have started: from the ready sides everything is met. */
	for (size_t i = 0; r == 0 && i < config->n_nodes && circles < DIAG_MAX; i++)
		r = graph_search(&g, (struct vertex){ i, SIDE_READY }, &circles);
	return r;
}
