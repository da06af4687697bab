/*
 * A table maps each signal to the signal that it is passed on as.  forward_init() fills it with the
 * signals themselves, rules overwrite entries, and forward_as() makes the exceptions that depend on
 * the sender.
 */
#include "sys/process/forward.h"

void forward_init(struct forward *forward)
{
	forward->scope = FORWARD_GROUP;
	for (int i = 0; i < FORWARD_SIGNALS; i++)
		forward->as[i] = (unsigned char)i;
	forward->as[SIGCHLD] = 0;
}

int forward_parse_scope(const char *text, enum forward_scope *ret)
{
	static const char *const names[] = {
		[FORWARD_GROUP] = "group",
		[FORWARD_MAIN] = "main",
		[FORWARD_ALL] = "all",
		NULL,
	};
	size_t i = text_index_of(text, names);

	if (!names[i])
		return -EINVAL;
	*ret = (enum forward_scope)i;
	return 0;
}

int forward_rewrite(struct forward *forward, const char *rule)
{
	const char *colon = strchr(rule, ':');
	char name[SIGNAL_TEXT_MAX];
	int from, to = 0;

	if (!colon || (size_t)(colon - rule) >= sizeof(name))
		return -EINVAL;
	(void)snprintf(name, sizeof(name), "%.*s", (int)(colon - rule), rule);
	if (parse_signal(name, &from) < 0 || from == SIGKILL || from == SIGSTOP || from == SIGCHLD)
		return -EINVAL;
	if (colon[1] && strcmp(colon + 1, "0") != 0 && parse_signal(colon + 1, &to) < 0)
		return -EINVAL;
	forward->as[from] = (unsigned char)to;
	return 0;
}

int forward_as(const struct forward *forward, int signo, pid_t sender)
{
	if ((signo == SIGPIPE || signo == SIGXFSZ) && sender == getpid())
		return 0;
	if ((signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU) &&
	    forward->as[signo] == signo && forward->scope != FORWARD_MAIN)
		return SIGSTOP;
	return signo > 0 && signo < FORWARD_SIGNALS ? forward->as[signo] : 0;
}

void forward_send(enum forward_scope scope, pid_t main, int signo,
		  const struct descendants *inherited)
{
	switch (scope) {
	case FORWARD_MAIN:
		(void)kill(main, signo);
		break;
	case FORWARD_GROUP:
		/* The command may have no group of its own, because of a session or a terminal. */
		if (kill(-main, signo) < 0)
			(void)kill(main, signo);
		break;
	case FORWARD_ALL:
		descendants_signal(main, signo, inherited);
		break;
	}
}
