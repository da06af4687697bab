#include "daemon/probe/foreign.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/cgroup/delegation.h"
#include "daemon/node/user.h"
#include "sys/process/proc.h"

/*
 * Most often nothing listens when a service starts, and then nothing is looked at later.  Else the
 * sockets are compared when a probe succeeds; only if there is no new one are the processes searched
 * that hold them, once for the same sockets.
 */

/* So many descriptors are looked at, once a run; that takes some 20 ms. */
#define SEARCH_MAX 5000

void foreign_begin(struct foreign *f, const struct probe_config *config)
{
	foreign_end(f);
	if (config->kind == PROBE_TCP || config->kind == PROBE_HTTP)
		(void)listeners_find(&config->address->any, &f->before);
}

void foreign_end(struct foreign *f)
{
	f->before.n = f->refused.n = 0;
}

static bool foreign_contains_all(const struct listeners *some, const struct listeners *all)
{
	for (unsigned i = 0; i < some->n; i++)
		if (!listeners_have(all, some->inodes[i]))
			return false;
	return true;
}

struct search {
	struct context *ctx;
	const struct node_config *node;
	const struct process *main;
	pid_t holder; /* the first foreign one; 0: none is seen */
};

static bool foreign_is_own(const struct search *search, pid_t pid)
{
	const struct process *process = process_find(search->ctx->processes, pid);
	char path[CONFIG_NAME_MAX + 1];
	struct proc_info info;
	uid_t uid;

	if (process && process->service)
		return process->service == search->main->service;
	/* The daemon holds the sockets of `listen`. */
	if (pid == getpid())
		return node_config_extras(search->node)->n_listen > 0;
	if (search->ctx->cgroups && cgroups_node_of(search->ctx->cgroups, pid, path) == 0 &&
	    strcmp(path, search->node->path) == 0)
		return true;
	if (proc_read(pid, &info) == 0 && info.session == search->main->pid)
		return true;
	return proc_uid(pid, &uid) == 0 && user_may_claim(search->node, search->main, uid) &&
	       user_read_claim(search->ctx, pid, uid, path) == 0 &&
	       strcmp(path, search->node->path) == 0;
}

static bool foreign_on_holder(pid_t pid, void *arg)
{
	struct search *search = arg;

	if (foreign_is_own(search, pid))
		return true;
	if (!search->holder)
		search->holder = pid;
	return false;
}

bool foreign_answers(struct foreign *f, struct context *ctx, const struct node_config *node,
		     const struct process *main)
{
	struct search search = { .ctx = ctx, .node = node, .main = main };
	unsigned budget = SEARCH_MAX;
	struct listeners now;
	int r;

	if (f->before.n == 0 || listeners_find(&node->ready.address->any, &now) < 0 || now.n == 0 ||
	    !foreign_contains_all(&now, &f->before))
		return false;
	if (f->refused.n > 0 && foreign_contains_all(&now, &f->refused))
		return true;
	r = listeners_each_holder(&now, &budget, foreign_on_holder, &search);
	/* A holder that was not reached may be its own. */
	if (r == 1 || (r < 0 && !search.holder))
		return false;
	if (f->refused.n == 0) {
		unsigned port = ntohs(values_inet_port(search.node->ready.address));
		struct proc_info info;
		char holder[96];

		if (!search.holder)
			(void)snprintf(holder, sizeof(holder), "a process of uid %u", now.uid);
		else if (proc_read(search.holder, &info) < 0)
			(void)snprintf(holder, sizeof(holder), "pid %d", (int)search.holder);
		else
			(void)snprintf(holder, sizeof(holder), "pid %d (%s)", (int)search.holder,
				       info.name);
		log_node(search.ctx->log, LOG_WARNING, search.node->path,
			 "not ready: port %u is held by %s, which is not of this service", port,
			 holder);
	}
	f->refused = now;
	return true;
}
