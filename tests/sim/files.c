/* A table that is searched from the beginning; texts are kept from one history to the next for their room. */
#include "tests/sim/files.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"

static struct {
	char path[FILES_PATH], text[FILES_TEXT];
} files[FILES_MAX];
static size_t n_files;
static struct {
	char path[FILES_PATH];
} writes[16];
static unsigned n_writes;

void files_init(void)
{
	n_files = 0;
	n_writes = 0;
}

static size_t files_find(const char *path)
{
	size_t i = 0;

	while (i < n_files && strcmp(files[i].path, path) != 0)
		i++;
	return i;
}

const char *files_text(const char *path)
{
	size_t i = files_find(path);

	return i < n_files ? files[i].text : NULL;
}

void files_write(const char *path, const char *text)
{
	size_t i = files_find(path);

	if (i == FILES_MAX)
		return;
	n_files = MAX(n_files, i + 1);
	(void)snprintf(files[i].path, FILES_PATH, "%s", path);
	(void)snprintf(files[i].text, FILES_TEXT, "%s", text);
	(void)snprintf(writes[n_writes++ % ARRAY_SIZE(writes)].path, FILES_PATH, "%s", path);
}

unsigned files_count_writes(void)
{
	return n_writes;
}

const char *files_written(unsigned number)
{
	return writes[number % ARRAY_SIZE(writes)].path;
}
