#include "model/choices.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "model/settings.h"

const struct choice choices_type[] = {
	{ "simple", TYPE_SIMPLE },
	{ "oneshot", TYPE_ONESHOT },
	{},
};

const struct choice choices_restart[] = {
	{ "always", RESTART_ALWAYS },
	{ "on-failure", RESTART_ON_FAILURE },
	{ "never", RESTART_NEVER },
	{},
};

const struct choice choices_on_failed[] = {
	{ "nothing", ON_FAILED_NOTHING },
	{ "shutdown-parent", ON_FAILED_SHUTDOWN_PARENT },
	{ "shutdown", ON_FAILED_SHUTDOWN },
	{},
};

const struct choice choices_strategy[] = {
	{ "one-for-one", ONE_FOR_ONE },
	{ "one-for-all", ONE_FOR_ALL },
	{ "rest-for-one", REST_FOR_ONE },
	{},
};

const struct choice choices_exit_when[] = {
	{ "any", EXIT_WHEN_ANY },
	{ "all", EXIT_WHEN_ALL },
	{ "never", EXIT_WHEN_NEVER },
	{},
};

const struct choice choices_signal_scope[] = {
	{ "group", SIGNAL_SCOPE_GROUP },
	{ "main", SIGNAL_SCOPE_MAIN },
	{ "all", SIGNAL_SCOPE_ALL },
	{},
};

const struct choice choices_on_unhealthy[] = {
	{ "restart", ON_UNHEALTHY_RESTART },
	{ "shutdown", ON_UNHEALTHY_SHUTDOWN },
	{ "log", ON_UNHEALTHY_LOG },
	{},
};

const struct choice choices_input[] = {
	{ "inherit", OUTPUT_INHERIT },
	{ "null", OUTPUT_NULL },
	{},
};

const struct choice choices_output[] = {
	{ "inherit", OUTPUT_INHERIT },
	{ "null", OUTPUT_NULL },
	{ "journal", OUTPUT_JOURNAL },
	{ "syslog", OUTPUT_SYSLOG },
	{},
};

const struct choice choices_ready[] = {
	{ "started", PROBE_STARTED },
	{ "notify", PROBE_NOTIFY },
	{},
};

const struct choice choices_health[] = {
	{ "none", PROBE_NONE },
	{},
};

int choice_find(const struct choice *choices, const char *name, int *ret)
{
	for (const struct choice *c = choices; c->name; c++) {
		if (strcmp(name, c->name) != 0)
			continue;
		*ret = c->value;
		return 0;
	}
	return -EINVAL;
}

const char *choice_name(const struct choice *choices, int value)
{
	while (choices->name && choices->value != value)
		choices++;
	return choices->name;
}
