#include "model/values-hook.h"

#include <errno.h>
#include <string.h>

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

static int value_exit_when(struct value *value, void *field)
{
	return choice_find(choices_exit_when, value->text, field);
}

static int value_exit_on_signal(struct value *value, void *field)
{
	bool pass_on = strcmp(value->text, "128+n") == 0;

	if (!pass_on && strcmp(value->text, "0") != 0)
		return -EINVAL;
	*(bool *)field = pass_on;
	return 0;
}

/* clang-format off */
const struct value_type type_commands = { value_commands,
	"a program and its arguments, quoted as in a shell" };
const struct value_type type_exit_when = { value_exit_when, "any, all or never" };
const struct value_type type_exit_on_signal = { value_exit_on_signal, "0 or 128+n" };
/* clang-format on */
