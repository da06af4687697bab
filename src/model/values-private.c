#include "model/values-private.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "model/substitute.h"

int value_refuse(struct value *value, const char *why)
{
	value->why = why;
	return -EINVAL;
}

int value_copy(const char *text, char **field)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

int value_words(struct value *value, char ***field)
{
	int n = parse_words(value->text, field);

	if (n == -EINVAL)
		return value_refuse(value, "has an open quote or ends with a backslash");
	return n;
}

int value_check_substitutions(struct value *value)
{
	return substitute_check(value->text)
		       ? value_refuse(value, "has a % that is none of %n, %i and %%")
		       : 0;
}

int value_check_path(struct value *value, const char *path)
{
	if (*path != '/')
		return value_refuse(value, "is no absolute path");
	if (strlen(path) >= PATH_MAX)
		return value_refuse(value, "is longer than a path can be");
	return 0;
}

int value_substituted_words(struct value *value, char ***field)
{
	int r = value_check_substitutions(value);

	return r < 0 ? r : value_words(value, field);
}

int value_argv(struct value *value, char ***ret)
{
	cleanup(freep) char **argv = NULL;
	int r = value_substituted_words(value, &argv);

	if (r < 0)
		return r;
	if (r == 0 || !*argv[0])
		return value_refuse(value, "names no program");
	*ret = take(argv);
	return 0;
}
