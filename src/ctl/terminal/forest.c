/* A view is found by its path in a dictionary, which has the nodes before it only. */
#include "ctl/terminal/forest.h"

#include "base/dict.h"

DEFINE_DICT_NAME(forest_path_of, struct node_view, path)

/* Returns the last node before it with the path of the parent, or FOREST_NONE. */
static int forest_find_parent(const struct dict *paths, const struct node_view *views,
			      const char *path, size_t *ret)
{
	const char *slash = strrchr(path, '/');
	cleanup(freep) char *parent = strndup(path, slash ? (size_t)(slash - path) : 0);
	const struct node_view *found = parent && *path ? dict_find(paths, parent) : NULL;

	*ret = found ? (size_t)(found - views) : FOREST_NONE;
	return parent ? 0 : -ENOMEM;
}

int forest_new(struct forest **ret, const struct node_view *views, size_t n)
{
	cleanup(freep) struct forest *f = malloc(sizeof(*f) + n * sizeof(f->parents[0]));
	cleanup(dict_done) struct dict paths;

	dict_init(&paths, forest_path_of);
	if (!f)
		return -ENOMEM;
	f->views = views;
	for (size_t i = 0; i < n; i++) {
		if (forest_find_parent(&paths, views, views[i].path, &f->parents[i]) < 0)
			return -ENOMEM;
		dict_remove(&paths, views[i].path);
		if (dict_add(&paths, (void *)&views[i]) < 0)
			return -ENOMEM;
	}
	*ret = take(f);
	return 0;
}

const char *forest_name(const struct forest *f, size_t i)
{
	const char *path = f->views[i].path;
	const char *slash = strrchr(path, '/');

	if (!*path)
		return "root";
	return slash && f->parents[i] != FOREST_NONE ? slash + 1 : path;
}
