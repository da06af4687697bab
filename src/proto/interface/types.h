/*
 * The types of io.swansong, one row each, each before those that have it as a member:
 *
 *	VIEW(view, type, help, members...)	struct VIEW of proto/node-view.h is this type
 *	TYPE(type, help, members...)		no struct is
 *
 * view		the struct, where the members have the same names
 * type		the name in varlink
 * help		comments of varlink, which a client gets with the interface
 * members	REQUIRED(type, name) or OPTIONAL(type, name), FIELD_... of proto/field.h; for one of a few words
 *		REQUIRED_ENUM(name, words...), OPTIONAL_ENUM(name, words...) or REQUIRED_CHOICE(name, words...);
 *		OTHER(name, type) in varlink, without a struct; and an object that may be missing,
 *		PART(name, type, its table, the member that is true if it is set)
 *
 * The including file defines VIEW and TYPE, and the macros of members where it uses these.
 */
/* clang-format off */
#define SERVICE_STATES "down", "preparing", "starting", "readying", "up", "draining", "waiting", "asking", \
	"stopping", "killing", "closing", "cleaning", "finishing", "backoff", "done", "failed", "listening"
#define NODE_STATES "running", "shutting_down", "complete"
#define GUARD_KINDS "process", "action", "leftover", "program", "lease", "log"

VIEW(service_view, "Service",
	"# The service of a node.  state: listening, if it waits for a connection that starts it.  since_usec: the\n"
	"# age of the state.  command: for people.  result: how the last run ended.  status: the text that the\n"
	"# service sent by the notify protocol.  waiting: the nodes that the service waits for, before it is started\n"
	"# (down, backoff) or signalled (waiting).  turn: the node in which so many services come up as its\n"
	"# start-parallel allows: the service starts after these.  pressure: the node with the pressure-stop that keeps the\n"
	"# service down while memory is short.  next_usec: the time left until the state times out: until the\n"
	"# next try (backoff), until the kill (stopping).  quiet_usec: the time since the last connection came,\n"
	"# while drain-quiet waits for clients (draining).  error: the errno that the service sent.  reloading_usec:\n"
	"# the time since the service began to reload.  ending: the service has announced that it ends by itself.\n"
	"# ended: the service has ended by itself, and satisfies no requirement (a oneshot that has done its work\n"
	"# still does).  stopped: the service is down because a request stopped it, a node above it or a node that\n"
	"# it requires.  disabled: the service does not start by itself, by Disable.  outdated: it runs with\n"
	"# settings before a change that needs a new process, or executes a file that was replaced on disk (program).\n"
	"# watchdog_usec: the time left until the next watchdog message expires.  stored: the number of descriptors in the store, for the next run.  schedule: the\n"
	"# schedule.  scheduled_usec: the time left until the next scheduled run.  ran_usec: the time since the last\n"
	"# one began.  logs: the files that the output goes to.  log_lines: the lines that the logger has written.\n"
	"# lost_lines, lost_bytes: the output that could not be written, both or none.  log_trouble: the reason for\n"
	"# which output is not written now.  health: the result of the health probes, if there are any, while the\n"
	"# service is up; unknown before the first result.  health_result: the failure that the last probe found.\n"
	"# claim: the name of its run in SWANSONG_NODE and of its control group, unless that is the path.  aside: the\n"
	"# runs of a hand-over beside this one, for people; each is a node, too.  program: whether a file that its\n"
	"# processes execute, a program or a library, was replaced on disk since, as a look for Status has found; missing:\n"
	"# there was none at this run.  replaced: the file, for clients that may start and stop.\n",
	REQUIRED_ENUM(state, SERVICE_STATES),
	REQUIRED(INT, since_usec), OPTIONAL(INT, pid), REQUIRED(STRING, command),
	REQUIRED(BOOL, ready), REQUIRED(INT, restarts), OPTIONAL(STRING, result),
	OPTIONAL(STRING, status), OPTIONAL(STRINGS, waiting), OPTIONAL(STRING, turn), OPTIONAL(STRING, pressure),
	OPTIONAL(INT, next_usec),
	OPTIONAL(INT, quiet_usec), OPTIONAL(INT, error), OPTIONAL(INT, reloading_usec),
	OPTIONAL(BOOL, ending), OPTIONAL(BOOL, ended), OPTIONAL(BOOL, stopped),
	OPTIONAL(BOOL, disabled), OPTIONAL(BOOL, outdated), OPTIONAL(INT, watchdog_usec),
	OPTIONAL(INT, stored), OPTIONAL(STRING, schedule), OPTIONAL(INT, scheduled_usec),
	OPTIONAL(INT, ran_usec), OPTIONAL(STRINGS, logs), OPTIONAL(INT, log_lines),
	OPTIONAL(INT, lost_lines), OPTIONAL(INT, lost_bytes), OPTIONAL(STRING, log_trouble),
	OPTIONAL_ENUM(health, "unknown", "healthy", "unhealthy"),
	OPTIONAL(INT, health_since_usec), OPTIONAL(STRING, health_result),
	OPTIONAL(STRING, claim), OPTIONAL(STRINGS, aside),
	OPTIONAL_ENUM(program, "current", "replaced", "unknown"), OPTIONAL(STRING, replaced))

VIEW(node_view, "Node",
	"# guards: the number of guards held on the node and below.  ready: all services at and below the node that\n"
	"# are meant to run are ready.  forced: a budget was spent, and something was killed or revoked.\n"
	"# restarting: the node is stopped, and is started again once it is Complete.  deadline_usec: the time left\n"
	"# in the budget of the shutdown.  held_usec: the time since that was put on hold.  agent: the reply of its\n"
	"# agent.  service: of a node that has a command.\n",
	REQUIRED(STRING, path), REQUIRED(INT, generation),
	REQUIRED_CHOICE(state, NODE_STATES),
	REQUIRED(INT, since_usec), REQUIRED(INT, guards), REQUIRED(BOOL, ready),
	REQUIRED(BOOL, forced), OPTIONAL(BOOL, restarting), OPTIONAL(INT, deadline_usec),
	OPTIONAL(INT, held_usec), OPTIONAL_ENUM(agent, "ready", "drain", "down"),
	PART(service, "Service", service_view_table, is_service))

VIEW(guard_view, "Guard",
	"# A reason why a node is not Complete.  process: a main process.  action: a command that runs beside it, or\n"
	"# is still to run.  leftover: a process that another process has left behind.  program: the guards that an\n"
	"# attached program reports.  lease: a guard taken by TakeGuard.  log: output that is not written yet.  pid,\n"
	"# uid, command: of the process, or of the holder of the lease; the uid of a process is the one that it was\n"
	"# started with.  why: the key of an action; the place in an attached program that took the guards last; the\n"
	"# reason given for a lease.  kill_usec: in a shutdown, the time left until the process is killed or the\n"
	"# guard is revoked; 0 from then on.  count: the number of guards; 1 if it is missing.  ttl_usec: the time\n"
	"# left until the lease expires.\n",
	REQUIRED(INT, id), REQUIRED(STRING, node), REQUIRED(INT, generation),
	REQUIRED_ENUM(kind, GUARD_KINDS),
	OPTIONAL(INT, pid), OPTIONAL(INT, uid), OPTIONAL(STRING, command), OPTIONAL(STRING, why),
	REQUIRED(INT, age_usec), OPTIONAL(INT, kill_usec), OPTIONAL(INT, count),
	OPTIONAL(INT, ttl_usec))

VIEW(plan_entry_view, "PlanEntry",
	"# A step of a shutdown that has not begun: a service, or the command that runs when all below a node has\n"
	"# ended (final).  step: from 1; entries of one step do not wait for each other.  waits: the nodes that must\n"
	"# be Complete before the service is signalled; more_waits: the number of nodes besides.  critical: an idle\n"
	"# shutdown takes as long as it does because of this entry.  Times are worst cases, from the stop; missing:\n"
	"# unlimited.  soonest_usec: when the service is signalled if all before it end at once.  begin_usec: when\n"
	"# it is signalled, or begun; end_usec: when it has ended, if every process is killed by its time limit and\n"
	"# no guards are held; busy: if guards are held for as long as they may be.  budget: the node with the\n"
	"# shutdown-timeout that limits the entry.  early: that time is shortened for services of a higher\n"
	"# stop-priority.\n",
	REQUIRED(STRING, node), REQUIRED_ENUM(kind, "service", "final"),
	REQUIRED(INT, step), REQUIRED(STRINGS, waits), OPTIONAL(INT, more_waits),
	REQUIRED(BOOL, critical), OPTIONAL(INT, soonest_usec), OPTIONAL(INT, begin_usec),
	OPTIONAL(INT, end_usec), OPTIONAL(STRING, budget), OPTIONAL(INT, busy_begin_usec),
	OPTIONAL(INT, busy_end_usec), OPTIONAL(STRING, busy_budget), OPTIONAL(BOOL, early))

VIEW(output_view, "Output",
	"# The output of a service: its standard output, which is both if they go to one place, or its standard\n"
	"# error.  to: the destination.  captured: the lines pass the logger.  file: the path, of the destination\n"
	"# file.  timestamp: what stands before each line in this file.\n",
	REQUIRED(STRING, node), REQUIRED_CHOICE(stream, "stdout", "stderr"),
	REQUIRED_ENUM(to, "inherit", "null", "file", "journal", "syslog", "stdout", "stderr"),
	REQUIRED(BOOL, captured), OPTIONAL(STRING, file),
	REQUIRED_CHOICE(timestamp, "none", "iso", "iso_usec", "unix"))

TYPE("Loss",
	"# A process that was killed, or a guard that was revoked, because a budget was spent.  what: for people.\n",
	REQUIRED(STRING, node), REQUIRED(STRING, what))

TYPE("KeyChange",
	"# A key with a changed value.  from, to: as in a file; missing: not set.  apply: the new value applies at\n"
	"# once (live), and to the running process (in_place), from the next start on (next_start), in a new process, for which a running service is\n"
	"# restarted (restart), or from the next start of the daemon on (daemon).\n",
	REQUIRED(STRING, key), OPTIONAL(STRING, from), OPTIONAL(STRING, to),
	REQUIRED_ENUM(apply, "live", "in_place", "next_start", "restart", "daemon"))

TYPE("Change",
	"# The effect of a reload on one node.  service: the node has a command, or had one before.  autostart: it\n"
	"# is started by itself.  restart: it runs, and is restarted.  outdated: it runs, and is not restarted, but\n"
	"# its changes count with its next start.  start: it was there before, and is started.  because: it is\n"
	"# restarted with this node, which it requires.\n",
	REQUIRED_ENUM(kind, "add", "change", "remove"), REQUIRED(STRING, node),
	REQUIRED(BOOL, service), REQUIRED(BOOL, autostart), REQUIRED(BOOL, restart),
	OPTIONAL(BOOL, outdated), REQUIRED(BOOL, start), OPTIONAL(STRING, because),
	OTHER(keys, "[]KeyChange"))

TYPE("RolloutStep",
	"# A service of a rollout.  with: it was restarted with this service, as it requires it.  generation: the one\n"
	"# that is handed over.  reason: of a failure in a rehearsal.\n",
	REQUIRED(STRING, node), REQUIRED_ENUM(state, "pending", "restarting", "ready", "failed"),
	OPTIONAL(STRING, with), OPTIONAL(INT, generation), OPTIONAL(STRING, reason))

TYPE("Rollout",
	"# A rollout, or a reload that awaits its confirmation (confirm_usec).  state: running; paused; undoing, the\n"
	"# former settings come back; unconfirmed, for left_usec; and over: done, failed, undone.  steps: the services\n"
	"# in their order; behind the first own of these, others that were restarted with them.  nodes, parallel,\n"
	"# min_ready, settle_usec, or_undo, pause_after, outdated, rehearse: as in Rollout.  cause: the client.\n"
	"# reason: of a failure.\n",
	REQUIRED_ENUM(state, "running", "paused", "undoing", "unconfirmed", "done", "failed", "undone"),
	REQUIRED(INT, since_usec), OPTIONAL(STRINGS, nodes), OTHER(steps, "[]RolloutStep"),
	REQUIRED(INT, own), OPTIONAL(INT, parallel), OPTIONAL(INT, min_ready), OPTIONAL(INT, settle_usec),
	OPTIONAL(BOOL, or_undo), OPTIONAL(INT, pause_after), OPTIONAL(INT, confirm_usec),
	OPTIONAL(BOOL, outdated), OPTIONAL(INT, left_usec), OPTIONAL(STRING, cause), OPTIONAL(STRING, reason),
	OPTIONAL(BOOL, rehearse))

TYPE("Configuration",
	"# A configuration that was applied.  time_usec: since the epoch.  cause: the request or the event that\n"
	"# asked for it.\n",
	REQUIRED(INT, number), REQUIRED(INT, time_usec), OPTIONAL(STRING, cause))

TYPE("Event",
	"# A change of state: of a node (running, shutting_down, complete; from none: the node is new), of its\n"
	"# service, or of the rollout; or of an outage of the service (over: it is ready; planned, dependency,\n"
	"# failure, unknown, removed).  An alert has no from; to: given-up, unhealthy, recovered, forced,\n"
	"# slow-stop or outdated.  number: counts all events of this daemon.  time_usec: since the epoch.  reason: the event that\n"
	"# led to it.  cause: the request or the event that asked for it.\n",
	REQUIRED(INT, number), REQUIRED(INT, time_usec), REQUIRED_ENUM(kind, "node", "service", "rollout",
	"outage", "alert"),
	REQUIRED(STRING, node), REQUIRED(INT, generation), REQUIRED(STRING, from),
	REQUIRED(STRING, to), OPTIONAL(STRING, reason), OPTIONAL(STRING, cause))

TYPE("Setting",
	"# The value of a key for a node; a key that may be repeated is in the list once for each command.  value:\n"
	"# as in a file; missing: not set, or hidden.  origin: the section of the node, its template, the section of\n"
	"# a node above it, or the default.  section: the node of that section.  file, line: where it is set.\n"
	"# hidden: only clients that may start and stop see the value.\n",
	REQUIRED(STRING, key), OPTIONAL(STRING, value),
	REQUIRED_ENUM(origin, "default", "section", "template", "inherited"),
	OPTIONAL(STRING, section), OPTIONAL(STRING, file), OPTIONAL(INT, line),
	OPTIONAL(BOOL, hidden))

TYPE("Dependency",
	"# A dependency of a node, and of all nodes in it, on another node, and on all in that.\n"
	"# kind: the key, requires, binds-to, wants, after or term-after.\n",
	REQUIRED(STRING, from), REQUIRED(STRING, to), REQUIRED(STRING, kind))

#undef VIEW
#undef TYPE
