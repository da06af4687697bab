/*
 * A ring without allocation: memory may be short when processes have to be killed.
 */
#include "daemon/loop/forced-kills.h"

void forced_kills_add(struct forced_kills *kills, const char *node, const char *format, ...)
{
	struct forced_kill *kill = &kills->latest[kills->next++ % FORCED_KILLS_MAX];
	va_list ap;

	kill->usec = clock_now_usec();
	(void)snprintf(kill->node, sizeof(kill->node), "%s", node);
	va_start(ap, format);
	(void)vsnprintf(kill->what, sizeof(kill->what), format, ap);
	va_end(ap);
}

bool forced_kills_get(const struct forced_kills *kills, size_t i, struct forced_kill *ret)
{
	if (i >= FORCED_KILLS_MAX || i >= kills->next)
		return false;
	*ret = kills->latest[(kills->next - 1 - i) % FORCED_KILLS_MAX];
	return true;
}
