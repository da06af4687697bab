/*
 * The keys of a configuration, one row each, in the order of swansong.ini(5):
 *
 *	KEY(ID, name, scope, type, place, reload, text)
 *
 * ID		KEY_ID is its number
 * scope	the sections that may have the key: SCOPE_... of model/keys/keys.h
 * type		reads, compares and shows the value: type_... of model/types/type.h
 * place	the setting: a member of struct config, node_config, extras, outputs or attributes
 *		(WHOLE: the type fills several members), an edge, a hook or a limit
 * reload	when a changed value takes effect: APPLY_... of model/keys/keys.h
 * text		a line of help; keys.awk makes the list of keys, RELOAD and the completion of it
 *
 * The including file defines KEY.
 */
/* clang-format off */
KEY(INSTANCES, "instances", TEMPLATE, instances, EXTRA(instances), LIVE,
	"number or names of the instances of a template")

KEY(CONTROL_SOCKET, "control-socket", ROOT, socket, CONFIG(control_socket), DAEMON, "path of the control socket")
KEY(CONTROL_GROUP, "control-group", ROOT, gid, CONFIG(control_group), DAEMON, "group that may start, stop and reload")
KEY(CONTROL_MODE, "control-mode", ROOT, mode, CONFIG(control_mode), DAEMON, "permissions of the control socket")
KEY(CONTROL_RUN_GROUP, "control-run-group", ROOT, gid, CONFIG(control_run_group), DAEMON,
	"group that may also run programs of no file")
KEY(EXIT_WHEN, "exit-when", ROOT, exit_when, CONFIG(exit_when), DAEMON,
	"services that shut the tree down when they end")
KEY(EXIT_ON_SIGNAL, "exit-on-signal", ROOT, exit_on_signal, CONFIG(exit_on_signal), DAEMON,
	"exit status of the daemon after a stop by a signal")
KEY(REPORT, "report", ROOT, report, CONFIG(report), LIVE, "file for the report on the shutdown")
KEY(HISTORY, "history", ROOT, report, CONFIG(history), LIVE, "file for the end of each run and of each shutdown")
KEY(STATE, "state", ROOT, report, CONFIG(state), LIVE, "file for the services that are disabled")
KEY(LOG_USER, "log-user", ROOT, user, CONFIG(log_user), DAEMON, "user that writes the log files")

KEY(SHUTDOWN_TIMEOUT, "shutdown-timeout", NODE, duration, NODE(shutdown_timeout_usec), LIVE,
	"budget of a shutdown of the node with all in it")
KEY(REQUIRES, "requires", NODE, nodes, EDGE(REQUIRES), LIVE, "nodes that must be ready before this one starts")
KEY(BINDS_TO, "binds-to", NODE, nodes, EDGE(BINDS_TO), LIVE, "nodes as in requires, with which this one ends")
KEY(WANTS, "wants", NODE, nodes, EDGE(WANTS), LIVE, "nodes that are started with this one, and before it")
KEY(AFTER, "after", NODE, nodes, EDGE(AFTER), LIVE, "nodes that start before this one and stop after it")
KEY(TERM_AFTER, "term-after", NODE, nodes, EDGE(TERM_AFTER), LIVE, "nodes that must be complete before this one stops")
KEY(STRATEGY, "strategy", NODE, strategy, NODE(strategy), LIVE, "services in the node that are restarted together")
KEY(START_PARALLEL, "start-parallel", NODE, pids, EXTRA(start_parallel), LIVE,
	"services in the node that come up at the same time")
KEY(PRESSURE_STOP, "pressure-stop", NODE, pressure_limit, EXTRA(pressure_stop), LIVE,
	"shortage of memory at which services in the node stop")
KEY(INHIBIT, "inhibit", NODE, inhibit, EXTRA(inhibit), LIVE,
	"whether the host waits for the node, and before what")
KEY(AGENT, "agent", NODE, agent, EXTRA(agent), LIVE, "socket that replies to checks of load balancers")
KEY(FINAL, "final", NODE, commands, HOOK(FINAL), NEXT_START, "command to run when all guards of the node are gone")
KEY(FINAL_TIMEOUT, "final-timeout", NODE, duration, EXTRA(final_timeout_usec), LIVE, "time for the commands of final")

KEY(COMMAND, "command", SERVICE, command, WHOLE(NODE), RESTART, "program to run, which makes the node a service")
KEY(TYPE, "type", SERVICE, type, NODE(type), RESTART, "service that stays, ends with its work, or forks")
KEY(PID_FILE, "pid-file", SERVICE, pid_file, EXTRA(pid_file), NEXT_START,
	"file with the pid of a service of type = forking")
KEY(LISTEN, "listen", SERVICE, listen, WHOLE(EXTRAS), RESTART, "sockets that the daemon opens for the service")
KEY(AUTOSTART, "autostart", SERVICE, autostart, NODE(autostart), LIVE, "start with the nodes around it, or on demand")
KEY(IDLE_TIMEOUT, "idle-timeout", SERVICE, idle, EXTRA(idle_timeout_usec), LIVE,
	"time after which an unused service on demand stops")
KEY(SCHEDULE, "schedule", SERVICE, schedule, EXTRA(schedule), LIVE, "when a oneshot runs by itself")
KEY(SCHEDULE_JITTER, "schedule-jitter", SERVICE, duration, EXTRA(schedule_jitter_usec), LIVE,
	"longest random delay of a scheduled run")
KEY(TIMEZONE, "timezone", SERVICE, timezone, EXTRA(timezone), LIVE, "time zone of its schedule")
KEY(RESTART, "restart", SERVICE, restart, NODE(restart), LIVE, "ends after which the service is started again")
KEY(RESTART_DELAY, "restart-delay", SERVICE, duration, NODE(restart_delay_usec), LIVE,
	"pause before the first restart, doubled with each more")
KEY(RESTART_DELAY_MAX, "restart-delay-max", SERVICE, duration, NODE(restart_delay_max_usec), LIVE,
	"longest pause before a restart")
KEY(RESTART_JITTER, "restart-jitter", SERVICE, percent, EXTRA(restart_jitter), LIVE,
	"share of the pause that is added to it at random")
KEY(RESTART_RESET, "restart-reset", SERVICE, duration, EXTRA(restart_reset_usec), LIVE,
	"length of a run that makes up for earlier failures")
KEY(RESTART_LIMIT, "restart-limit", SERVICE, restart_limit, NODE(restart_limit), LIVE,
	"failures in a time after which there are no restarts")
KEY(HANDOVER, "handover", SERVICE, bool, NODE(handover), NEXT_START,
	"whether a restart starts the next run beside this one")
KEY(HANDOVER_MAX, "handover-max", SERVICE, retries, EXTRA(handover_max), LIVE,
	"number of earlier runs that may still be ending")
KEY(SUCCESS_STATUS, "success-status", SERVICE, success_status, EXTRA(success_status), LIVE,
	"exit statuses and signals that are no failure")
KEY(ON_FAILED, "on-failed", SERVICE, on_failed, NODE(on_failed), LIVE,
	"node that shuts down when the service is given up")
KEY(ON_FAILURE_COMMAND, "on-failure-command", SERVICE, commands, HOOK(ON_FAILURE), LIVE,
	"command to run when the service is given up")
KEY(ON_EVENT_COMMAND, "on-event-command", SERVICE, commands, HOOK(ON_EVENT), LIVE,
	"command to run for an event of the service")
KEY(ON_FAILURE_TIMEOUT, "on-failure-timeout", SERVICE, duration, EXTRA(on_failure_timeout_usec), LIVE,
	"time for the commands of these two keys")
KEY(ON_FAILURE_INTERVAL, "on-failure-interval", SERVICE, duration, EXTRA(on_failure_interval_usec), LIVE,
	"shortest time between two runs of them")
KEY(ON_SUCCESS_START, "on-success-start", SERVICE, chain, EXTRA(chains[CHAIN_SUCCESS]), LIVE,
	"nodes that start when a run has succeeded")
KEY(ON_FAILURE_START, "on-failure-start", SERVICE, chain, EXTRA(chains[CHAIN_FAILURE]), LIVE,
	"nodes that start when the service is given up")
KEY(READY, "ready", SERVICE, ready, NODE(ready), NEXT_START, "sign that the service can be used")
KEY(NOTIFY, "notify", SERVICE, bool, NODE(notify), RESTART, "whether the service gets a socket for notifications")
KEY(NOTIFY_USER, "notify-user", SERVICE, uid, EXTRA(notify_uid), RESTART, "user that the service changes to by itself")
KEY(NOTIFY_ACCESS, "notify-access", SERVICE, notify_access, EXTRA(notify_access), RESTART,
	"processes of the service that may send notifications")
KEY(CONTROL, "control", SERVICE, bool, NODE(control), RESTART, "whether the service gets a connection to the daemon")
KEY(FD_STORE_MAX, "fd-store-max", SERVICE, fd_store_max, EXTRA(fd_store_max), RESTART,
	"number of descriptors kept for the next run")
KEY(ATTACH, "attach", SERVICE, bool, NODE(attach), RESTART, "whether the program counts guards of its own")
KEY(SETTLE_TIME, "settle-time", SERVICE, duration, EXTRA(settle_time_usec), NEXT_START,
	"time to run before ready = started counts")
KEY(START_TIMEOUT, "start-timeout", SERVICE, duration, NODE(start_timeout_usec), LIVE,
	"time until the service has to be ready")
KEY(WATCHDOG, "watchdog", SERVICE, watchdog, EXTRA(watchdog_usec), RESTART, "longest time between two signs of life")
KEY(WATCHDOG_SIGNAL, "watchdog-signal", SERVICE, signal, EXTRA(watchdog_signal), LIVE,
	"signal that ends the service when it gives none")
KEY(HEALTH, "health", SERVICE, health, EXTRA(health), NEXT_START, "sign that the running service is healthy")
KEY(HEALTH_INTERVAL, "health-interval", SERVICE, interval, EXTRA(health_interval_usec), LIVE,
	"time between two health checks")
KEY(HEALTH_TIMEOUT, "health-timeout", SERVICE, interval, EXTRA(health_timeout_usec), LIVE,
	"time for one check of health or ready")
KEY(HEALTH_RETRIES, "health-retries", SERVICE, retries, EXTRA(health_retries), LIVE,
	"failed checks in a row that make the service unhealthy")
KEY(ON_UNHEALTHY, "on-unhealthy", SERVICE, on_unhealthy, EXTRA(on_unhealthy), LIVE,
	"consequence when the service is unhealthy")
KEY(RECYCLE_MEMORY, "recycle-memory", SERVICE, memory, EXTRA(recycle_memory), LIVE,
	"memory beyond which the service is renewed")
KEY(RECYCLE_AGE, "recycle-age", SERVICE, idle, EXTRA(recycle_age_usec), LIVE, "age at which the service is renewed")
KEY(CONDITION, "condition", SERVICE, conditions, HOOK(CONDITION), NEXT_START,
	"test without which the service is skipped")
KEY(RUNTIME_DIRECTORY, "runtime-directory", SERVICE, folders, EXTRA(folders[FOLDER_RUNTIME]), RESTART,
	"directories below /run, which it has while it runs")
KEY(STATE_DIRECTORY, "state-directory", SERVICE, folders, EXTRA(folders[FOLDER_STATE]), RESTART,
	"directories below /var/lib for its data")
KEY(CACHE_DIRECTORY, "cache-directory", SERVICE, folders, EXTRA(folders[FOLDER_CACHE]), RESTART,
	"directories below /var/cache for its cache")
KEY(LOG_DIRECTORY, "log-directory", SERVICE, folders, EXTRA(folders[FOLDER_LOG]), RESTART,
	"directories below /var/log for its own log files")
KEY(CREDENTIAL, "credential", SERVICE, credential, HOOK(CREDENTIAL), NEXT_START,
	"secret file that only the service can read")
KEY(START_COMMAND, "start-command", SERVICE, commands, HOOK(START_COMMAND), NEXT_START,
	"command to run before the service starts")
KEY(POST_START, "post-start", SERVICE, commands, HOOK(POST_START), NEXT_START,
	"command to run when the service is ready")
KEY(RELOAD_SIGNAL, "reload-signal", SERVICE, signal, EXTRA(reload_signal), LIVE,
	"signal that asks the service to reload")
KEY(RELOAD_COMMAND, "reload-command", SERVICE, commands, HOOK(RELOAD_COMMAND), NEXT_START,
	"command to run instead of the reload-signal")
KEY(DRAIN_DELAY, "drain-delay", SERVICE, duration, EXTRA(drain_delay_usec), LIVE,
	"time between the stop and the stop signal")
KEY(DRAIN_QUIET, "drain-quiet", SERVICE, idle, EXTRA(drain_quiet_usec), LIVE,
	"time without a new connection that ends drain-delay")
KEY(STOP_SIGNAL, "stop-signal", SERVICE, signal, NODE(stop_signal), LIVE, "signal that asks the service to end")
KEY(STOP_COMMAND, "stop-command", SERVICE, commands, HOOK(STOP_COMMAND), NEXT_START,
	"command to run instead of the stop-signal")
KEY(SIGNAL_SCOPE, "signal-scope", SERVICE, signal_scope, NODE(signal_scope), LIVE, "processes that get the stop signal")
KEY(KILL_SIGNAL, "kill-signal", SERVICE, signal, EXTRA(kill_signal), LIVE,
	"signal that ends the service after its stop-timeout")
KEY(KILL_LEFTOVERS, "kill-leftovers", SERVICE, bool, NODE(kill_leftovers), LIVE,
	"whether to end processes that outlive the main process")
KEY(POST_STOP, "post-stop", SERVICE, commands, HOOK(POST_STOP), NEXT_START,
	"command to run when no process of the service is left")
KEY(ESSENTIAL, "essential", SERVICE, bool, NODE(essential), LIVE, "whether the tree shuts down with the service")
KEY(TERMINAL, "terminal", SERVICE, bool, NODE(terminal), RESTART, "whether the service gets the terminal of the daemon")
KEY(CGROUP_MEMORY_MAX, "cgroup-memory-max", SERVICE, memory, EXTRA(cgroup_memory_max), IN_PLACE,
	"most memory of all processes of the service")
KEY(CGROUP_MEMORY_HIGH, "cgroup-memory-high", SERVICE, memory, EXTRA(cgroup_memory_high), IN_PLACE,
	"memory beyond which the service is slowed down")
KEY(CGROUP_PIDS_MAX, "cgroup-pids-max", SERVICE, pids, EXTRA(cgroup_pids_max), IN_PLACE,
	"most processes and threads of the service")
KEY(CGROUP_CPU_WEIGHT, "cgroup-cpu-weight", SERVICE, weight, EXTRA(cgroup_cpu_weight), IN_PLACE,
	"share of the processors while they are busy")
KEY(CGROUP_IO_WEIGHT, "cgroup-io-weight", SERVICE, weight, EXTRA(cgroup_io_weight), IN_PLACE,
	"share of the disks while they are busy")

KEY(USER, "user", INHERITED, user, EXTRA(credentials), RESTART, "user to run as")
KEY(GROUP, "group", INHERITED, group, EXTRA(credentials), RESTART, "group to run as")
KEY(GROUPS, "groups", INHERITED, groups, EXTRA(credentials), RESTART, "further groups to be in")
KEY(DIRECTORY, "directory", INHERITED, directory, NODE(directory), RESTART, "working directory")
KEY(ROOT_DIRECTORY, "root-directory", INHERITED, directory, EXTRA(root_directory), RESTART,
	"directory that is / for the service")
KEY(ENVIRONMENT, "environment", INHERITED, environment, NODE(environment), RESTART, "variables for the environment")
KEY(ENVIRONMENT_FILE, "environment-file", INHERITED, files, NODE(environment_files), RESTART,
	"files with more variables")
KEY(ENVIRONMENT_CLEAR, "environment-clear", INHERITED, bool, EXTRA(environment_clear), RESTART,
	"whether the service gets no variables of the daemon")
KEY(ENVIRONMENT_PASS, "environment-pass", INHERITED, names, EXTRA(environment_pass), RESTART,
	"variables of the daemon that it gets all the same")
KEY(UMASK, "umask", INHERITED, mode, NODE(umask), RESTART, "permissions that new files do not get")
KEY(LIMIT_AS, "limit-as", INHERITED, limit_size, LIMIT(AS), RESTART, "most bytes of address space")
KEY(LIMIT_CORE, "limit-core", INHERITED, limit_size, LIMIT(CORE), RESTART, "most bytes of a core file")
KEY(LIMIT_CPU, "limit-cpu", INHERITED, limit, LIMIT(CPU), RESTART, "most seconds of processor time")
KEY(LIMIT_DATA, "limit-data", INHERITED, limit_size, LIMIT(DATA), RESTART, "most bytes of data")
KEY(LIMIT_FSIZE, "limit-fsize", INHERITED, limit_size, LIMIT(FSIZE), RESTART,
	"most bytes of a file that the service writes")
KEY(LIMIT_LOCKS, "limit-locks", INHERITED, limit, LIMIT(LOCKS), RESTART, "most file locks")
KEY(LIMIT_MEMLOCK, "limit-memlock", INHERITED, limit_size, LIMIT(MEMLOCK), RESTART, "most bytes of locked memory")
KEY(LIMIT_MSGQUEUE, "limit-msgqueue", INHERITED, limit_size, LIMIT(MSGQUEUE), RESTART,
	"most bytes of message queues of the user")
KEY(LIMIT_NICE, "limit-nice", INHERITED, limit, LIMIT(NICE), RESTART, "20 less the lowest nice value that may be taken")
KEY(LIMIT_NOFILE, "limit-nofile", INHERITED, limit, LIMIT(NOFILE), RESTART, "most open files")
KEY(LIMIT_NPROC, "limit-nproc", INHERITED, limit, LIMIT(NPROC), RESTART, "most processes and threads of the user")
KEY(LIMIT_RSS, "limit-rss", INHERITED, limit_size, LIMIT(RSS), RESTART,
	"most bytes of resident memory, ignored by Linux")
KEY(LIMIT_RTPRIO, "limit-rtprio", INHERITED, limit, LIMIT(RTPRIO), RESTART, "highest realtime priority")
KEY(LIMIT_RTTIME, "limit-rttime", INHERITED, limit, LIMIT(RTTIME), RESTART,
	"most microseconds of realtime processor time in a row")
KEY(LIMIT_SIGPENDING, "limit-sigpending", INHERITED, limit, LIMIT(SIGPENDING), RESTART,
	"most pending signals of the user")
KEY(LIMIT_STACK, "limit-stack", INHERITED, limit_size, LIMIT(STACK), RESTART, "most bytes of the stack")
KEY(NICE, "nice", INHERITED, nice, ATTRIBUTE(nice), IN_PLACE, "priority of the processor, from -20 to 19")
KEY(OOM_SCORE_ADJUST, "oom-score-adjust", INHERITED, oom_score, ATTRIBUTE(oom_score_adjust), IN_PLACE,
	"how early to be killed when memory runs out")
KEY(IO_CLASS, "io-class", INHERITED, io_class, ATTRIBUTE(io_priority), IN_PLACE,
	"scheduling class and level of input and output")
KEY(CPU_AFFINITY, "cpu-affinity", INHERITED, cpus, ATTRIBUTE(cpus), RESTART, "processors to run on")
KEY(NO_NEW_PRIVILEGES, "no-new-privileges", INHERITED, bool, ATTRIBUTE(no_new_privileges), RESTART,
	"whether executed programs are denied further rights")
KEY(CAPABILITIES, "capabilities", INHERITED, capabilities, ATTRIBUTE(capabilities), RESTART,
	"rights of root that the service has")
KEY(WRITE_PATHS, "write-paths", INHERITED, paths, SANDBOX(write_paths), RESTART,
	"files and directories that the service may write")
KEY(READ_PATHS, "read-paths", INHERITED, paths, SANDBOX(read_paths), RESTART,
	"files and directories that it may read, and execute")
KEY(READ_ONLY_SYSTEM, "read-only-system", INHERITED, read_only, SANDBOX(read_only_system), RESTART,
	"directories of the system that it cannot write")
KEY(HIDE_HOME, "hide-home", INHERITED, hide_home, SANDBOX(hide_home), RESTART,
	"whether it sees no files below the homes of users")
KEY(PRIVATE_TMP, "private-tmp", INHERITED, bool, SANDBOX(private_tmp), RESTART,
	"whether it has a /tmp and a /var/tmp of its own")
KEY(PRIVATE_NETWORK, "private-network", INHERITED, bool, SANDBOX(private_network), RESTART,
	"whether it has a network of its own, without any other")
KEY(PRIVATE_DEVICES, "private-devices", INHERITED, bool, SANDBOX(private_devices), RESTART,
	"whether it has a /dev without devices of the machine")
KEY(PRIVATE_USERS, "private-users", INHERITED, bool, SANDBOX(private_users), RESTART,
	"whether there is no other user for it")
KEY(PROTECT, "protect", INHERITED, protections, SANDBOX(protect), RESTART,
	"parts of the kernel that it cannot change or see")
KEY(ADDRESS_FAMILIES, "address-families", INHERITED, families, SANDBOX(address_families), RESTART,
	"kinds of sockets that it may make")
KEY(TCP_BIND, "tcp-bind", INHERITED, ports, SANDBOX(tcp_bind), RESTART, "ports of TCP at which it may listen")
KEY(TCP_CONNECT, "tcp-connect", INHERITED, ports, SANDBOX(tcp_connect), RESTART,
	"ports of TCP to which it may connect")
KEY(SYSTEM_CALLS, "system-calls", INHERITED, calls, SANDBOX(system_calls), RESTART,
	"system calls that it may make")
KEY(SANDBOX, "sandbox", INHERITED, sandbox, SANDBOX(mode), RESTART,
	"whether a limit that the kernel refuses is an error")
KEY(STOP_TIMEOUT, "stop-timeout", INHERITED, duration, NODE(stop_timeout_usec), LIVE,
	"time from the stop signal to the kill")
KEY(STOP_WARNING, "stop-warning", INHERITED, percent, NODE(stop_warning), LIVE,
	"share of the limit of a stop after which that is slow")
KEY(DRAIN_TIMEOUT, "drain-timeout", INHERITED, duration, NODE(drain_timeout_usec), LIVE,
	"time from the stop signal to the kill while busy")
KEY(STOP_PRIORITY, "stop-priority", INHERITED, stop_priority, NODE(stop_priority), LIVE,
	"how late to be killed when a stop has little time")
KEY(ON_SLEEP, "on-sleep", INHERITED, on_sleep, EXTRA(on_sleep), LIVE,
	"whether the service is stopped before the host sleeps")
KEY(STDIN, "stdin", INHERITED, input, OUTPUT(stdio[0]), RESTART, "source of standard input")
KEY(STDOUT, "stdout", INHERITED, output, OUTPUT(stdio[1]), RESTART, "destination of standard output")
KEY(STDERR, "stderr", INHERITED, output, OUTPUT(stdio[2]), RESTART, "destination of standard error")
KEY(LOG, "log", INHERITED, output, OUTPUT(log), RESTART, "destination of standard output and standard error")
KEY(LOG_FORMAT, "log-format", INHERITED, log_format, OUTPUT(log_format), LIVE, "form of each line of the output")
KEY(LOG_SIZE, "log-size", INHERITED, memory, OUTPUT(log_size), LIVE, "size at which a log file is rotated")
KEY(LOG_AGE, "log-age", INHERITED, watchdog, OUTPUT(log_age_usec), LIVE, "age at which a log file is rotated")
KEY(LOG_KEEP, "log-keep", INHERITED, log_keep, OUTPUT(log_keep), LIVE, "rotated log files that are kept")
KEY(LOG_COMPRESS, "log-compress", INHERITED, bool, OUTPUT(log_compress), LIVE,
	"whether older rotated log files are compressed")
KEY(LOG_GROUP, "log-group", INHERITED, gid, OUTPUT(log_group), LIVE, "group of new log files")
KEY(LOG_TIMESTAMP, "log-timestamp", INHERITED, log_timestamp, OUTPUT(log_timestamp), LIVE,
	"time in front of each line of the output")
KEY(LOG_FULL, "log-full", INHERITED, log_full, OUTPUT(log_full), LIVE, "consequence when the output cannot be written")
#undef KEY
