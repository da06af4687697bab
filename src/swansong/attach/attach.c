/*
 * An attached program has a root, the tally of its tree (tally.c), and one thread that listens to
 * the daemon.
 *
 * The tree needs nothing of all this, and outlives it if the program keeps a node.  The tree may end on any
 * thread, also on this one, in a callback that a stop runs.  So no thread waits for this one, and there is no
 * lock.  The thread is notified of two events, by a counter that it reads: the root has become complete, and the
 * program has dropped the root.  Each thread that notifies of one does so once, and does not use the attachment
 * after it.  After both, this thread is the only one left that knows the descriptors.  It closes them, and then
 * drops its pin, which kept the root until now so that it could be stopped.  Only the page remains, for late
 * guards on the rest of the tree, and is freed with that.
 *
 * Forked processes have the tree, and nothing of the attachment: neither the thread nor the page.
 * That needs no handler here.  The page is not mapped there (MADV_DONTFORK), and the tally is zero
 * (MADV_WIPEONFORK): so it counts nothing, and the functions here see by it that they are in a
 * forked process.  The descriptors are closed there at once, so that the daemon sees the end of the
 * program that is attached and not the end of the processes that it has forked (fork.c).
 *
 * The stack of the thread has the ordinary size, as functions of the program may run on it.
 */
#include <swansong/attach.h>

#include "swansong/attach/attach-page-private.h"
#include "swansong/end/report-private.h"
#include "swansong/interrupt/channel-private.h"
#include "swansong/count/node-private.h"
#include "swansong/base/cancel-private.h"
#include "swansong/base/thread-private.h"

struct attached {
	struct attachment attachment;
	struct swansong *root; /* pinned by the thread */
	struct passed passed;
	int wake; /* an eventfd that counts events: */
	struct waiter complete;
};

#define WAKE_COMPLETE  UINT64_C(1)
#define WAKE_ABANDONED (UINT64_C(1) << 32)
#define WAKE_ALL       (WAKE_COMPLETE | WAKE_ABANDONED)

/* ---- on any thread ---- */

static bool attach_is_ours(const struct attached *a)
{
	return tally_is_live(a->attachment.tally);
}

static bool attach_on_complete(struct waiter *w)
{
	struct attached *a = container_of(w, struct attached, complete);

	if (attach_is_ours(a))
		cancel_safe_signal(a->wake, WAKE_COMPLETE);
	return false;
}

static void attach_on_abandoned(struct attachment *attachment)
{
	struct attached *a = container_of(attachment, struct attached, attachment);

	if (attach_is_ours(a)) {
		cancel_safe_signal(a->wake, WAKE_ABANDONED);
		return;
	}
	/* A forked process: does the work of the thread, which is missing here. */
	count_unwatch(a->root, &a->complete);
	node_unpin(a->root);
}

static void attach_close_wake(struct attached *a)
{
	fork_remove_fd(a->wake);
	a->wake = fd_close(a->wake);
}

/* ---- the report ---- */

#define HEADING "REPORT\n"

/*
 * Adds the line of @site, or nothing if there is no room for it.  Returns its length.  The daemon reads
 * the line, so a text of the program cannot add another one.
 */
static size_t attach_report_write_site(const struct swansong_report_site *site, uint64_t now,
				       char *buf, size_t room)
{
	uint64_t since = now > site->oldest ? now - site->oldest : 0;
	char line[512];
	int n = snprintf(line, sizeof(line), "%" PRIu64 " %" PRIu64 " %s:%u %s", site->guards,
			 since, site->file, site->line, site->function);

	if (n < 0)
		return 0;
	/* It stays one line; one that is too long is cut. */
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	n = snprintf(buf, room, "%s\n", line);
	return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

/*
 * Writes the message about the tree below @root to @buf, without NUL; returns its length.  The site
 * with the oldest guard comes first, and as many sites are written as there is room for.  Guards
 * with an unknown site are left out: the page has the number of all guards.
 */
static size_t attach_report(struct swansong *root, char buf[static PAGE_MESSAGE_MAX])
{
	size_t used = strlen(HEADING);
	struct swansong_report *report;
	uint64_t now;

	memcpy(buf, HEADING, used);
	if (report_new(root, &report) < 0)
		return used;
	now = clock_now_usec();
	for (size_t i = 0, n; i < report->n; i++, used += n) {
		n = attach_report_write_site(&report->sites[i], now, buf + used,
					     PAGE_MESSAGE_MAX - used);
		if (n == 0)
			break;
	}
	(void)swansong_report_free(report);
	return used;
}

/* ---- the thread ---- */

static void attach_send(struct attached *a, const char *message, size_t length)
{
	/* Does not wait for a daemon that does not read: a message is small. */
	(void)send(a->passed.socket, message, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Reads from the daemon.  Returns false when the daemon has closed its end. */
static bool attach_receive(struct attached *a)
{
	char buf[16];
	ssize_t n = recv(a->passed.socket, buf, sizeof(buf), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == (ssize_t)strlen("STOP") && memcmp(buf, "STOP", strlen("STOP")) == 0) {
		node_shut_down(a->root);
	} else if (n == (ssize_t)strlen("REPORT") && memcmp(buf, "REPORT", strlen("REPORT")) == 0) {
		char report[PAGE_MESSAGE_MAX];

		attach_send(a, report, attach_report(a->root, report));
	}
	return n > 0;
}

/* Waits, and returns the events that were notified. */
static uint64_t attach_wait(struct attached *a, bool *listens)
{
	struct pollfd fds[] = {
		{ .fd = a->wake, .events = POLLIN },
		{ .fd = *listens ? a->passed.socket : -1, .events = POLLIN },
	};
	eventfd_t events = 0;

	if (deadline_poll(fds, ARRAY_SIZE(fds), USEC_INFINITY) < 0)
		*listens = false; /* the limit of descriptors may be below two */
	else if (fds[1].revents)
		*listens = attach_receive(a);
	if (fds[0].revents || !*listens)
		(void)eventfd_read(a->wake, &events);
	return events;
}

static void *attach_main(void *arg)
{
	CANCEL_DISABLED_SCOPE;
	struct attached *a = arg;
	struct swansong *root = a->root;
	uint64_t events = 0;
	bool listens = true;

	while (events != WAKE_ALL) {
		uint64_t news = attach_wait(a, &listens);

		if (news & WAKE_COMPLETE)
			attach_send(a, "COMPLETE", strlen("COMPLETE"));
		events |= news;
	}
	passed_close(&a->passed);
	attach_close_wake(a);
	node_unpin(root);
	return NULL;
}

/* ---- life ---- */

static struct tally *attach_read_tally(const struct passed *p)
{
	struct tally *t =
		mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED)
		return NULL;
	if (madvise(t, sizeof(*t), MADV_WIPEONFORK) < 0) {
		(void)munmap(t, sizeof(*t));
		return NULL;
	}
	tally_init(t, p->page, p->n_lanes);
	return t;
}

/* The caller is the last one to use @a. */
static void attach_free_attached(struct attached *a)
{
	CANCEL_DISABLED_SCOPE;
	struct tally *tally = a->attachment.tally;

	if (!tally || tally_is_live(tally)) {
		passed_close(&a->passed);
		passed_unmap(&a->passed);
		attach_close_wake(a);
	}
	if (tally)
		(void)munmap(tally, sizeof(*tally));
	free(a);
}

static void attach_on_ended(struct attachment *attachment)
{
	attach_free_attached(container_of(attachment, struct attached, attachment));
}

/* Initializes @a; also on failure, attach_free_attached() undoes all of it. */
static int attach_init(struct attached *a, const struct passed *passed)
{
	int r;

	a->passed = *passed;
	a->attachment.abandoned = attach_on_abandoned;
	a->attachment.ended = attach_on_ended;
	waiter_init(&a->complete);
	a->complete.run = attach_on_complete;
	a->wake = eventfd(0, EFD_CLOEXEC);
	if (a->wake < 0)
		return -errno;
	r = fork_add_fd(a->wake, (struct owned){ CLOSED });
	if (r == 0)
		r = passed_close_in_fork(passed);
	if (r < 0)
		return r;
	a->attachment.tally = attach_read_tally(passed);
	return a->attachment.tally ? 0 : -ENOMEM;
}

/* From here on @a belongs to the root and the thread, also on failure. */
static int attach_start(struct attached *a)
{
	pthread_t thread;
	int r;

	count_pin(a->root);
	count_watch(a->root, &a->complete);
	attach_send(a, "ATTACHED", strlen("ATTACHED"));
	r = thread_start(&thread, "swansong-attach", attach_main, a);
	if (r < 0) {
		count_unwatch(a->root, &a->complete);
		node_unpin(a->root);
		return r;
	}
	(void)pthread_detach(thread);
	/* Acquire: everything that other threads did before the stop. */
	if (__atomic_load_n(&a->passed.page->stop, __ATOMIC_ACQUIRE))
		node_shut_down(a->root);
	return 0;
}

static int attach_make_root(struct passed *passed, struct swansong **ret)
{
	struct attached *a = calloc(1, sizeof(*a));
	struct swansong *root;
	int r;

	if (!a) {
		passed_close(passed);
		passed_unmap(passed);
		return -ENOMEM;
	}
	r = attach_init(a, passed);
	if (r >= 0)
		r = node_new_root(&a->attachment, &root);
	if (r < 0) {
		attach_free_attached(a);
		return r;
	}
	a->root = root;
	r = swansong_percpu_enable(root);
	if (r >= 0)
		r = attach_start(a);
	if (r < 0) {
		(void)swansong_unref(root);
		return r;
	}
	*ret = root;
	return 1;
}

int swansong_attach(struct swansong **ret)
{
	CANCEL_DISABLED_SCOPE;
	struct passed passed;
	int r = passed_take(&passed);

	if (r < 0)
		return r;
	return r == 0 ? swansong_new(ret) : attach_make_root(&passed, ret);
}
