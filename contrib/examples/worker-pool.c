/*
 * A loop reads lines, a pool works on them, and at the end every line that was read is answered.
 *
 *	cc worker-pool.c $(pkg-config --cflags --libs libswansong libsystemd)
 *	(echo 300; echo 5000; sleep 4) | ./a.out
 *
 * A line is a number: the milliseconds that the work on it takes, on a thread of the pool.  After
 * two seconds the loop prints that the work is late, and drops its result.  The work goes on: its memory
 * is released when it ends, and the end of the program waits for that, too.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <swansong/swansong.h>
#include <systemd/sd-event.h>

#define TIMEOUT_USEC 2000000

struct program {
	struct swansong *root;
	struct swansong_loop *loop;
	struct swansong_pool *pool;
	FILE *input;
};

/* ---- on a thread of the pool ---- */

static void work(void *arg)
{
	long milliseconds = *(long *)arg;
	struct timespec duration = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000,
	};

	printf("working on %ld\n", milliseconds);
	nanosleep(&duration, NULL);
}

/* ---- on the loop's thread ---- */

static void done(void *arg, int result)
{
	printf("%ld: %s\n", *(long *)arg, result == 0 ? "done" : "not in time");
}

static int on_input(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct program *program = arg;
	long *milliseconds = malloc(sizeof(*milliseconds));
	struct swansong_offload offload = {
		.work = work,
		.done = done,
		.release = free,
		.arg = milliseconds,
	};

	/* First the guard, then the check: the end waits for a guard that was taken before the stop. */
	SWANSONG_GUARD_SCOPE(program->root);

	(void)fd;
	(void)events;
	/* After the stop no work begins; the end of the input is a stop. */
	if (swansong_state(program->root) != SWANSONG_RUNNING || !milliseconds ||
	    fscanf(program->input, "%ld", milliseconds) != 1) {
		free(milliseconds);
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
		return kill(getpid(), SIGTERM);
	}
	if (swansong_pool_offload(program->pool, program->loop, &offload, TIMEOUT_USEC) < 0)
		free(milliseconds);
	return 0;
}

/* ---- on the main thread ---- */

static void run(struct program *program, const sigset_t *set)
{
	int signal;

	if (swansong_loop_start(program->loop) < 0)
		return;
	sigwait(set, &signal);

	swansong_shut_down(program->root);	  /* no further work begins */
	swansong_wait(program->root, UINT64_MAX); /* until all work has ended */
	printf("drained\n");
}

int main(void)
{
	struct program program = { .input = stdin };
	sigset_t set;

	setvbuf(stdin, NULL, _IONBF, 0); /* poll() would not see input in a buffer */
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);

	if (swansong_new(&program.root) < 0 || swansong_loop_new(program.root, &program.loop) < 0 ||
	    swansong_pool_new(program.root, 4, &program.pool) < 0 ||
	    sd_event_add_io(swansong_loop_event(program.loop), NULL, STDIN_FILENO, EPOLLIN,
			    on_input, &program) < 0)
		return EXIT_FAILURE;
	printf("ready\n");
	run(&program, &set);

	program.pool = swansong_pool_unref(program.pool);
	program.loop = swansong_loop_unref(program.loop);
	program.root = swansong_unref(program.root);
	return EXIT_SUCCESS;
}
