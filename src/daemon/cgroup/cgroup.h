#pragma once

/*
 * The daemon's part of the hierarchy of control groups, where it has been given one that it may
 * divide:
 *
 *	ours when we were started
 *	├── swansongd-ID           we: where limits are set there are no processes beside groups
 *	└── swansong-ID            locked for as long as we live
 *	    ├── node:web:nginx     a service that runs (control-group.h)
 *	    └── …
 *
 * ID comes of the control socket.  Whoever serves that after a swansongd that was killed finds what
 * it has left in the same place: those are not our children, so nobody could tell us of their end,
 * and beside them everything would run twice.  They are asked to end, then killed, and until they
 * are gone nothing starts.  Of a swansongd without a socket, which could be anybody's, nothing is
 * touched.
 */

#include <stdbool.h>

#include "daemon/loop/context.h"
#include "model/config/config.h"

#define CGROUP_NAME_MAX (CONFIG_NAME_MAX + 8)

/* An interest in one group. */
struct cgroup_watch {
	struct list in_watches;
	int id;	   /* of inotify, for when it becomes empty; 0: none */
	bool thaw; /* is to be looked at after a while: it may be frozen */
	void (*changed)(struct cgroup_watch *watch);  /* the group may have become empty */
	void (*thaw_now)(struct cgroup_watch *watch); /* cgroups_thaw_soon(): the time is over */
};

struct cgroups {
	struct context *ctx;
	int own; /* the group that we were started in */
	int top; /* swansong-ID */
	char top_name[32];
	char own_name[32]; /* swansongd-ID */
	char *top_path;	   /* of cgroup_of() */
	bool moved;	   /* we are in swansongd-ID */
	bool refused;	   /* a service had to go without, and that has been said */
	int inotify;
	sd_event_source *source;
	struct alarm drain_timer, thaw_timer;
	struct list watches;
	struct cgroup_watch drain; /* of what an earlier daemon left */
	bool draining, killing;
	bool thawing; /* thaw_timer is armed */
};

/* @socket may be NULL.  *ret is NULL where there is nothing to divide.  Return: 0 or -errno. */
int cgroups_new(struct cgroups **ret, struct context *ctx, const char *socket);

/* Kills and removes all that is left.  For the very end: it waits for that, a second at most. */
struct cgroups *cgroups_free(struct cgroups *cgroups);

/* Processes of an earlier daemon remain: no service is started.  @cgroups may be NULL. */
static inline bool cgroups_is_draining(const struct cgroups *cgroups)
{
	return cgroups && cgroups->draining;
}

/* The name of the group of the node @path: no file that the kernel has in a group has a colon. */
char *cgroups_name(char buf[static CGROUP_NAME_MAX], const char *path);

/* The other way round, also for a path that begins with the name.  Return: 0 or -ENOENT. */
int cgroups_node_of_name(const char *name, char path[static CONFIG_NAME_MAX + 1]);

/* The node in whose group @pid is.  Return: 0; -ENOENT if in none of ours; or -EMFILE and
 * the like, if that cannot be known. */
int cgroups_node_of(const struct cgroups *cgroups, pid_t pid,
		    char path[static CONFIG_NAME_MAX + 1]);

/*
 * Enables @controller for all groups of services.  Return: 0, -ENOENT if it is missing, or
 * -errno.
 */
int cgroups_enable(struct cgroups *cgroups, const char *controller);

/* cgroup_is_populated() and cgroup_kill(), also without a free descriptor. */
int cgroups_is_populated(struct cgroups *cgroups, const char *name);
int cgroups_kill(struct cgroups *cgroups, const char *name);

/* To every process in the group @name. */
void cgroups_signal(const struct cgroups *cgroups, const char *name, int signo);

/* Watches the group @name, which may be empty already.  Return: 0 or -errno. */
int cgroups_watch(struct cgroups *cgroups, const char *name, struct cgroup_watch *watch);

/* Calls thaw_now() in a moment: most groups are gone by then, and each look costs. */
void cgroups_thaw_soon(struct cgroups *cgroups, struct cgroup_watch *watch);

/* Neither of the two any more. */
void cgroups_unwatch(struct cgroups *cgroups, struct cgroup_watch *watch);
