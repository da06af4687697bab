#pragma once

/* The changes of the copy, for the totals and for the clients of /events. */

#include "exporter/http/site.h"

/* For struct link_owner; the argument is the site. */
void news_take(enum link_news news, const json_t *detail, void *site);

/* For struct stream_owner, likewise. */
void news_snapshot(FILE *to, void *site);
void news_resumed(void *site);
