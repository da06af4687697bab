#include "daemon/probe/attempt.h"

#include <stdarg.h>
#include <stdio.h>

static void end(struct probe *probe)
{
	probe->ended = true;
	probe->ops->end(probe);
	/* In the next turn: nobody is called back from inside of what he has called. */
	alarm_set(&probe->ctx->alarms, &probe->timer, 0);
}

void probe_succeed(struct probe *probe)
{
	*probe->why = '\0';
	end(probe);
}

void probe_fail(struct probe *probe, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(probe->why, sizeof(probe->why), format, ap);
	va_end(ap);
	end(probe);
}
