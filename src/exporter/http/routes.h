#pragma once

/* The replies to requests, from the copy of the tree. */

#include "exporter/http/site.h"

/* For struct server_owner; the argument is the site. */
struct MHD_Response *routes_get(struct MHD_Connection *connection, const char *path,
				unsigned *ret_status, void *site);
