/*
 * When a daemon is killed, the processes of its services go to process 1 or to another subreaper.
 * Processes below any running swansongd are supervised by that one; a container's are, too.
 */
#include "daemon/reap/survivors.h"

#include <string.h>
#include <unistd.h>

#include "daemon/node/user.h"
#include "sys/process/proc.h"

/* So many are named in the log. */
#define NAMED_MAX 8
/* The search for a running daemon stops after this many ancestors. */
#define ANCESTORS_MAX 64

struct survivors {
	const struct tree *tree;
	char daemon[sizeof(((struct proc_info *)NULL)->name)]; /* the name of the program */
	unsigned n;
	uid_t uid; /* the last one that was looked up, and the result */
	bool may_claim;
};

/* Returns true if a process of @uid may be one of a service: those of other users are not read. */
static bool survivors_has_user(struct survivors *survivors, uid_t uid)
{
	const struct config *config = survivors->tree->config;

	if (uid == survivors->uid)
		return survivors->may_claim;
	survivors->uid = uid;
	survivors->may_claim = false;
	for (size_t i = 0; i < config->n_nodes && !survivors->may_claim; i++)
		survivors->may_claim = user_may_claim(config->nodes[i], NULL, uid);
	return survivors->may_claim;
}

static bool survivors_has_daemon(const struct survivors *survivors, pid_t pid)
{
	struct proc_info info;

	for (int i = 0; i < ANCESTORS_MAX && proc_read(pid, &info) == 0; i++, pid = info.parent)
		if (strcmp(info.name, survivors->daemon) == 0)
			return true;
	return false;
}

static int survivors_on_process(pid_t pid, void *arg)
{
	struct survivors *survivors = arg;
	char path[CONFIG_NAME_MAX + 1];
	const struct node *node;
	struct proc_info info;
	uid_t uid;

	if (proc_uid(pid, &uid) < 0 || !survivors_has_user(survivors, uid) ||
	    user_read_claim(survivors->tree->ctx, pid, uid, path) < 0)
		return 0;
	node = tree_find(survivors->tree, path);
	if (!node || !node->service || !user_may_claim(node->config, NULL, uid) || survivors_has_daemon(survivors, pid) ||
	    proc_read(pid, &info) < 0)
		return 0;
	if (survivors->n++ < NAMED_MAX)
		log_node(survivors->tree->ctx->log, LOG_WARNING, node_name(node),
			 "pid %d (%s) is left from an earlier swansongd", (int)pid, info.name);
	return 0;
}

void survivors_warn(const struct tree *tree)
{
	struct survivors survivors = { .tree = tree, .uid = (uid_t)-1 };
	struct proc_info info;

	if (tree->ctx->cgroups || tree->ctx->command || proc_read(getpid(), &info) < 0)
		return;
	memcpy(survivors.daemon, info.name, sizeof(survivors.daemon));
	(void)proc_each(survivors_on_process, &survivors);
	if (survivors.n > 0)
		log_line(
			tree->ctx->log, LOG_WARNING,
			"%u process%s of these services left from an earlier swansongd: end %s, as "
			"the services are started beside %s",
			survivors.n, survivors.n == 1 ? "" : "es", survivors.n == 1 ? "it" : "them",
			survivors.n == 1 ? "it" : "them");
}
