#include "proto/address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *environment(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

int address_find(const char *given, char **ret)
{
	const char *directory = geteuid() == 0 ? RUNDIR : environment("XDG_RUNTIME_DIR");
	char *path;

	if (!given)
		given = environment("SWANSONG_SOCKET");
	if (given) {
		path = strdup(given);
		if (!path)
			return -ENOMEM;
	} else {
		if (!directory)
			return -ENXIO;
		if (asprintf(&path, "%s/swansong/control.sock", directory) < 0)
			return -ENOMEM;
	}
	*ret = path;
	return 0;
}
