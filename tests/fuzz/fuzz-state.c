/*
 * A state file.  An accepted file is a set of entries, which is the same after it was written and read
 * again; a refused one leaves none.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "daemon/loop/disabled.h"
#include "model/base/nodes.h"

/* A disk would be all that is measured. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	(void)fd;
	return 0;
}

static void check_same(const struct disabled *a, const struct disabled *b)
{
	FUZZ_CHECK(a->n == b->n);
	for (size_t i = 0; i < a->n; i++)
		FUZZ_CHECK(strcmp(a->names[i], b->names[i]) == 0);
}

/* An entry is the name of a service, or "TEMPLATE NUMBER". */
static void check_entry(const char *entry)
{
	char name[CONFIG_NAME_MAX + 1];
	size_t length = strcspn(entry, " ");
	uint64_t number;

	FUZZ_CHECK(length < sizeof(name));
	(void)snprintf(name, sizeof(name), "%.*s", (int)length, entry);
	FUZZ_CHECK(!config_check_name(name));
	FUZZ_CHECK(!entry[length] ||
		   (config_is_template(name) &&
		    parse_uint(entry + length + 1, CONFIG_INSTANCES_MAX, &number) == 0));
}

static void check_names(const struct disabled *disabled)
{
	for (size_t i = 0; i < disabled->n; i++) {
		check_entry(disabled->names[i]);
		FUZZ_CHECK(disabled_has(disabled, disabled->names[i]));
		FUZZ_CHECK(i == 0 || strcmp(disabled->names[i - 1], disabled->names[i]) < 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct log log = { .fd = -1, .level = LOG_DEBUG, .name = "fuzz" };
	struct disabled first = { .n = 0 }, again = { .n = 0 };
	char path[64];
	int fd, r;

	(void)snprintf(path, sizeof(path), "fuzz-%d.state", (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FUZZ_CHECK(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size));
	(void)fd_close(fd);
	r = disabled_read(&first, path, &log);
	FUZZ_CHECK(r == 0 || (r == -EBADMSG && first.n == 0));
	check_names(&first);
	if (r == 0) {
		FUZZ_CHECK(disabled_write(&first, path) == 0);
		FUZZ_CHECK(disabled_read(&again, path, &log) == 0);
		check_same(&first, &again);
	}
	while (first.n > 0)
		FUZZ_CHECK(disabled_set(&first, first.names[first.n / 2], false) == 0);
	(void)unlink(path);
	disabled_done(&first);
	disabled_done(&again);
	return 0;
}
