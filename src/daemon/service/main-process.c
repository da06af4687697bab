/*
 * Membership is proven by the control group of a process where there is one; otherwise by a pid
 * that the daemon has started, by the session or the chain of parents, and by the uid.  A change of
 * the main process (MAINPID=) exchanges the process in the service: the former one becomes a
 * remaining process.
 */
#include "daemon/service/main-process.h"

#include "daemon/node/user.h"
#include "daemon/service/signal.h"
#include "sys/process/pid-file.h"

/* The search stops after this many ancestors. */
#define ANCESTORS_MAX 64

static bool service_is_proven_process(const struct service *s, const struct process *p)
{
	return p->service == s && !p->claimed;
}

/*
 * Walks from @pid up to a known process, or to the daemon itself: a child of the daemon may belong
 * to any service.
 */
static bool service_is_descendant(const struct service *s, pid_t pid)
{
	const struct process *known;
	struct proc_info info;

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		if (proc_read(pid, &info) < 0 || info.parent == s->ctx->keeper.reaper)
			return false;
		pid = info.parent;
		known = process_find(s->ctx->processes, pid);
		if (known)
			return service_is_proven_process(s, known);
	}
	return false;
}

static const struct process *service_find_session(const struct service *s, pid_t pid)
{
	pid_t session = getsid(pid);

	return session > 0 ? process_find_leader(s->ctx->processes, session) : NULL;
}

bool service_has_member(const struct service *s, pid_t pid, uid_t uid)
{
	const struct process *p = process_find(s->ctx->processes, pid);
	const struct node_config *config = s->setup.launch.config;
	char path[CONFIG_NAME_MAX + 1], own[CONFIG_NAME_MAX + 1];

	/* The orphan may have been in the middle of an exec when it was last looked at. */
	if (p && p->blank)
		p = NULL;
	if (p && (s->group.exists || p->kind != PROCESS_REMAINING))
		return p->service == s;
	if (s->group.exists)
		return cgroups_node_of(s->ctx->cgroups, pid, path) == 0 &&
		       strcmp(path, control_group_claim(&s->group, own)) == 0;
	if (node_config_extras(config)->notify_access != NOTIFY_ACCESS_ALL &&
	    !user_is_own(config, &s->main, uid))
		return false;
	if (!p)
		p = service_find_session(s, pid);
	return p && p->service ? service_is_proven_process(s, p) : service_is_descendant(s, pid);
}

/*
 * Returns true for an orphan of unknown origin if the service itself may name it: the service could
 * send it signals without the daemon anyway.
 */
static bool service_may_name_main(const struct service *s, pid_t pid, const struct proc_info *info,
				  const struct process *known, const struct process *leader,
				  uid_t uid)
{
	const struct cgroups *cgroups = s->ctx->cgroups;
	char path[CONFIG_NAME_MAX + 1];

	if (cgroups && (s->group.exists || cgroups_node_of(cgroups, pid, path) != -ENOENT))
		return false;
	return info->parent == s->ctx->keeper.reaper &&
	       user_is_own(s->setup.launch.config, &s->main, uid) &&
	       (!known || !known->service || known->service == s) &&
	       (!leader || !leader->service || leader->service == s);
}

/*
 * The exit status goes to the parent of the process; if that is the daemon, the reaper handles the
 * exit.
 */
static int service_on_main_gone(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct service *s = arg;
	struct proc_info info;

	(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (s->setup.extras->notify)
		notify_drain(s->setup.extras->notify);
	if (s->main_gone != source ||
	    (proc_read(s->main.pid, &info) == 0 && info.parent == s->ctx->keeper.reaper))
		return 0;
	service_unwatch_main(s);
	if (s->run.outcome.kind == OUTCOME_NONE)
		s->run.outcome.kind = OUTCOME_UNKNOWN;
	/* Its orphans become children of that parent, and so are not found one by one. */
	if (fsm_is_going_down(s->state))
		control_group_signal(&s->group, s->stop_signal);
	s->main.alive = false;
	s->main.pidfd = fd_close(s->main.pidfd);
	service_update_roster(s);
	service_check_exits(s);
	return 0;
}

/*
 * Fills in @info and checks that the process may become the main one.  On success the caller owns
 * *pidfd.
 */
static int service_examine_main(struct service *s, pid_t pid, struct proc_info *info, int *pidfd,
				const char **why)
{
	const struct process *known = process_find(s->ctx->processes, pid);
	cleanup(closep) int fd = proc_open(pid);
	struct process seen = { .pidfd = fd };
	uid_t uid;

	*why = "no such process";
	if (fd < 0)
		return fd;
	if (proc_read(pid, info) < 0 || proc_uid(pid, &uid) < 0 || info->state == 'Z')
		return -ESRCH;
	*why = "not a process of the service";
	if (known && known->kind != PROCESS_REMAINING && known->kind != PROCESS_UNOWNED)
		return -EPERM;
	if (!service_has_member(s, pid, uid) &&
	    !service_may_name_main(s, pid, info, known, service_find_session(s, pid), uid))
		return -EPERM;
	/* The facts above are about the process of the descriptor only if that still exists. */
	*why = "the process has ended";
	if (process_signal(&seen, 0) == -ESRCH)
		return -ESRCH;
	*pidfd = take_fd(fd);
	return 0;
}

/* The exit of a main process that is no child of the daemon is read from its pidfd. */
static int service_watch_main(struct service *s, const struct proc_info *info, int pidfd)
{
	service_unwatch_main(s);
	if (info->parent == s->ctx->keeper.reaper)
		return 0;
	return sd_event_add_io(s->ctx->event, &s->main_gone, pidfd, EPOLLIN, service_on_main_gone,
			       s);
}

static void service_promote_main(struct service *s, pid_t pid, int pidfd,
				 const struct proc_info *info)
{
	struct process *known = process_find(s->ctx->processes, pid);
	struct swansong_guard before = s->main.guard;

	s->main.guard = swansong_guard(s->node->work);
	s->main.generation = s->node->generation;
	/* The former guard is dropped after the new one is taken, so that one is always held. */
	swansong_guard_drop(&before);
	process_free(known);
	if (info->parent == s->ctx->keeper.reaper)
		pidfd = fd_close(pidfd);
	process_add(s->ctx->processes, &s->main, pid, pidfd);
	s->main.group = info->group;
	s->main.id = ++s->ctx->last_id;
	process_name(&s->main, *info->name ? info->name : s->config->argv[0]);
	service_update_roster(s);
}

int service_set_main(struct service *s, pid_t pid, const char **why)
{
	cleanup(closep) int pidfd = -1;
	struct process *before;
	struct proc_info info;
	int r;
	struct process *main;

	*why = "the service has ended or is being stopped";
	if (!s->main.alive ||
	    (s->state != STATE_STARTING && s->state != STATE_READYING && s->state != STATE_UP))
		return -ESHUTDOWN;
	if (pid == s->main.pid)
		return 0;
	*why = "the start command has not ended";
	if (s->setup.extras->pid_watch && s->state == STATE_STARTING)
		return -EBUSY;
	r = service_examine_main(s, pid, &info, &pidfd, why);
	if (r < 0)
		return r;
	*why = strerror(ENOMEM);
	r = process_new(&before, PROCESS_REMAINING, s);
	if (r < 0)
		return r;
	r = service_watch_main(s, &info, pidfd);
	if (r < 0) {
		process_free(before);
		return r;
	}
	/* Makes the former main process a remaining process. */
	main = &s->main;
	process_add(s->ctx->processes, before, main->pid, main->pidfd);
	before->group = main->group;
	before->id = main->id;
	before->since_usec = main->since_usec;
	before->generation = main->generation;
	service_join_kept(s, before, main);
	before->guard = main->guard;
	memcpy(before->name, main->name, sizeof(before->name));
	list_append(&s->remaining, &before->by_service);
	main->pidfd = -1;
	main->guard = (struct swansong_guard){ .node = NULL };
	process_remove(main);
	service_promote_main(s, pid, take_fd(pidfd), &info);
	return 0;
}

int service_take_left(struct service *s, pid_t pid, const struct proc_info *child)
{
	cleanup(closep) int pidfd = -1;
	struct proc_info info;
	int r;

	if (child)
		info = *child;
	else if (proc_read(pid, &info) < 0)
		return -ESRCH;
	/* A child keeps its pid until it is collected. */
	if (info.parent != s->ctx->keeper.reaper) {
		struct process seen = { .pidfd = pidfd = proc_open(pid) };

		if (pidfd < 0)
			return pidfd;
		if (proc_read(pid, &info) < 0 || process_signal(&seen, 0) == -ESRCH)
			return -ESRCH;
	}
	r = service_watch_main(s, &info, pidfd);
	if (r < 0)
		return r;
	service_promote_main(s, pid, take_fd(pidfd), &info);
	return 0;
}

/* --- forking services --- */

bool service_awaits_main(const struct service *s)
{
	return s->setup.extras->pid_watch && s->state == STATE_STARTING && !s->main.alive &&
	       s->run.outcome.kind == OUTCOME_EXITED && s->run.outcome.value == 0;
}

/* A missing or empty file may still be written; one with wrong content may never be corrected. */
static void service_log_pid_file(struct service *s, int error, const char *why)
{
	if (error == 0 || error == ENOENT || error == ENOTDIR || error == ENODATA ||
	    s->run.pid_file_fault == why)
		return;
	s->run.pid_file_fault = why;
	service_log(s, LOG_WARNING, "pid-file %s refused: %s",
		    node_config_extras(s->setup.launch.config)->pid_file, why);
}

/* A control group proves the process that the file names, whichever user has written it. */
static bool service_trusts_file(const struct service *s, uid_t owner, const char **why)
{
	if (s->group.exists || user_may_claim(s->setup.launch.config, NULL, owner))
		return true;
	*why = "a file of another user than root and the user of the service: set notify-user, if the "
	       "service changes to that user itself";
	return false;
}

struct pid_file {
	const char *path;
	pid_t pid;
	uid_t owner;
	const char *why;
};

static int service_read_pid_file(void *arg)
{
	struct pid_file *file = arg;

	return pid_file_read(file->path, &file->pid, &file->owner, &file->why);
}

int service_find_main(struct service *s, const char **why)
{
	const struct extras *extras = node_config_extras(s->setup.launch.config);
	cleanup(closep) int pidfd = -1;
	struct pid_file file = { .path = extras->pid_file,
				 .why = "its file system does not answer" };
	struct proc_info info;
	uint64_t age_usec;
	int r = pid_watch_begin(s->setup.extras->pid_watch);

	*why = r == -ETIMEDOUT ? file.why : "its directory cannot be watched";
	if (r == 0) {
		r = mount_call(file.path, MOUNT_ANSWER_MSEC, service_read_pid_file, &file,
			       sizeof(file));
		*why = file.why;
		if (r == 0 && !service_trusts_file(s, file.owner, why))
			r = -EPERM;
		service_log_pid_file(s, -r, *why);
	}
	if (r == 0)
		r = service_examine_main(s, file.pid, &info, &pidfd, why);
	/* A pid from an earlier run may have come to another process of the service. */
	if (r == 0 && proc_age(file.pid, &age_usec) == 0 &&
	    age_usec > clock_now_usec() - s->run.started_usec) {
		*why = "stale: the process is older than this start";
		r = -ESTALE;
	}
	if (r == 0)
		r = service_watch_main(s, &info, pidfd);
	if (r < 0)
		return r;
	pid_watch_end(s->setup.extras->pid_watch);
	process_forget(&s->main);
	service_promote_main(s, file.pid, take_fd(pidfd), &info);
	s->run.outcome = (struct outcome){ .kind = OUTCOME_NONE };
	return 0;
}

void service_unwatch_main(struct service *s)
{
	s->main_gone = sd_event_source_disable_unref(s->main_gone);
}
