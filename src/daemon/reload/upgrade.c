/*
 * The output of the rehearsal is in a memory file: its last line has the version, or the reason of a failure.  The
 * call of crash_replace() is inside the turn, as any turn may end with a fault: the next image derives the rest.
 */
#include "daemon/reload/upgrade.h"

#include "sys/file/tail.h"
#include "sys/spawn/crash.h"

static void upgrade_refuse(struct upgrade *u, const char *format, ...) printf_like(2, 3);

static void upgrade_refuse(struct upgrade *u, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(u->text, sizeof(u->text), format, args);
	va_end(args);
	u->state = UPGRADE_REFUSED;
	u->program = fd_close(u->program);
	log_line(u->closer.ctx->log, LOG_ERR, "not upgraded: %s", u->text);
	context_update_soon(u->closer.ctx);
}

/* --- the rehearsal --- */

/* In the child. */
static int upgrade_execute(void *arg)
{
	const struct upgrade *u = arg;

	if (dup2(u->output, STDOUT_FILENO) < 0 || dup2(u->output, STDERR_FILENO) < 0)
		return -errno;
	return crash_rehearse(u->program, u->tree->config->tape);
}

int upgrade_rehearse(const struct roster *roster)
{
	(void)puts(roster ? "swansongd " PACKAGE_VERSION " can take over"
			  : PACKAGE_VERSION " has another format of what has to go on");
	return fflush(stdout) == 0 && roster ? 0 : 1;
}

static void upgrade_on_ended(struct closer *closer)
{
	struct upgrade *u = container_of(closer, struct upgrade, closer);
	static const char prefix[] = "swansongd: "; /* of a log line */
	char text[UPGRADE_TEXT_MAX], *line = text;

	tail_read_line(u->output, text, sizeof(text));
	if (strstr(text, prefix))
		line = strstr(text, prefix) + strlen(prefix);
	u->output = fd_close(u->output);
	if (u->state != UPGRADE_REHEARSAL)
		return;
	if (closer->error || sscanf(line, "swansongd %31s can take over", u->text) != 1) {
		upgrade_refuse(u, "the new program cannot take over: %s",
			       *line			    ? line
			       : closer->error == EIO	    ? "it was killed by a signal"
			       : closer->error == ETIMEDOUT ? "it does not end its rehearsal"
			       : closer->error		    ? strerror(closer->error)
							    : "it is no swansongd");
		return;
	}
	u->state = UPGRADE_REHEARSED;
	alarm_set(&closer->ctx->alarms, &u->alarm,
		  clock_add(clock_now_usec(), UPGRADE_TIMEOUT_USEC));
	context_update_soon(closer->ctx);
}

/* Return: the program, or -errno; -EPERM: another user may change it. */
static int upgrade_open_program(const char *text)
{
	struct path path;
	struct stat st;
	int r = path_find(&path, text, PATH_FIND), fd = -1;

	if (r == 0 && *path.doubt.at)
		r = -EPERM;
	if (r == 0 && (fd = openat(path.directory, path.name, O_PATH | O_NOFOLLOW | O_CLOEXEC)) < 0)
		r = -errno;
	if (r == 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)))
		r = -EACCES;
	else if (r == 0 &&
		 ((st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & (S_IWGRP | S_IWOTH))))
		r = -EPERM;
	path_done(&path);
	return r == 0 ? fd : (fd_close(fd), r);
}

void upgrade_begin(struct upgrade *u)
{
	struct context *ctx = u->closer.ctx;
	char path[PATH_MAX];
	int r;

	if (u->closer.process.alive)
		return;
	u->program = fd_close(u->program);
	if (!ctx->roster) {
		upgrade_refuse(u, "in front of a command, and without memory for the roster, "
				  "swansongd cannot be replaced");
		return;
	}
	r = proc_program(getpid(), path);
	if (r == 0)
		r = u->program = mount_answers(path) ? upgrade_open_program(path) : -ETIMEDOUT;
	if (r == -EPERM)
		upgrade_refuse(u, "%s: another user than root may change it", path);
	else if (r < 0)
		upgrade_refuse(u, "%s: %s", path, strerror(-r));
	if (r < 0)
		return;
	u->output = memfd_create("rehearsal", MFD_CLOEXEC);
	u->state = UPGRADE_REHEARSAL;
	closer_call_until(&u->closer, u->output < 0 ? NULL : upgrade_execute, u,
			  clock_now_usec() + UPGRADE_TIMEOUT_USEC);
}

/* --- the upgrade --- */

/* Returns a node that the upgrade has to wait for, or NULL: nodes with a row in the roster go on. */
static const struct node *upgrade_find_busy(const struct upgrade *u)
{
	const struct process *hook = process_find_kind(u->closer.ctx->processes, PROCESS_HOOK);
	struct node *root = u->tree->root;

	if (hook)
		return hook->service ? hook->service->node : root;
	for (struct node *n = root; n; n = node_next(n, root))
		if (n->service && n->service->main.alive && !n->service->place)
			return n;
	return NULL;
}

void upgrade_carry_out(struct upgrade *u)
{
	const struct node *busy = upgrade_find_busy(u);
	int r;

	if (busy && u->alarm.usec != USEC_INFINITY)
		return;
	alarm_stop(&u->closer.ctx->alarms, &u->alarm);
	if (busy) {
		upgrade_refuse(u, "%s is starting or stopping", node_name(busy));
		return;
	}
	r = crash_replace(u->program, PACKAGE_VERSION);
	upgrade_refuse(u, "the new program cannot be executed: %s", strerror(-r));
}

void upgrade_init(struct upgrade *u, struct tree *tree, const struct crash_history *former)
{
	*u = (struct upgrade){ .tree = tree, .program = -1, .output = -1 };
	closer_init(&u->closer, tree->ctx, upgrade_on_ended);
	alarm_init(&u->alarm, NULL);
	if (former->reason == CRASH_REPLACED) {
		(void)snprintf(u->from, sizeof(u->from), "%.*s", CRASH_VERSION_MAX,
			       former->version);
	} else if (former->reason != CRASH_NONE) {
		u->state = UPGRADE_REFUSED;
		(void)snprintf(u->text, sizeof(u->text),
			       "%s had a fault: " PACKAGE_VERSION " goes on",
			       former->reason == CRASH_UNDONE ? "the new program" : "swansongd");
	}
}

void upgrade_settle(struct upgrade *u)
{
	crash_settle();
	u->state = UPGRADE_DONE;
	context_update_soon(u->closer.ctx);
}

void upgrade_done(struct upgrade *u)
{
	if (!u->tree)
		return;
	alarm_stop(&u->closer.ctx->alarms, &u->alarm);
	closer_done(&u->closer);
	u->program = fd_close(u->program);
	u->output = fd_close(u->output);
}
