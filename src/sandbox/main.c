/*
 * swansong-sandbox: the daemon executes it in place of a service's command, with the user of the service and
 * the capabilities of the daemon.  It makes what the options ask for, gives the capabilities up, and executes
 * the command: one process throughout.  Its failure goes by the pipe of the daemon, as that of a
 * child does (sys/spawn/child.h), and with its subject to standard error, the output of the service.
 *
 * The program can be run by hand as well.
 */

#include <linux/capability.h>

#include "sandbox/calls.h"
#include "sandbox/files.h"
#include "sandbox/mounts.h"
#include "sys/spawn/child-attributes.h"
#include "sys/spawn/child.h"
#include "sys/spawn/spawn.h"

#define NAME "swansong-sandbox"

struct sandbox {
	struct options options;
	struct mounts mounts;
	struct spawn_block block;
	bool unmounted; /* the kernel refuses a mount namespace */
};

/* With best-effort, refusals of the kernel are skipped; a path that is missing is none. */
static bool sandbox_may_skip(const struct sandbox *s, int error)
{
	return option_is(&s->options, SANDBOX, "best-effort") &&
	       (error == EPERM || error == EACCES || error == ENOSYS || error == EOPNOTSUPP ||
		error == EINVAL || error == ENOSPC || error == EUSERS);
}

static void sandbox_check(struct sandbox *s, enum spawn_step step, int r)
{
	const char *subject = s->mounts.subject ? s->mounts.subject : "";

	if (r == 0)
		return;
	(void)fprintf(stderr, NAME ": cannot %s: %s%s%s\n", spawn_step_text(step), subject,
		      *subject ? ": " : "", strerror(-r));
	s->block.step = step;
	if (!sandbox_may_skip(s, -r))
		child_exit(&s->block, r);
	s->block.failure.skipped |= UINT64_C(1) << step;
	child_report(&s->block, &s->block.failure);
	s->unmounted |= step == SPAWN_STEP_MOUNTS;
}

static void sandbox_mount(struct sandbox *s)
{
	const struct options *o = &s->options;
	struct mounts *m = &s->mounts;

	if (!mounts_are_needed(o))
		return;
	sandbox_check(s, SPAWN_STEP_MOUNTS, mounts_enter(m));
	if (s->unmounted)
		return;
	sandbox_check(s, SPAWN_STEP_WRITE_PATHS, mounts_keep(m));
	if (option_is_set(o, READ_ONLY_SYSTEM))
		sandbox_check(s, SPAWN_STEP_READ_ONLY_SYSTEM, mounts_make_read_only(m));
	sandbox_check(s, SPAWN_STEP_PROTECT, mounts_protect_kernel(m));
	sandbox_check(s, SPAWN_STEP_WRITE_PATHS, mounts_restore_above(m));
	sandbox_check(s, SPAWN_STEP_PRIVATE_DEVICES, mounts_cover(m, PRIVATE_DEVICES));
	sandbox_check(s, SPAWN_STEP_PRIVATE_TMP, mounts_cover(m, PRIVATE_TMP));
	sandbox_check(s, SPAWN_STEP_HIDE_HOME, mounts_cover(m, HIDE_HOME));
	sandbox_check(s, SPAWN_STEP_WRITE_PATHS, mounts_restore(m));
}

/* The capabilities that the daemon's child would have had, by the same functions. */
static void sandbox_drop_capabilities(struct sandbox *s)
{
	struct attributes attributes = ATTRIBUTES_NONE;
	uint64_t lost = 0;
	unsigned lowered = 0;
	long r;

	attributes.capabilities = option_number(&s->options, CAPABILITIES, CAPABILITIES_KEEP);
	if (option_is_set(&s->options, PRIVATE_DEVICES))
		lost = UINT64_C(1) << CAP_MKNOD | UINT64_C(1) << CAP_SYS_RAWIO;
#define CAPABILITY_ROW(word, cap) lost |= (uint64_t)option_protects(&s->options, word) << (cap);
#include <base/protections.inc>
	if (lost && attributes.capabilities == CAPABILITIES_KEEP && geteuid() == 0)
		attributes.capabilities = attributes_read_permitted();
	if (attributes.capabilities != CAPABILITIES_KEEP)
		attributes.capabilities &= ~lost;
	r = child_attributes_before_user(&attributes, &s->block.step, &lowered);
	if (attributes.capabilities == CAPABILITIES_KEEP && geteuid() != 0)
		attributes.capabilities = 0;
	if (r == 0)
		r = child_attributes_as_user(&attributes, &s->block.step);
	if (r < 0)
		child_exit(&s->block, r);
}

/* The directory is that of the mounts that are seen now. */
static void sandbox_enter_directory(struct sandbox *s, const char *directory)
{
	if (option_is(&s->options, DIRECTORY, "any") && (!directory || access(directory, X_OK) < 0))
		directory = "/";
	s->mounts.subject = directory;
	sandbox_check(s, SPAWN_STEP_DIRECTORY, !directory || chdir(directory) < 0 ? -errno : 0);
}

/* Whether Landlock limits writing.  A read-only system is made by mounts, and by Landlock where they are refused. */
static bool sandbox_limits_writing(const struct sandbox *s)
{
	if (option_is_set(&s->options, READ_ONLY_SYSTEM))
		return option_is(&s->options, READ_ONLY_SYSTEM, "yes") && s->unmounted;
	return option_is_set(&s->options, WRITE_PATHS);
}

static bool sandbox_limits_calls(const struct options *o)
{
	return option_is_set(o, SYSTEM_CALLS) || option_is_set(o, PROTECT) ||
	       option_is_set(o, ADDRESS_FAMILIES);
}

static bool sandbox_has_filters(const struct sandbox *s)
{
	const struct options *o = &s->options;

	return sandbox_limits_writing(s) || option_is_set(o, READ_PATHS) ||
	       option_is_set(o, TCP_BIND) || option_is_set(o, TCP_CONNECT) ||
	       option_is_set(o, PRIVATE_DEVICES) || sandbox_limits_calls(o);
}

static _Noreturn void sandbox_run(struct sandbox *s)
{
	const struct options *o = &s->options;
	const char *directory = getcwd(NULL, 0);
	const char **subject = &s->mounts.subject;

	sandbox_check(s, SPAWN_STEP_WRITE_PATHS, options_add_directories(&s->options));
	if (option_is_set(o, PRIVATE_NETWORK))
		sandbox_check(s, SPAWN_STEP_NETWORK, mounts_make_network(&s->mounts));
	sandbox_mount(s);
	if (option_is_set(o, PRIVATE_USERS))
		sandbox_check(s, SPAWN_STEP_PRIVATE_USERS, mounts_make_users(&s->mounts));
	/* As in systemd: programs with set-user-ID are those of root alone then. */
	if (sandbox_has_filters(s) &&
	    !(geteuid() == 0 && mounts_has_right() &&
	      option_number(o, CAPABILITIES, CAPABILITIES_KEEP) >> CAP_SYS_ADMIN & 1))
		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	*subject = NULL;
	if (option_is_set(o, READ_PATHS))
		sandbox_check(s, SPAWN_STEP_READ_PATHS, files_limit_reading(o, subject));
	if (sandbox_limits_writing(s))
		sandbox_check(s, SPAWN_STEP_WRITE_PATHS, files_limit_writing(o, subject));
	if (option_is_set(o, TCP_BIND) || option_is_set(o, TCP_CONNECT))
		sandbox_check(s, SPAWN_STEP_TCP, files_limit_ports(o, subject));
	sandbox_enter_directory(s, directory);
	sandbox_drop_capabilities(s);
	for (char **v = o->variables; v < o->argv - 1; v++)
		(void)putenv(*v);
	*subject = NULL;
	if (sandbox_limits_calls(o))
		sandbox_check(s, SPAWN_STEP_SYSTEM_CALLS, calls_limit(o, subject));
	s->block.step = SPAWN_STEP_EXEC;
	s->block.spec = (struct spawn_spec){ .argv = o->argv, .envp = environ };
	child_exit(&s->block, child_execute(&s->block));
}

int main(int argc, char **argv)
{
	static struct sandbox s;
	const char *wrong = argc < 1 ? "" : options_parse(&s.options, argv + 1);

	/* Linux before 6.14 names a process by the number of the descriptor that it has executed. */
	(void)prctl(PR_SET_NAME, NAME);
	(void)fd_close((int)option_number(&s.options, PROGRAM, (uint64_t)-1));
	s.mounts.options = &s.options;
	s.block.report = (int)option_number(&s.options, REPORT, (uint64_t)-1);
	if (fcntl(s.block.report, F_SETFD, FD_CLOEXEC) < 0)
		s.block.report = -1;
	if (wrong) {
		(void)fprintf(stderr,
			      NAME
			      ": invalid argument '%s': expected --KEY=VALUE..., --, a command\n",
			      wrong);
		s.block.step = SPAWN_STEP_SANDBOX;
		child_exit(&s.block, -EINVAL);
	}
	sandbox_run(&s);
}
