/*
 * Connections are looked for at the end of each part of drain-quiet.  A watch of the sockets that the
 * daemon holds would not do: the loop drops an event if the service has accepted the connection first.
 */
#include "daemon/demand/quiet.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"

#define PARTS 4 /* of drain-quiet: a connection counts up to one of them longer */

/* Begins to watch the ports of the present run. */
static int quiet_begin(struct service *s)
{
	in_port_t ports[NODE_CONFIG_PORTS_MAX];
	size_t n = node_config_ports(s->setup.config, ports);

	return n == 0 ? -EDESTADDRREQ : arrivals_begin(&s->calls->arrivals, ports, n);
}

/* At the begin, and at the end of each part. */
static int quiet_update(struct service *s, uint64_t quiet)
{
	struct calls *c = s->calls;
	uint64_t now = clock_now_usec();
	int r = c->draining ? arrivals_look(&c->arrivals) : quiet_begin(s);

	if (r > 0 || !c->draining)
		c->last_usec = now;
	c->draining = true;
	if (r < 0)
		return r;
	if (now - c->last_usec < quiet) {
		calls_begin_period(c, MIN(quiet / PARTS, c->last_usec + quiet - now));
	} else {
		char time[CLOCK_TEXT_MAX];

		calls_end_period(c);
		service_log(s, LOG_INFO, "drain-delay ends early: no connection for %s",
			    clock_text(time, quiet));
		service_post(s, EVENT_TIMEOUT);
	}
	return 0;
}

bool quiet_process(struct service *s)
{
	struct calls *c = s->calls;
	uint64_t quiet = node_config_extras(s->config)->drain_quiet_usec;
	int r = 0;

	if (s->state != STATE_DRAINING || quiet == 0) {
		if (c->draining)
			calls_end_drain(c);
		return false;
	}
	if (!c->draining)
		calls_end_period(c); /* of another use */
	if (!c->draining || c->expired)
		r = quiet_update(s, quiet);
	if (r == 0)
		return true;
	calls_end_period(c);
	service_log(s, LOG_WARNING, "drain-quiet has no effect: its connections cannot be seen: %s",
		    strerror(-r));
	return true;
}
