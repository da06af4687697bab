/*
 * An attached program that may do anything with the page and the socket that it shares with the
 * daemon: an input is a list of its actions.  This process has the lock.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "tests/unit/fixtures/page-guards.h"
#include "daemon/guard/attach.h"
#include "sys/ipc/pagefile.h"
#include "tests/fuzz/world.h"

pid_t __wrap_pagefile_holder(int fd);
pid_t __wrap_pagefile_holder(int fd)
{
	(void)fd;
	return getpid();
}

struct program {
	struct world world;
	struct attach *attach;
	int page, socket;
};

static void begin(struct program *p)
{
	struct handover handover[ATTACH_HANDOVER];

	world_begin(&p->world,
		    "[swansong]\ncontrol-socket = none\n[a]\ncommand = a\nautostart = no\n");
	FUZZ_CHECK(attach_new(&p->attach, tree_find(&p->world.tree, "a")) == 0);
	FUZZ_CHECK(attach_begin(p->attach, handover, &p->socket) == 0);
	p->page = handover[0].fd;
}

static void end(struct program *p)
{
	p->attach = attach_free(p->attach);
	(void)fd_close(p->socket);
	world_end(&p->world);
}

/* The sum as libswansong counts it, within the bounds of what the daemon shows. */
static void check_page(int fd)
{
	uint64_t guards = pagefile_guards(fd), want;
	struct stat st;
	struct page *page;

	FUZZ_CHECK(fstat(fd, &st) == 0);
	page = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	FUZZ_CHECK(page != MAP_FAILED);
	want = (uint64_t)page_guards(page, (uint32_t)((st.st_size - PAGE_HEADER) / PAGE_LANE));
	FUZZ_CHECK(guards == MIN(want, (uint64_t)PAGEFILE_GUARDS_MAX));
	(void)munmap(page, (size_t)st.st_size);
}

static void check_view(struct program *p)
{
	struct attach_view view;

	if (!attach_view(p->attach, clock_now_usec(), &view))
		return;
	FUZZ_CHECK(view.guards > 0 && view.guards <= PAGEFILE_GUARDS_MAX);
	FUZZ_CHECK(view.pid == getpid());
	FUZZ_CHECK(view.age_usec <= clock_now_usec());
}

static void write_page(struct program *p, struct fuzz_input *input)
{
	off_t at = fuzz_byte(input) * 8;
	const uint8_t *bytes;
	size_t n = fuzz_bytes(input, 8, &bytes);

	/* The header's first words, or the lanes'. */
	if (at >= 128)
		at += PAGE_HEADER - 128;
	/* The size is sealed: beyond the end nothing is written. */
	FUZZ_CHECK(n == 0 || pwrite(p->page, bytes, n, at) != 0);
	check_page(p->page);
}

static void send_message(struct program *p, struct fuzz_input *input)
{
	size_t length = fuzz_byte(input);
	const uint8_t *bytes;

	length = fuzz_bytes(input, length * 4, &bytes);
	(void)send(p->socket, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void step(struct program *p, struct fuzz_input *input)
{
	switch (fuzz_byte(input) % 6) {
	case 0:
		write_page(p, input);
		break;
	case 1:
	case 2:
		attach_ask(p->world.tree.root, USEC_INFINITY - 1);
		send_message(p, input);
		break;
	case 3:
		attach_stop(p->attach);
		break;
	case 4:
		attach_count(p->world.tree.root);
		break;
	case 5:
		check_view(p);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct program p;
	struct fuzz_input input = { data, size };

	begin(&p);
	while (input.size > 0) {
		step(&p, &input);
		world_run(&p.world);
	}
	check_view(&p);
	end(&p);
	return 0;
}
