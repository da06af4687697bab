#include "model/values-private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/parse.h"

/* What the instances of a template are called: a number means 1, 2, ... up to it. */

#define DIGITS_MAX 6

static int count_up(uint64_t count, char ***ret)
{
	char **names = malloc((count + 1) * sizeof(*names) + count * DIGITS_MAX);
	char *out;

	if (!names)
		return -ENOMEM;
	out = (char *)(names + count + 1);
	for (uint64_t i = 0; i < count; i++) {
		names[i] = out;
		out += snprintf(out, DIGITS_MAX, "%u", (unsigned)i + 1) + 1;
	}
	names[count] = NULL;
	*ret = names;
	return 0;
}

static int check_names(struct value *value, char *const *names, int n)
{
	if (n == 0)
		return -EINVAL;
	if (n > CONFIG_INSTANCES_MAX)
		return value_refuse(value, "names too many");
	for (int i = 0; i < n; i++) {
		if (!*names[i] || strpbrk(names[i], "/@"))
			return value_refuse(value, "has a word that is no name of an instance");
		for (int j = 0; j < i; j++) {
			if (strcmp(names[i], names[j]) == 0)
				return value_refuse(value, "names an instance twice");
		}
	}
	return 0;
}

static int value_instances(struct value *value, void *field)
{
	cleanup(freep) char **names = NULL;
	uint64_t count;
	int n, r;

	if (parse_uint(value->text, CONFIG_INSTANCES_MAX, &count) == 0) {
		r = count_up(count, &names);
	} else {
		n = value_words(value, &names);
		r = n < 0 ? n : check_names(value, names, n);
		/* A number beyond the limit is no name. */
		if (r == 0 && n == 1 && names[0][strspn(names[0], "0123456789")] == '\0')
			r = -EINVAL;
	}
	if (r < 0)
		return r;
	free(*(char ***)field);
	*(char ***)field = take(names);
	return 0;
}

/* clang-format off */
const struct value_type type_instances = { value_instances,
	"a number up to " STRINGIFY(CONFIG_INSTANCES_MAX) ", or names with blanks between them" };
/* clang-format on */
