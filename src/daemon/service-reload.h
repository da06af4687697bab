#pragma once

/* Asking a running service to read its own configuration again. */

#include "daemon/service.h"

/* Return: 0, or -errno: -ESRCH if it does not run. */
int service_reload(struct service *service);
