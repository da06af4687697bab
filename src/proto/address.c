/*
 * Without $XDG_RUNTIME_DIR the directory is in /tmp, where another user could have created it: so
 * its owner and mode are checked before use.
 */
#include "proto/address.h"

#define FALLBACK_MAX 32

static const char *address_of_variable(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

static void address_print_fallback(char buf[static FALLBACK_MAX])
{
	(void)snprintf(buf, FALLBACK_MAX, "/tmp/swansong-%u", (unsigned)geteuid());
}

int address_directory(char **ret)
{
	const char *top = geteuid() == 0 ? RUNDIR : address_of_variable("XDG_RUNTIME_DIR");
	char fallback[FALLBACK_MAX];

	address_print_fallback(fallback);
	*ret = text_format("%s%s", top ? top : fallback, top ? "/swansong" : "");
	return *ret ? 0 : -ENOMEM;
}

mode_t address_directory_mode(const char *directory)
{
	char fallback[FALLBACK_MAX];

	address_print_fallback(fallback);
	return strcmp(directory, fallback) == 0 ? 0700 : 0755;
}

int address_check(const char *path)
{
	char fallback[FALLBACK_MAX];
	size_t length;
	struct stat st;

	address_print_fallback(fallback);
	length = strlen(fallback);
	if (strncmp(path, fallback, length) != 0 || path[length] != '/')
		return 0;
	/* As /tmp is sticky, only root and the owner can replace the directory. */
	if (lstat(fallback, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077) ? 0 : -EPERM;
}

const char *address_of_root(const char *given)
{
	bool chosen = given || address_of_variable("SWANSONG_SOCKET");

	return chosen || geteuid() == 0 ? NULL : RUNDIR "/swansong/control.sock";
}

int address_find(const char *given, char **ret)
{
	cleanup(freep) char *directory = NULL;

	if (!given)
		given = address_of_variable("SWANSONG_SOCKET");
	if (given)
		*ret = strdup(given);
	else if (address_directory(&directory) == 0)
		*ret = text_format("%s/control.sock", directory);
	else
		*ret = NULL;
	return *ret ? 0 : -ENOMEM;
}
