#pragma once

/* The changes of the copy, for the totals and for the clients of /events. */

#include "exporter/http/site.h"

/* For struct link_owner; the argument is the site. */
void news_take(enum link_news news, const json_t *detail, void *site);

/* The object of /api/tree, with "features": {"actions", "logs": they are allowed}. */
json_t *news_tree(const struct site *site);

/* For struct event_stream_owner, likewise. */
void news_snapshot(FILE *to, void *site);
void news_left(const char *node, void *site);
/* For struct tails_owner. */
void news_line(const char *node, json_t *line, void *site);
void news_tail(void *site);
/* For struct event_stream_owner and struct actions_owner. */
void news_resumed(void *site);
