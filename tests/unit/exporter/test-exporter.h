#pragma once

#include "exporter/mirror/copy.h"
#include "tests/unit/fixtures/main.h"

/* Objects as the daemon sends them. */
#define SERVICE(state, more)                                          \
	",\"service\":{\"state\":\"" state                            \
	"\",\"since_usec\":5000000,\"command\":\"x\",\"ready\":true," \
	"\"restarts\":2" more "}"
#define NODE(path, state, more)                                                                   \
	"{\"path\":\"" path "\",\"generation\":1,\"state\":\"" state "\",\"since_usec\":9000000," \
	"\"guards\":1,\"ready\":true,\"forced\":false" more "}"
#define GUARD(node, generation, more)                                                       \
	"{\"id\":1,\"node\":\"" node "\",\"generation\":" generation ",\"kind\":\"lease\"," \
	"\"age_usec\":3000000" more "}"
#define EVENT(number, kind, node, from, to)                                      \
	"{\"number\":" number ",\"time_usec\":" number "000000,\"kind\":\"" kind \
	"\",\"node\":\"" node "\",\"generation\":1,\"from\":\"" from "\",\"to\":\"" to "\"}"

/* A time at which all copies are taken. */
#define TAKEN UINT64_C(1000000000)

json_t *json_of(const char *text);

/* A copy of the array @nodes of Node, as text. */
void take_nodes(struct copy *copy, const char *nodes);
void take_guards(struct copy *copy, const char *guards);
void take_events(struct copy *copy, const char *events);

TCase *copy_tests(void);
TCase *text_tests(void);
void add_access_tests(Suite *suite);
TCase *metrics_tests(void);
TCase *action_tests(void);
TCase *shown_tests(void);
TCase *stream_tests(void);
TCase *sandbox_tests(void);
void add_link_tests(Suite *suite);
void add_tail_tests(Suite *suite);
TCase *routes_tests(void);
TCase *past_tests(void);
