#include "daemon/node/user.h"

#include "sys/spawn/environment.h"

/* Pause after an environment that could not be read: ten times the time that it has cost. */
#define UNREADABLE_USEC (500 * USEC_PER_MSEC)
#define EVERY_USER	((uid_t)-1)

uid_t user_of_config(const struct node_config *config)
{
	const struct credentials *credentials = &node_config_extras(config)->credentials;

	return credentials->set ? credentials->uid : geteuid();
}

/* The main process may have changed its user, and its remaining processes have that one. */
static bool user_is_of_main(const struct process *main, uid_t uid)
{
	uid_t now;

	if (main->alive)
		return proc_uid(main->pid, &now) == 0 && uid == now;
	return main->pid > 0 && uid == main->last_uid;
}

bool user_is_own(const struct node_config *config, const struct process *main, uid_t uid)
{
	return uid == user_of_config(config) || uid == node_config_extras(config)->notify_uid ||
	       (main && user_is_of_main(main, uid));
}

bool user_may_claim(const struct node_config *config, const struct process *main, uid_t uid)
{
	return uid == 0 || user_is_own(config, main, uid);
}

int user_read_claim(struct context *ctx, pid_t pid, uid_t uid,
		    char path[static CONFIG_NAME_MAX + 1])
{
	bool lost = clock_now_usec() < ctx->unreadable_usec;
	int r;

	if (lost && (ctx->unreadable_uid == uid || ctx->unreadable_uid == EVERY_USER))
		return -ENODATA;
	r = environment_read(pid, "SWANSONG_NODE", path, CONFIG_NAME_MAX + 1);
	if (r != -ETIMEDOUT)
		return r;
	ctx->unreadable_uid = lost ? EVERY_USER : uid;
	ctx->unreadable_usec = clock_add(clock_now_usec(), UNREADABLE_USEC);
	return -ENODATA;
}
