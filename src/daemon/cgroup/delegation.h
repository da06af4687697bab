#pragma once

/*
 * The control groups of the daemon, if it was started in one that is delegated to it:
 *
 * 	the group of the start
 * 	├── swansongd-ID           the daemon: limits require groups without processes
 * 	└── swansong-ID            locked while the daemon lives
 * 	    ├── node:web:nginx     a running service (control-group.h)
 * 	    └── …
 *
 * ID is derived from the control socket.  A daemon that serves the same socket after one that was
 * killed finds the processes of the former in the same group (daemon/reap/survivors.h).  Groups of a
 * swansongd without a socket are not touched, as they could belong to any.
 */

#include "daemon/loop/context.h"
#include "model/config/config.h"

#define CGROUP_NAME_MAX (CONFIG_NAME_MAX + 8)

struct cgroup_watch {
	struct list in_watches;
	int id;	   /* of inotify, until it becomes empty; 0: none */
	bool thaw; /* thaw_now() is to be called: the group may be frozen */
};

struct cgroups {
	struct context *ctx;
	int own; /* the group of the start */
	int top; /* swansong-ID */
	char top_name[32];
	char own_name[32]; /* swansongd-ID */
	char *top_path;	   /* as of cgroup_of() */
	bool moved;	   /* the daemon is in swansongd-ID */
	bool refused;	   /* a service had to start without a group; logged once */
	int inotify;	   /* of @source */
	sd_event_source *source;
	struct alarm thaw_timer;
	struct list watches;
	/* Of all watches; set by control_group_init(). */
	void (*changed)(struct cgroup_watch *watch);  /* the group may have become empty */
	void (*thaw_now)(struct cgroup_watch *watch); /* the delay of cgroups_thaw_soon() is over */
};

/*
 * Sets up the groups.  @socket may be NULL.  *ret is NULL if no group is delegated.  Return: 0 or
 * -errno.
 */
int cgroups_new(struct cgroups **ret, struct context *ctx, const char *socket);

/*
 * Kills and removes all that remains, at the end of the daemon.  It waits for one second at most.
 */
struct cgroups *cgroups_free(struct cgroups *cgroups);

/*
 * Returns the name of the group of the node @path.  No file of the kernel in a group has a colon.
 */
char *cgroups_name(char buf[static CGROUP_NAME_MAX], const char *path);

/* The reverse of cgroups_name(); @name may be followed by a path.  Return: 0 or -ENOENT. */
int cgroups_node_of_name(const char *name, char path[static CONFIG_NAME_MAX + 1]);

/*
 * Finds the node of the group of @pid.  Return: 0; -ENOENT if it is in no group of this daemon;
 * -EMFILE and the like if that cannot be known.
 */
int cgroups_node_of(const struct cgroups *cgroups, pid_t pid,
		    char path[static CONFIG_NAME_MAX + 1]);

/*
 * Enables @controller for all groups of services.  Return: 0, -ENOENT if it is missing, or
 * -errno.
 */
int cgroups_enable(struct cgroups *cgroups, const char *controller);

/* The same as cgroup_is_populated() and cgroup_kill(), even without a free descriptor. */
int cgroups_is_populated(struct cgroups *cgroups, const char *name);
int cgroups_kill(struct cgroups *cgroups, const char *name);
void cgroups_signal(const struct cgroups *cgroups, const char *name, int signo);

/* Watches the group @name, which may be empty already.  Return: 0 or -errno. */
int cgroups_watch(struct cgroups *cgroups, const char *name, struct cgroup_watch *watch);

/* Calls thaw_now() after a moment, when most groups are gone, which saves looking at each. */
void cgroups_thaw_soon(struct cgroups *cgroups, struct cgroup_watch *watch);

/* Ends both: cgroups_watch() and cgroups_thaw_soon(). */
void cgroups_unwatch(struct cgroups *cgroups, struct cgroup_watch *watch);
