/* The fifth field of a line of mountinfo(5) is the mount point, with \040 for a blank. */
#include "sys/file/mount.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* In place. */
static char *mount_parse_point(char *line)
{
	char *field = NULL, *rest = line, *in, *out;

	for (int i = 0; i < 5; i++)
		field = strtok_r(i ? NULL : line, " ", &rest);
	for (in = out = field; in && *in; out++) {
		if (in[0] == '\\' && in[1] && in[2] && in[3]) {
			*out = (char)((in[1] - '0') << 6 | (in[2] - '0') << 3 | (in[3] - '0'));
			in += 4;
		} else {
			*out = *in++;
		}
	}
	if (out)
		*out = '\0';
	return field;
}

static bool mount_is_below(const char *path, const char *point)
{
	size_t length = strlen(point);

	if (strcmp(point, "/") == 0)
		return true;
	return strncmp(path, point, length) == 0 && (path[length] == '/' || !path[length]);
}

int mount_point_of(const char *path, char **ret)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	cleanup(freep) char *best = strdup("/"), *line = NULL;
	size_t size = 0;

	while (file && best && getline(&line, &size, file) > 0) {
		const char *point = mount_parse_point(line);

		if (!point || !mount_is_below(path, point) || strlen(point) < strlen(best))
			continue;
		free(best);
		best = strdup(point);
	}
	if (file)
		(void)fclose(file);
	*ret = take(best);
	return *ret ? 0 : -ENOMEM;
}
