/* An attached program as it is shown, and after a fault of the daemon.  A child plays the program. */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/page.h"
#include "daemon/guard/attach.h"
#include "daemon/loop/roster.h"

static struct attach *attach;
static int file;
static pid_t program;

static void setup(void)
{
	file = memfd_create("roster", MFD_CLOEXEC);
	begin("[web]\ncommand = x\n");
	ck_assert_int_eq(roster_new(&ctx.roster, file), 0);
	ck_assert_int_eq(attach_new(&attach, find("web")), 0);
}

static void teardown(void)
{
	attach_free(attach);
	if (program > 0)
		ck_assert_int_eq(waitpid(program, NULL, 0), program);
	ctx.roster = roster_free(ctx.roster);
	finish();
	(void)close(file);
}

/* Takes the lock with one guard; sends the next report whenever one is requested. */
static void play_program(int page, int socket, const char *const *reports)
{
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };
	struct page *map = mmap(NULL, PAGE_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
	char message[64];
	ssize_t n;

	if (map == MAP_FAILED || fcntl(page, F_SETLK, &lock) < 0)
		_exit(1);
	map->elsewhere = 1;
	if (send(socket, "ATTACHED", 8, 0) < 0)
		_exit(1);
	for (;;) {
		struct pollfd p = { .fd = socket, .events = POLLIN };

		(void)poll(&p, 1, -1);
		n = recv(socket, message, sizeof(message), 0);
		if (n == 0)
			_exit(0);
		if (n == 6 && memcmp(message, "REPORT", 6) == 0 && *reports &&
		    send(socket, *reports, strlen(*reports), 0) > 0)
			reports++;
	}
}

static void begin_run(const char *const *reports)
{
	struct handover handover[ATTACH_HANDOVER];
	int socket;

	ck_assert_int_eq(attach_begin(attach, handover, &socket), 0);
	program = fork();
	ck_assert_int_ge(program, 0);
	if (program == 0) {
		/* The end of the daemon is the end of the program. */
		for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
			if (fd != handover[0].fd && fd != socket)
				(void)close(fd);
		play_program(handover[0].fd, socket, reports);
	}
	(void)close(socket);
	/* It is attached. */
	ck_assert_int_gt(sd_event_run(ctx.event, 10 * SEC), 0);
	ck_assert_uint_eq(attach_guards(attach), 1);
}

/* Returns the guards as they are shown after the next report. */
static struct attach_view view_after_report(void)
{
	struct attach_view view;

	pass(SEC);
	ck_assert(attach_view(attach, clock_now_usec(), &view));
	ck_assert(attach_is_awaited(find("web"), clock_now_usec()));
	while (attach_is_awaited(find("web"), clock_now_usec()))
		ck_assert_int_gt(sd_event_run(ctx.event, 10 * SEC), 0);
	ck_assert(attach_view(attach, clock_now_usec(), &view));
	return view;
}

START_TEST(report_is_shown_with_its_place_if_there_is_one)
{
	static const char *const reports[] = { "REPORT\n1 5 web.c:7\n", "REPORT\n1 6 \n", NULL };
	struct attach_view view;

	begin_run(reports);
	ck_assert(attach_view(attach, clock_now_usec(), &view));
	ck_assert_ptr_null(view.why);
	ck_assert_int_eq(view.pid, program);
	ck_assert_uint_eq(view.guards, 1);
	ck_assert_uint_lt(view.age_usec, 10 * SEC);
	while (attach_is_awaited(find("web"), clock_now_usec()))
		ck_assert_int_gt(sd_event_run(ctx.event, 10 * SEC), 0);
	ck_assert(attach_view(attach, clock_now_usec(), &view));
	ck_assert_str_eq(view.why, "web.c:7");
	view = view_after_report();
	ck_assert_ptr_null(view.why);
}
END_TEST

START_TEST(program_stays_attached_after_a_fault)
{
	static const char *const reports[] = { "REPORT\n1 5 web.c:7\n", NULL };
	static struct attach *former;
	static sd_event *former_event;

	begin_run(reports);
	/* The next image has the descriptors and the roster, and no more. */
	former = attach;
	former_event = ctx.event;
	ck_assert_int_eq(sd_event_new(&ctx.event), 0);
	ctx.roster = roster_free(ctx.roster);
	ck_assert_int_eq(roster_new(&ctx.roster, file), 0);
	ck_assert_int_eq(attach_new(&attach, find("web")), 0);
	ck_assert(attach_take_former(attach));
	ck_assert_uint_eq(attach_guards(attach), 1);
	ck_assert_str_eq(view_after_report().why, "web.c:7");
	(void)former, (void)former_event;
}
END_TEST

START_TEST(run_without_a_page_in_the_roster_is_none)
{
	ck_assert(!attach_take_former(attach));
	ck_assert_uint_eq(attach_guards(attach), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("attached program that is shown");
	TCase *tc = tcase_create("attached");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, report_is_shown_with_its_place_if_there_is_one);
	tcase_add_test(tc, program_stays_attached_after_a_fault);
	tcase_add_test(tc, run_without_a_page_in_the_roster_is_none);
	suite_add_tcase(suite, tc);
	return suite;
}
