#include "daemon/losses.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "model/settings.h"

#define WHAT_MAX 160 /* bytes; what is longer is cut */

struct slot {
	uint64_t usec;
	char node[CONFIG_NAME_MAX + 1];
	char what[WHAT_MAX];
};

struct losses {
	uint64_t next;
	struct slot slots[LOSSES_MAX]; /* that of a number is at its remainder */
};

int losses_new(struct losses **ret)
{
	struct losses *losses = calloc(1, sizeof(*losses));

	if (!losses)
		return -ENOMEM;
	*ret = losses;
	return 0;
}

struct losses *losses_free(struct losses *losses)
{
	free(losses);
	return NULL;
}

void losses_add(struct losses *losses, const char *node, const char *format, ...)
{
	struct slot *slot;
	va_list ap;

	if (!losses)
		return;
	slot = &losses->slots[losses->next++ % LOSSES_MAX];
	slot->usec = clock_now_usec();
	(void)snprintf(slot->node, sizeof(slot->node), "%s", node);
	va_start(ap, format);
	(void)vsnprintf(slot->what, sizeof(slot->what), format, ap);
	va_end(ap);
}

bool losses_get(const struct losses *losses, size_t i, struct loss *ret)
{
	const struct slot *slot;

	if (i >= LOSSES_MAX || i >= losses->next)
		return false;
	slot = &losses->slots[(losses->next - 1 - i) % LOSSES_MAX];
	*ret = (struct loss){
		.usec = slot->usec,
		.node = slot->node,
		.what = slot->what,
	};
	return true;
}
