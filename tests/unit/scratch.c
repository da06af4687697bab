#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "main.h"

char directory[64];

void make_directory(void)
{
	(void)snprintf(directory, sizeof(directory), "/tmp/test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
	(void)umask(022);
}

void remove_directory(void)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

void write_file(const char *name, const char *text, size_t size)
{
	FILE *f = fopen(name, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, size, f), size);
	ck_assert_int_eq(fclose(f), 0);
}
