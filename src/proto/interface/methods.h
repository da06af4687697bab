/*
 * The methods of io.swansong, one row each, in the order of the interface, which later ones do not change:
 *
 *	METHOD(ID, name, tier, whole, call, update, help, reply, parameters...)
 *
 * ID		METHOD_ID is its number
 * tier		required of the client: TIER_... of daemon/control/connection.h
 * whole	it concerns the whole tree: not for a service's own connection
 * call		the function of daemon/control/requests-*.c that replies to the call, or begins to wait
 * update	the function that each update turn calls until the reply; request_update_none: it never
 *		waits
 * help		comments of varlink, which a client gets with the interface
 * reply	the members of the reply, in varlink
 * parameters	REQUIRED(type, name) or OPTIONAL(type, name), FIELD_... of proto/field.h; for one of a few
 *		words REQUIRED_ENUM(name, words...) or OPTIONAL_ENUM(name, words...)
 *
 * The including file defines METHOD, and the four macros of parameters where it uses these.
 */
/* clang-format off */
METHOD(STATUS, "Status", TIER_LOOK, false, request_status, request_update_status,
	"# The node and all below it, parents before their children.  With more: in several\n"
	"# replies, all of the same moment.  configuration: another number than before, if settings\n"
	"# have changed: by a reload, or by a node of no file.  rollout: the present one, or the last.\n"
	"# programs: first looks at the programs of these services (see program of Service), for at most six\n"
	"# seconds; for a client that may only look, at those of all services, at most once in six.\n",
	"(nodes: []Node, configuration: ?int, rollout: ?Rollout)", OPTIONAL(STRING, node),
	OPTIONAL(BOOL, programs))

METHOD(GUARDS, "Guards", TIER_LOOK, false, request_guards, request_update_reports,
	"# The guards held on the node and below; with blocking, those that a shutdown waits\n"
	"# for now.  Attached programs are asked for their guards first, for a short time.\n",
	"(guards: []Guard)", OPTIONAL(STRING, node), OPTIONAL(BOOL, blocking))

METHOD(START, "Start", TIER_OPERATE, false, request_start, request_update_ready,
	"# Starts the services of the node, in a new generation if it was stopped.  Replies when\n"
	"# they are ready; with wait false, at once.  settle_usec: a service that is ready when it\n"
	"# was started is watched for so long, and Failed if it ends.\n",
	"()", REQUIRED(STRING, node), OPTIONAL(BOOL, wait), OPTIONAL(INT, settle_usec))

METHOD(STOP, "Stop", TIER_OPERATE, false, request_stop, request_update_stop,
	"# Ends this generation of the node.  Replies when the node is Complete; with wait false, at once.  forced:\n"
	"# a budget was spent, and something was killed or revoked.  losses: the processes and guards, as far as\n"
	"# they are remembered.  with: the nodes that are stopped as well, because they require it.\n",
	"(forced: ?bool, losses: ?[]Loss, with: ?[]string)", REQUIRED(STRING, node), OPTIONAL(BOOL, wait))

METHOD(RESTART, "Restart", TIER_OPERATE, false, request_stop, request_update_ready,
	"# Stop, then Start.  Replies when the nodes of with are ready, too.\n",
	"(forced: ?bool, losses: ?[]Loss, with: ?[]string)",
	REQUIRED(STRING, node), OPTIONAL(BOOL, wait), OPTIONAL(INT, settle_usec))

METHOD(SHUTDOWN, "Shutdown", TIER_OPERATE, false, request_shutdown, request_update_shutdown,
	"# Shuts the node down: the end of the root is the end of the daemon.  force: kills now.  grace_usec: the\n"
	"# time from now until the client's own parent kills; all budgets are made to fit, as far as they do not end\n"
	"# earlier.  extend_usec, hold: change a shutdown that is under way, and reply at once.  extend_usec: more time\n"
	"# for the node, as far as the parent manager and grace_usec allow.  hold, of the root: true, no service is\n"
	"# signalled or killed until false; Failed: there is no time for that.\n"
	"# Replies when the node is Complete; with wait false, at once.  With more: replies at once and on\n"
	"# every change, at most four times a second, and without continues when the node is Complete.  guards:\n"
	"# those that the shutdown waits for.  forced, losses: as in Stop, in the last reply.\n",
	"(node: Node, guards: []Guard, elapsed_usec: int, forced: ?bool, losses: ?[]Loss)",
	OPTIONAL(STRING, node), OPTIONAL(STRING, reason), OPTIONAL(BOOL, force),
	OPTIONAL(BOOL, wait), OPTIONAL(INT, grace_usec), OPTIONAL(INT, extend_usec), OPTIONAL(BOOL, hold))

METHOD(WAIT, "Wait", TIER_LOOK, false, request_wait, request_update_wait,
	"# Replies when the node is as wanted, or with an error when it cannot be any more (Failed).  stopping: this\n"
	"# generation of the node is stopped.  With more: replies at once and on every change, at most four times a\n"
	"# second, with the progress; the last reply is without continues and empty.  guards: those that a shutdown\n"
	"# of the node waits for.  settle_usec: as in Start.  pending: services at and below it that are not ready\n"
	"# yet; more_pending: the number of services besides.  forced, losses: as in Stop, in the last reply, if this\n"
	"# connection has asked for a stop or restart before.\n",
	"(node: ?Node, guards: ?[]Guard, pending: ?[]Node, more_pending: ?int, "
	"elapsed_usec: ?int, forced: ?bool, losses: ?[]Loss)",
	OPTIONAL(STRING, node), REQUIRED_ENUM(until, "ready", "running", "stopping", "complete"),
	OPTIONAL(INT, settle_usec))

METHOD(TAKE_GUARD, "TakeGuard", TIER_OPERATE, false, request_take_guard, request_update_guard,
	"# Takes a guard on the node.  It is held until it is released, until this connection ends, or for ttl_usec.\n"
	"# late: also on a stopped node that is not yet Complete.  A guard that is revoked at the end of a budget\n"
	"# ends the connection.  With more the connection serves this guard: replies with its id; with stopping,\n"
	"# once, when the node is shut down; and without continues, with lost, when the guard has expired or was\n"
	"# revoked; the connection stays.  using: the work uses the node, which gets its signal when the work is\n"
	"# over: the guard is held on the node NODE+using, which requires it and is removed with its last guard; of\n"
	"# a service that can hand over, NODE~GENERATION+using.\n"
	"# Failed: the root is not used by any work.  TooMany: 256 are held on the connection, 4096 by the user, or\n"
	"# 16384 altogether.\n",
	"(id: int, stopping: ?bool, lost: ?(expired, revoked))",
	OPTIONAL(STRING, node), OPTIONAL(STRING, why), OPTIONAL(BOOL, late),
	OPTIONAL(INT, ttl_usec), OPTIONAL(BOOL, using))

METHOD(RELEASE, "Release", TIER_OPERATE, false, request_release, request_update_none,
	"# Releases guards of this connection: by id, by why, or by both.  Failed: there is none.\n",
	"()", OPTIONAL(INT, id), OPTIONAL(STRING, why))

METHOD(RELOAD, "Reload", TIER_OPERATE, true, request_reload, request_update_reload,
	"# Reads the configuration again, and applies the changes; with dry_run, only replies with them.  to: the\n"
	"# configuration of that number, see Changes, instead of the files.  confirm_usec: it goes back after so long,\n"
	"# unless Rollout confirms it.  Failed: the configuration has mistakes, there is none of that number, or a rollout\n"
	"# is not over, and nothing was changed.\n",
	"(changes: []Change)", OPTIONAL(BOOL, dry_run), OPTIONAL(INT, to), OPTIONAL(INT, confirm_usec))

METHOD(RELOAD_SERVICE, "ReloadService", TIER_OPERATE, false, request_reload_service, request_update_none,
	"# Asks a running service to read its own configuration again.\n",
	"()", REQUIRED(STRING, node))

METHOD(SIGNAL, "Signal", TIER_OPERATE, false, request_signal, request_update_none,
	"# Sends a signal, \"SIGUSR1\" or \"10\", to the main process of a service, to its process\n"
	"# group, or to all its processes.  scope: main if it is missing.\n",
	"()", REQUIRED(STRING, node), REQUIRED(STRING, signal), OPTIONAL_ENUM(scope, "main", "group", "all"))

METHOD(EVENTS, "Events", TIER_LOOK, false, request_events, request_update_events,
	"# The events of the node and those below it that are remembered: all, or the last so many.  With more:\n"
	"# those, or none without last, and then each event as it happens.  lost: the number of events of all nodes,\n"
	"# before these, that are not remembered any more because the client did not read in time.  The last reply,\n"
	"# without events, is at the end of the daemon.  changes: with more, replies also when guards, health, a\n"
	"# status or settings have changed, with changed, at most four times a second.\n",
	"(events: []Event, lost: int, changed: ?bool)",
	OPTIONAL(STRING, node), OPTIONAL(INT, last), OPTIONAL(BOOL, changes))

METHOD(RUN, "Run", TIER_RUN, true, request_run, request_update_run,
	"# Runs a command as a service that no file has, below a group.  properties: \"KEY=VALUE\", as in a section\n"
	"# of a file; without restart the service is not restarted.  The node goes when the command has ended; with\n"
	"# keep, when it has been stopped.  Replies at once; with wait, at the end: result, for people, and status,\n"
	"# as in a shell.  Failed: a property is invalid, or there can be no such node.\n",
	"(result: ?string, status: ?int)",
	REQUIRED(STRING, node), REQUIRED(STRINGS, command), OPTIONAL(STRINGS, properties),
	OPTIONAL(BOOL, keep), OPTIONAL(BOOL, wait))

METHOD(PLAN, "Plan", TIER_LOOK, false, request_plan, request_update_none,
	"# The shutdown of the node, and of all that is stopped with it, before it happens: the order of the\n"
	"# services, and how long it takes at worst, idle and busy.  Every service of the configuration counts as\n"
	"# running.  grace_usec: the time that the parent manager gives the daemon.  With within_usec: as Shutdown with\n"
	"# that grace_usec would do it.\n",
	"(entries: []PlanEntry, idle_usec: ?int, busy_usec: ?int, grace_usec: ?int)", OPTIONAL(STRING, node),
	OPTIONAL(INT, within_usec))

METHOD(LOGS, "Logs", TIER_OPERATE, false, request_logs, request_update_logs,
	"# The output of the services at and below the nodes.  With the reply a descriptor is passed: the read end\n"
	"# of a pipe, from which the lines are read, see proto/logger-message.h (struct logger_frame); without one\n"
	"# there is no logger.  lines: at most so many of the last lines of each output; all that are remembered if\n"
	"# it is missing.  older: where fewer are remembered, text of the files comes, too.  Of outputs, each is one\n"
	"# that is captured, or the one of a service of which nothing is.  With more: the pipe goes on with each\n"
	"# line that comes; the last reply, without outputs, is at the end of the logger, and a new call finds the\n"
	"# next one.\n",
	"(outputs: ?[]Output)", REQUIRED(STRINGS, nodes), OPTIONAL(INT, lines), OPTIONAL(BOOL, older))

METHOD(REOPEN_LOGS, "ReopenLogs", TIER_OPERATE, false, request_reopen_logs, request_update_none,
	"# The log files of the node and those below it are opened anew, by their paths, for the lines to come.\n",
	"()", OPTIONAL(STRING, node))

METHOD(SHOW, "Show", TIER_LOOK, false, request_show, request_update_none,
	"# All settings of the node, in the order of swansong.ini(5).  file, line: its section, or\n"
	"# that of its template.  service: it has a command.\n",
	"(node: string, service: bool, file: ?string, line: ?int, settings: []Setting)", OPTIONAL(STRING, node))

METHOD(DEPENDENCIES, "Dependencies", TIER_LOOK, true, request_dependencies, request_update_none,
	"# The dependencies of all nodes.\n",
	"(node: string, dependencies: []Dependency)", OPTIONAL(STRING, node))

METHOD(ENABLE, "Enable", TIER_OPERATE, false, request_enable, request_update_enable,
	"# Lets the services in the node start by themselves again, if autostart is set.\n"
	"# Nothing is started.  Failed: the state file is not set, or cannot be written.\n",
	"()", REQUIRED(STRING, node))

METHOD(DISABLE, "Disable", TIER_OPERATE, false, request_enable, request_update_enable,
	"# Keeps the services in the node from starting by themselves, also after a restart of\n"
	"# the daemon.  Nothing is stopped.  Failed: as in Enable.\n",
	"()", REQUIRED(STRING, node))

METHOD(UPGRADE, "Upgrade", TIER_OPERATE, true, request_upgrade, request_update_upgrade,
	"# Replaces the program of the daemon by the one at its path, in the same process: services,\n"
	"# guards and connections go on.  The new program rehearses it first; dry_run: and no more.\n"
	"# version: of the new program, which replies when it is at work.  Failed: it cannot take\n"
	"# over, or had to give way to the former program again.\n",
	"(version: string, from: string)", OPTIONAL(BOOL, dry_run))

METHOD(SCALE, "Scale", TIER_OPERATE, true, request_scale, request_update_scale,
	"# Sets the number of instances of a template, also for later reloads and starts of the daemon; without\n"
	"# instances, to that of the files.  Instances are added and started, or stopped and removed.  Failed: there\n"
	"# is no such template, its instances have names, the state file is not set or cannot be written, the files\n"
	"# have other changes since the last reload, or they have mistakes with this number.\n",
	"()", REQUIRED(STRING, template), OPTIONAL(INT, instances))

METHOD(ROLLOUT, "Rollout", TIER_OPERATE, true, request_reload, request_update_reload,
	"# Restarts the running services of the nodes one after another, or parallel at a time, by the files, which are\n"
	"# read first.  Each has to be ready for settle_usec, and healthy.  action: begin; undo, back to the settings\n"
	"# of before, of all nodes if there are none; continue, after a pause or a failure; confirm, the last reload;\n"
	"# without one, waits for the end of the rollout that there is.  min_ready: a node that requires a template does\n"
	"# not restart with an instance if so many of the others are ready, or all, and one at least.  or_undo: a\n"
	"# failure leads back.  outdated: only services with former settings, or with files that were replaced on disk.\n"
	"# pause_after: so many services are ready.  dry_run: of begin; only replies with the\n"
	"# services and their order.  Replies when the rollout is over or paused; with wait false, at once; with more,\n"
	"# also at each change.  It goes on without its client.  Failed: another one is not over, or there is none.\n"
	"# rehearse: as begin, but no file is read, the services restart in the order of nodes, and a failure is one of\n"
	"# its step alone.\n",
	"(rollout: ?Rollout, changes: ?[]Change)",
	OPTIONAL_ENUM(action, "begin", "undo", "continue", "confirm", "rehearse"), OPTIONAL(STRINGS, nodes),
	OPTIONAL(INT, settle_usec), OPTIONAL(INT, parallel), OPTIONAL(INT, min_ready), OPTIONAL(BOOL, or_undo),
	OPTIONAL(BOOL, outdated), OPTIONAL(INT, pause_after), OPTIONAL(BOOL, dry_run), OPTIONAL(BOOL, wait))

METHOD(CHANGES, "Changes", TIER_LOOK, true, request_changes, request_update_none,
	"# The last configurations, the present one last.\n",
	"(configurations: []Configuration)")

METHOD(INHIBIT, "Inhibit", TIER_OPERATE, true, request_inhibit, request_update_inhibit,
	"# The nodes that the shutdown or the sleep of the host has to wait for, by the keys inhibit and on-sleep.  delay: for\n"
	"# as long as the host allows.  With more: replies at once and at each change, at most four times a second.\n"
	"# sleep, with more: the host is going to sleep.  Services with on-sleep = stop are stopped, until the connection ends.\n",
	"(shutdown_delay: []string, shutdown_block: []string, sleep_delay: []string, sleep_block: []string)",
	OPTIONAL(BOOL, sleep))

#undef METHOD
