#include "model/values-hook.h"

#include "base/cleanup.h"
#include "model/values-private.h"

static int value_commands(struct value *value, void *field)
{
	cleanup(freep) char **argv = NULL;
	int r = value_argv(value, &argv);

	if (r == 0)
		r = commands_add(field, argv);
	if (r == 0)
		(void)take(argv);
	return r;
}

/* clang-format off */
const struct value_type type_commands = { IN_SECTION, value_commands,
	"a program and its arguments, quoted as in a shell" };
/* clang-format on */
