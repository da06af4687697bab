/*
 * CLONE_VM: a copy of the memory of a large daemon costs several times what the rest of a start
 * does.  Without CLONE_VFORK, which spawn() alone uses, nothing suspends the parent.  The child has
 * a block of its own (sys/spawn/block.h), and its descriptors by a message or in a copy of the table: the
 * parent may close what it has given.
 *
 * glibc has no wrapper for clone3, and a plain syscall() cannot return twice on one stack: so
 * assembler switches to the child's function, on known architectures.  On others, and where a
 * sandbox refuses clone3, glibc's clone() does the same by the older call.
 */
#include "sys/spawn/spawn.h"

#include "sys/spawn/child.h"
#include "sys/spawn/raw.h"

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif
#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ULL
#endif

static SPAWN_PLAIN int spawn_run_child(void *arg)
{
	child_run(arg);
}

/* The kernel's struct clone_args of Linux 5.7, whose header is not everywhere. */
struct clone3_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	uint64_t set_tid, set_tid_size, cgroup;
};

#if defined(__x86_64__)
#define HAVE_CLONE3_SWITCH
static long spawn_clone3_switch(struct clone3_args *args, int (*fn)(void *), void *arg)
{
	long ret = SYS_clone3;
	register int (*call)(void *) __asm__("r12") = fn;
	register void *with __asm__("r13") = arg;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r13, %%rdi\n\t"
			 "call *%%r12\n\t"
			 "hlt\n"
			 "1:"
			 : "+a"(ret)
			 : "D"(args), "S"(sizeof(*args)), "r"(call), "r"(with)
			 : "rcx", "r11", "memory", "cc");
	return ret;
}
#elif defined(__aarch64__)
#define HAVE_CLONE3_SWITCH
static long spawn_clone3_switch(struct clone3_args *args, int (*fn)(void *), void *arg)
{
	register long x0 __asm__("x0") = (long)args;
	register long x1 __asm__("x1") = sizeof(*args);
	register long x8 __asm__("x8") = SYS_clone3;
	register int (*call)(void *) __asm__("x19") = fn;
	register void *with __asm__("x20") = arg;

	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, #0\n\t"
			 "mov x0, x20\n\t"
			 "blr x19\n\t"
			 "brk #1\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x1), "r"(x8), "r"(call), "r"(with)
			 : "memory", "cc");
	return x0;
}
#endif

/* See sys/spawn/child-attributes.c. */
static int spawn_flags(const struct spawn_block *block)
{
	const struct attributes *a = block->spec.attributes;
	bool own = block->spec.own_memory || block->spec.work || block->spec.input ||
		   (a && a->oom_score_adjust != ATTRIBUTE_KEEP);

	return (SPAWN_SHARES_MEMORY && !own ? CLONE_VM : 0) | (block->suspends ? CLONE_VFORK : 0) |
	       (block->sibling ? CLONE_PARENT : 0);
}

#ifdef HAVE_CLONE3_SWITCH
static int spawn_clone3_start(struct spawn_block *block)
{
	int group = block->spec.cgroup;
	struct clone3_args args = {
		.flags = (uint64_t)spawn_flags(block) | CLONE_CLEAR_SIGHAND |
			 (block->shares ? CLONE_FILES : 0) | (group > 0 ? CLONE_INTO_CGROUP : 0),
		.exit_signal =
			block->sibling ? 0 : SIGCHLD, /* a sibling has that of this process */
		.stack = (uint64_t)(uintptr_t)block,
		.stack_size = (uint64_t)(spawn_block_stack(block) - (char *)block),
		.cgroup = group > 0 ? (uint64_t)group : 0,
	};

	block->inside = group > 0;
	block->reset = true;
	return (int)spawn_clone3_switch(&args, spawn_run_child, block);
}
#else
static int spawn_clone3_start(struct spawn_block *block)
{
	return -ENOSYS;
}
#endif

/* The errors of CLONE_INTO_CGROUP in clone(2), and of Linux before 5.7. */
static bool spawn_is_refused_group(const struct spawn_spec *spec, int error)
{
	return spec->cgroup > 0 && (error == -EACCES || error == -EBUSY || error == -EOPNOTSUPP ||
				    error == -ENODEV || error == -EBADF);
}

static int spawn_clone(struct spawn_block *block)
{
	int r = spawn_clone3_start(block);

	/* The older kernels know fewer flags (EINVAL) or a shorter struct (E2BIG). */
	if (r == -ENOSYS || r == -EPERM || r == -E2BIG || r == -EINVAL) {
		block->inside = block->reset = false;
		spawn_block_drop(block);
		r = clone(spawn_run_child, spawn_block_stack(block), spawn_flags(block) | SIGCHLD,
			  block);
		if (r < 0)
			r = -errno;
	}
	if (!spawn_is_refused_group(&block->spec, r))
		return r;
	block->error = -r;
	block->spec.cgroup = 0;
	return spawn_clone(block);
}

static int spawn_make(const struct spawn_spec *spec, struct spawn_pool *pool, bool suspends,
		      struct spawning *ret, int *error)
{
	struct spawn_block *block;
	int report[2] = { -1, -1 }, r;

	/* Without descriptors a stop still runs its commands. */
	if (pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0 && errno != EMFILE && errno != ENFILE)
		return -errno;
	r = spawn_block_new(&block, pool, spec);
	if (r == 0) {
		block->report = report[1];
		block->suspends = suspends;
		block->sibling = pool->siblings;
		block->shares = !suspends && spawn_block_send(block);
		r = spawn_clone(block);
		*error = block->error;
		block->error = 0;
		if (r < 0) {
			spawn_block_drop(block);
			block = spawn_block_free(block, pool);
		}
	}
	(void)fd_close(report[1]);
	if (r < 0) {
		(void)fd_close(report[0]);
		return r;
	}
	*ret = (struct spawning){ .pid = r, .fd = report[0], .block = block };
	return 0;
}

int spawn_begin(const struct spawn_spec *spec, struct spawn_pool *pool, struct spawning *ret,
		int *error)
{
	return spawn_make(spec, pool, false, ret, error);
}

/* The end of the pipe comes after the last use of the memory, by an exec and by an exit alike. */
int spawn_check(struct spawning *s, struct spawn_pool *pool, struct spawn_failure *failure,
		int *error)
{
	struct spawn_failure news;
	ssize_t n = 0;

	*error = 0;
	if (!s->block)
		return 0;
	while (s->fd >= 0 && (n = read(s->fd, &news, sizeof(news))) == sizeof(news)) {
		if (news.step == SPAWN_STEP_CGROUP)
			s->block->error = news.error;
		else {
			news.lowered |= s->block->failure.lowered;
			s->block->failure = news;
		}
	}
	if (n < 0)
		return SPAWN_E_PENDING;
	*failure = s->block->failure;
	*error = s->block->error;
	s->fd = fd_close(s->fd);
	s->block = spawn_block_free(s->block, pool);
	return failure->step == SPAWN_STEP_NONE ? 0 : SPAWN_E_CHILD;
}

void spawn_note_death(const struct spawning *s)
{
	if (s->block)
		spawn_block_drop(s->block);
}

void spawn_abandon(struct spawning *s)
{
	if (s->block)
		s->fd = fd_close(s->fd);
	s->block = NULL;
}

enum spawn_step spawn_step_of(const struct spawning *s)
{
	return s->block && s->fd >= 0 ? s->block->step : SPAWN_STEP_NONE;
}

/* The parent is suspended: where no descriptor is left for a pipe, the outcome is known as well. */
int spawn(const struct spawn_spec *spec, pid_t *pid, struct spawn_failure *failure)
{
	struct spawn_pool pool = { 0 };
	struct spawning s;
	int error, r = spawn_make(spec, &pool, true, &s, &error);

	if (r < 0)
		return r;
	do {
		struct pollfd p = { .fd = s.fd, .events = POLLIN };

		if (s.fd >= 0)
			(void)poll(&p, 1, -1);
		r = spawn_check(&s, &pool, failure, &error);
	} while (r == SPAWN_E_PENDING);
	if (r == 0)
		*pid = s.pid;
	spawn_pool_done(&pool);
	return r;
}

const char *spawn_step_text(enum spawn_step step)
{
	static const char *const texts[] = {
#define STEP(name, text) text,
		SPAWN_STEPS(STEP)
#undef STEP
	};

	return texts[step];
}
