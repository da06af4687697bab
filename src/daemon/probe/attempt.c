/*
 * A result is never reported inside the function that finds it: the timer of the attempt, set to
 * the present time, reports it from the event loop.
 */
#include "daemon/probe/attempt.h"

static void probe_end(struct probe *probe)
{
	probe->ended = true;
	probe->ops->end(probe);
	alarm_set(&probe->ctx->alarms, &probe->timer, 0);
}

void probe_succeed(struct probe *probe)
{
	*probe->why = '\0';
	probe_end(probe);
}

void probe_fail(struct probe *probe, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(probe->why, sizeof(probe->why), format, ap);
	va_end(ap);
	probe_end(probe);
}
