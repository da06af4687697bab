/*
 * Commands that are scripts, which run this program for their parts, or talk to the daemon themselves.  The
 * options are arguments of theirs.
 */

#include "ctl/commands/cmd.h"
#include "proto/address.h"

/* Executes @script, or the one that the environment has in @variable instead. */
static int support_execute(struct ctl *ctl, const char *variable, const char *script,
			   const char **args)
{
	const char *chosen = getenv(variable);
	cleanup(freep) char *self = realpath("/proc/self/exe", NULL);

	if ((self && setenv("SWANSONGCTL", self, true) < 0) ||
	    (ctl->options.socket && setenv("SWANSONG_SOCKET", ctl->options.socket, true) < 0))
		return ctl_fail(ctl, -errno);
	args[0] = chosen ? chosen : script;
	(void)execv(args[0], (char *const *)(uintptr_t)args);
	return ctl_refuse(ctl, CTL_FAILED, "cannot run %s: %s%s%s", args[0], strerror(errno),
			  chosen ? "" : ": install it, or name it by ", chosen ? "" : variable);
}

int cmd_support_dump(struct ctl *ctl, int argc, char **argv)
{
	const char *args[] = { NULL, argv[0], NULL };

	return support_execute(ctl, "SWANSONG_SUPPORT_DUMP", PKGLIBEXECDIR "/support-dump", args);
}

int cmd_security(struct ctl *ctl, int argc, char **argv)
{
	const struct option_words *configs = &ctl->options.configs;
	cleanup(freep) const char **args = calloc(2 * configs->n + 4, sizeof(*args));
	size_t n = 1;

	if (!args)
		return ctl_fail(ctl, -ENOMEM);
	for (size_t i = 0; i < configs->n; i++) {
		args[n++] = "--config";
		args[n++] = configs->words[i];
	}
	if (ctl->options.json)
		args[n++] = "--json";
	args[n] = argv[0];
	return support_execute(ctl, "SWANSONG_SECURITY", PKGLIBEXECDIR "/security", args);
}

int cmd_rehearse(struct ctl *ctl, int argc, char **argv)
{
	const struct options *o = &ctl->options;
	cleanup(freep) char *address = NULL;
	char settle[24];
	const char *args[8] = { NULL, "--settle-usec", settle };
	size_t n = 3;
	int r = address_find(o->socket, &address);

	if (r < 0 || setenv("SWANSONG_SOCKET", address, true) < 0)
		return ctl_fail(ctl, r < 0 ? r : -errno);
	(void)snprintf(settle, sizeof(settle), "%" PRIu64, o->settle_usec);
	if (o->dry_run)
		args[n++] = "--dry-run";
	if (o->json)
		args[n++] = "--json";
	if (o->quiet)
		args[n++] = "--quiet";
	args[n] = argv[0];
	return support_execute(ctl, "SWANSONG_REHEARSE", PKGLIBEXECDIR "/rehearse", args);
}

static int support_draw_plot(struct ctl *ctl, const struct past *past, int argc, char **argv)
{
	const char *args[] = { NULL, past->path, NULL };

	return support_execute(ctl, "SWANSONG_PLOT", PKGLIBEXECDIR "/plot", args);
}

int cmd_plot(struct ctl *ctl, int argc, char **argv)
{
	return blame_run(ctl, argc, argv, support_draw_plot);
}
