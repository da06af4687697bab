#include "exporter/page/page.h"

/* Made by embed.awk: the texts, and their list. */
#include <exporter/page/files.inc>

#define PAGE_FILE(file, content, variable)                                             \
	{                                                                              \
		.name = (file), .type = content "; charset=utf-8", .text = (variable), \
		.size = sizeof(variable) - 1                                           \
	}

static const struct page_file files[] = { PAGE_FILES };

const struct page_file *page_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (strcmp(files[i].name, name) == 0)
			return &files[i];
	return NULL;
}
