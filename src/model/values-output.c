#include <errno.h>
#include <string.h>

#include "model/values-private.h"

/* One of @choices, or file: and a path. */
static int output_of(struct value *value, const struct choice *choices, struct output *output)
{
	int kind, r;

	r = choice_find(choices, value->text, &kind);
	if (r == 0) {
		output->kind = (enum output_kind)kind;
		return 0;
	}
	if (strncmp(value->text, "file:", 5) != 0)
		return r;
	r = value_check_substitutions(value);
	if (r == 0)
		r = value_check_path(value, value->text + 5);
	if (r == 0)
		r = value_copy(value->text + 5, &output->path);
	if (r == 0)
		output->kind = OUTPUT_FILE;
	return r;
}

static int value_input(struct value *value, void *field)
{
	return output_of(value, choices_input, field);
}

static int value_output(struct value *value, void *field)
{
	return output_of(value, choices_output, field);
}

/* clang-format off */
const struct value_type type_input = { value_input,
	"inherit, null, or file: and an absolute path" };
const struct value_type type_output = { value_output,
	"inherit, null, journal, syslog, or file: and an absolute path" };
/* clang-format on */
