#include "daemon/service-reload.h"

#include <errno.h>
#include <signal.h>

#include "daemon/service-signal.h"

int service_reload(struct service *s)
{
	if (!s->main.alive)
		return -ESRCH;
	service_send(s, SIGHUP, SIGNAL_MAIN);
	return 0;
}
