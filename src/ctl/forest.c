#include "ctl/forest.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* "web/nginx" gives "web", "web" gives "", and "", of which there is no parent, NULL. */
static char *parent_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!*path)
		return NULL;
	return strndup(path, slash ? (size_t)(slash - path) : 0);
}

/* The last node so far with that path. */
static int find(struct hsearch_data *paths, const struct node_view *views, const char *path,
		size_t *ret)
{
	ENTRY *found;

	if (!hsearch_r((ENTRY){ .key = (char *)path }, FIND, &found, paths))
		return -ENOENT;
	*ret = (size_t)((const struct node_view *)found->data - views);
	return 0;
}

static int remember(struct hsearch_data *paths, const struct node_view *view)
{
	ENTRY *entry;

	if (!hsearch_r((ENTRY){ .key = (char *)view->path }, ENTER, &entry, paths))
		return -ENOMEM;
	entry->data = (void *)view;
	return 0;
}

static void append(struct forest *f, size_t i, size_t parent, size_t *last_root)
{
	size_t *last = parent == FOREST_NONE ? last_root : &f->nodes[parent].last_child;
	size_t *first = parent == FOREST_NONE ? &f->first : &f->nodes[parent].first_child;

	f->nodes[i].parent = parent;
	if (*last == FOREST_NONE)
		*first = i;
	else
		f->nodes[*last].next = i;
	*last = i;
}

static int build(struct forest *f, struct hsearch_data *paths)
{
	size_t last_root = FOREST_NONE;

	for (size_t i = 0; i < f->n; i++) {
		cleanup(freep) char *path = parent_path(f->views[i].path);
		size_t parent = FOREST_NONE;

		if (!path && *f->views[i].path)
			return -ENOMEM;
		if (path)
			(void)find(paths, f->views, path, &parent);
		append(f, i, parent, &last_root);
		if (remember(paths, &f->views[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

int forest_new(struct forest **ret, const struct node_view *views, size_t n)
{
	cleanup(freep) struct forest *f = malloc(sizeof(*f) + n * sizeof(f->nodes[0]));
	struct hsearch_data paths = {};
	int r;

	if (!f)
		return -ENOMEM;
	*f = (struct forest){ .views = views, .n = n, .first = FOREST_NONE };
	for (size_t i = 0; i < n; i++)
		f->nodes[i] =
			(struct forest_node){ FOREST_NONE, FOREST_NONE, FOREST_NONE, FOREST_NONE };
	if (!hcreate_r(n * 2 + 1, &paths))
		return -ENOMEM;
	r = build(f, &paths);
	hdestroy_r(&paths);
	if (r < 0)
		return r;
	*ret = take(f);
	return 0;
}

size_t forest_next(const struct forest *f, size_t i)
{
	if (f->nodes[i].first_child != FOREST_NONE)
		return f->nodes[i].first_child;
	while (i != FOREST_NONE && f->nodes[i].next == FOREST_NONE)
		i = f->nodes[i].parent;
	return i == FOREST_NONE ? FOREST_NONE : f->nodes[i].next;
}

const char *forest_name(const struct forest *f, size_t i)
{
	const char *path = f->views[i].path;
	const char *slash = strrchr(path, '/');

	if (!*path)
		return "root";
	return slash && f->nodes[i].parent != FOREST_NONE ? slash + 1 : path;
}
