#include "model/kinds.h"

#include <arpa/inet.h>
#include <string.h>

#include "model/settings.h"

/* How a service is known to be ready, or well. */

static bool probe_equal(const void *a, const void *b)
{
	const struct probe_config *x = a, *y = b;

	if (x->kind != y->kind || x->fd != y->fd || !kind_text.equal(&x->text, &y->text))
		return false;
	switch (x->kind) {
	case PROBE_TCP:
	case PROBE_HTTP:
		/* All else in the union is zero. */
		return memcmp(x->address, y->address, sizeof(*x->address)) == 0;
	case PROBE_EXEC:
		return kind_words.equal(&x->argv, &y->argv);
	default:
		return true;
	}
}

static void address_print(FILE *file, const union inet_address *address)
{
	char host[INET6_ADDRSTRLEN] = "";

	if (address->any.sa_family == AF_INET6) {
		(void)inet_ntop(AF_INET6, &address->in6.sin6_addr, host, sizeof(host));
		(void)fprintf(file, "tcp:[%s]:%u", host, ntohs(address->in6.sin6_port));
	} else {
		(void)inet_ntop(AF_INET, &address->in.sin_addr, host, sizeof(host));
		(void)fprintf(file, "tcp:%s:%u", host, ntohs(address->in.sin_port));
	}
}

static void probe_print(FILE *file, const void *value, const struct kind *kind)
{
	const struct probe_config *probe = value;

	(void)kind;
	switch (probe->kind) {
	case PROBE_NONE:
		(void)fputs("none", file);
		break;
	case PROBE_STARTED:
		(void)fputs("started", file);
		break;
	case PROBE_NOTIFY:
		(void)fputs("notify", file);
		break;
	case PROBE_FD:
		(void)fprintf(file, "fd:%d", probe->fd);
		break;
	case PROBE_TCP:
		address_print(file, probe->address);
		break;
	case PROBE_UNIX:
		(void)fprintf(file, "unix:%s", probe->text);
		break;
	case PROBE_HTTP:
		(void)fprintf(file, "http://%s", probe->text);
		break;
	case PROBE_EXEC:
	case PROBE_LOG:
		(void)fputs(probe->kind == PROBE_LOG ? "log:" : "exec:", file);
		for (const char *c = probe->text; *c; c++)
			(void)fputc(*c == '\n' ? ' ' : *c, file);
		break;
	}
}
const struct kind kind_probe = { .equal = probe_equal, .print = probe_print };
