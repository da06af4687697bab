#include "daemon/node/user.h"

#include <unistd.h>

#include "sys/process/proc.h"

uid_t user_of_config(const struct node_config *config)
{
	const struct credentials *credentials = &node_config_extras(config)->credentials;

	return credentials->set ? credentials->uid : geteuid();
}

/* A program may have changed its user, and left processes that have this one. */
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
