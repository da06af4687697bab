#pragma once

/*
 * The kernel of the simulated world: processes that are rows of a table, signals, and a clock that
 * moves only when nothing is pending.  It knows no data of the daemon: a daemon that dies leaves it as it
 * is.  The functions of src/sys and of the C library that the daemon calls are replaced at the link
 * by those of system.c, which act on this table.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/sim/program.h"

#define KERNEL_ROWS	 512
#define KERNEL_NODE	 64
#define KERNEL_FIRST_PID 10000
#define KERNEL_NEVER	 UINT64_MAX

enum row_state {
	ROW_FREE,
	ROW_STARTING, /* its program does not run yet */
	ROW_RUNNING,
	ROW_DEAD, /* not collected */
};

struct row {
	enum row_state state;
	pid_t pid, parent, group, session;
	char node[KERNEL_NODE];	  /* SWANSONG_NODE of its environment */
	char notify[KERNEL_NODE]; /* NOTIFY_SOCKET */
	struct program program;
	int control_group; /* of tests/sim/group.h */
	unsigned run;	   /* of its command on its node, from 1 */
	bool suspended;
	bool left; /* by a program that became a daemon */
	bool calm; /* it was made when programs behave */

	/* Times of the clock; KERNEL_NEVER. */
	uint64_t born_usec, exec_usec, ready_usec, fork_usec, leave_usec, file_usec, exit_usec;
	uint64_t asked_usec;  /* the first stop signal by the daemon; 0: none */
	uint64_t killed_usec; /* SIGKILL by the daemon; 0: none */

	/* Of a dead one. */
	bool signaled;
	int value;
	int exec_error; /* the program could not be executed */
};

/* Operations that fail. */
enum fault {
	FAULT_SPAWN,
	FAULT_EXEC,
	FAULT_KILL,
	FAULT_OPEN,   /* of a file, a directory or a group */
	FAULT_GROUP,  /* making one */
	FAULT_ENTER,  /* starting a process in one */
	FAULT_WATCH,  /* watching one */
	FAULT_ACCEPT, /* of a connection */
	FAULT_SEND,   /* of a reply */
	FAULT_READ,   /* of a file, a call or a message */
	FAULT_SOCKET, /* making one */
	FAULT_POLL,   /* waiting for a descriptor */
	FAULT_TIMER,  /* making one */
	FAULT_WRITE,  /* of a file */
	FAULT_MEMORY,
	FAULT_LIST, /* a process leaves, see row_leave(), between the list of children and a look at it */
	N_FAULTS
};

struct kernel {
	uint64_t now_usec;
	pid_t daemon, last_pid;
	int daemon_group;
	int64_t clock_offset_usec; /* of CLOCK_REALTIME */
	bool freed;		   /* a descriptor was closed, and none opened since then */
	bool clock_was_set;	   /* and the daemon has not noticed */
	struct row rows[KERNEL_ROWS];
	size_t n_rows; /* the rows from here on are free */
	uint64_t random;
	bool calm; /* programs behave from now on */
	struct {
		unsigned skip, n; /* after so many, so many fail */
		int error;
	} faults[N_FAULTS];
	uint64_t pending;  /* signals to the daemon, by number */
	pid_t pending_pid; /* the sender of SIGCHLD */
	unsigned injected; /* faults that have happened */
	uint64_t shortage_usec,
		shortage_until_usec; /* the end of the next period in which memory is short */
	unsigned shortages;	     /* these periods */
	unsigned sockets;	     /* names that were given to sockets */
	uint64_t world;		     /* counts kernel_init() */
};

extern struct kernel kernel;

/* @groups: there are control groups. */
void kernel_init(uint64_t seed, bool groups);

/* A number below @n, from the seed of the world. */
unsigned kernel_random(unsigned n);

/* Makes @n operations of the kind fail with @error, after @skip more of them. */
void kernel_fault(enum fault fault, int error, unsigned n, unsigned skip);

/* Returns the error of this operation, or 0. */
int kernel_fails(enum fault fault);

/* Makes a child of @parent.  NULL: the table is full. */
struct row *kernel_fork(pid_t parent);

/* Returns the process, which may be dead; or NULL. */
struct row *kernel_find(pid_t pid);

/* Returns true if the process has not ended. */
static inline bool row_is_alive(const struct row *row)
{
	return row->state == ROW_STARTING || row->state == ROW_RUNNING;
}

/* Returns true if the process is of a run of the service at @path, of any generation. */
bool row_is_of(const struct row *row, const char *path);

/*
 * A daemon of the traditional kind: the process makes a child with its program, which writes a pid file, and ends.
 */
void row_leave(struct row *row);

/* Ends a process: by a signal if @signaled, else with a status. */
void kernel_end(struct row *row, bool signaled, int value);

/* Collects a dead child. */
void kernel_collect(struct row *row);

/* A signal of the daemon to a process.  Return: 0 or an errno. */
int kernel_kill(pid_t pid, int signo);

/* A signal to one process by another sender. */
void kernel_deliver(struct row *row, int signo, bool by_daemon);

/* A signal to the daemon. */
void kernel_notify_daemon(int signo, pid_t pid);

/* Memory is short for @usec from now on. */
void kernel_shorten_memory(uint64_t usec);

/* The time of the next step of a program or of a shortage; KERNEL_NEVER: none. */
uint64_t kernel_next_usec(void);

/* Carries out the steps of programs whose time has come. */
void kernel_run(void);

/* Called when a process has received a signal of the daemon, before its effect. */
extern void (*kernel_on_signal)(struct row *row, int signo);
