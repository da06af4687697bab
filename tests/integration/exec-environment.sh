#!/bin/bash
# The environment of a new process: the settings of its service, and nothing of the daemon.
. "${0%/*}/lib.sh"

# The daemon itself gets everything that it must not pass on.
exec 7</dev/null 9>"$dir/leak"
export NOTIFY_SOCKET=$dir/notify WATCHDOG_USEC=30000000 LISTEN_FDS=1 LISTEN_FDNAMES=x KEPT=kept
config <<END
[plain]
command = $helpers/report-self $dir/plain
[custom]
command = $helpers/report-self $dir/custom
umask = 027
directory = /usr
environment-file = $dir/%n.env
environment = COLOUR=blue EMPTY= "SPACED=a b"
[told]
command = $helpers/report-self $dir/told
ready = fd:5
start-timeout = infinity
[notify]
command = $helpers/report-self $dir/notify-service
ready = notify
start-timeout = infinity
END
printf 'FILE=%%n 1\nCOLOUR=green\n' >"$dir/custom.env"
umask 022
# A mask and a disposition that are not the default.
(trap '' HUP PIPE USR2; exec setsid "$swansongd" -c "$ini" --socket "$socket" \
	>>"$log" 2>&1 </dev/null) &
daemon=$!
cleanup_fn end_process "$daemon"
for report in plain custom told notify-service; do
	wait_for 10 test -s "$dir/$report" || die "$report reports"
done

has() { grep -qxF -- "$2" "$dir/$1" || { cat "$dir/$1"; return 1; }; } # REPORT LINE
hasnt() { ! grep -E -- "$2" "$dir/$1"; }			       # REPORT REGEX

ok "descriptors 0, 1, 2" has plain "fds 0 1 2"
ok "and the one that is declared" has told "fds 0 1 2 5"
ok "no signal is blocked" has plain $'SigBlk:\t0000000000000000'
ok "none is ignored" has plain $'SigIgn:\t0000000000000000'
ok "a session and a group of its own" has plain "session own, group own"
ok "the daemon's directory, else" has plain "cwd $PWD"
ok "the one asked for" has custom "cwd /usr"
ok "the daemon's umask, else" has plain $'Umask:\t0022'
ok "the one asked for" has custom $'Umask:\t0027'
for variable in COLOUR=green EMPTY= "SPACED=a b" 'FILE=%n 1'; do
	ok "variable $variable" has custom "env $variable"
	ok "not where it was not asked for" hasnt plain "^env ${variable%%=*}="
done
ok "other variables are passed on" has plain "env KEPT=kept"
ok "variables of the protocols of the daemon are not" hasnt plain '^env (NOTIFY_SOCKET|WATCHDOG_|LISTEN_)'
ok "a service with notify gets a socket" grep -q '^env NOTIFY_SOCKET=' "$dir/notify-service"
ok "of its own" hasnt notify-service "^env NOTIFY_SOCKET=$dir/notify\$"
exec 7<&- 9>&-
unset NOTIFY_SOCKET WATCHDOG_USEC LISTEN_FDS LISTEN_FDNAMES
stop_daemon

if ! is_root; then
	skip "users and groups" "machine: needs root"
	finish
fi
chmod 777 "$dir"
cp "$helpers/report-self" "$dir/" # a folder that the user may enter
config <<END
[user]
command = $dir/report-self $dir/user
user = daemon
[group]
command = $dir/report-self $dir/group
user = daemon
group = nogroup
[groups]
command = $dir/report-self $dir/groups
user = daemon
groups = nogroup 4242
[alone]
command = $dir/report-self $dir/alone
groups = 4242
END
start_daemon
for report in user group groups alone; do
	wait_for 10 test -s "$dir/$report" || die "$report reports"
done
u=$(id -u daemon) g=$(id -g daemon) n=$(getent group nogroup | cut -d: -f3)
ok "the user, real, effective, saved" has user "Uid:	$u	$u	$u	$u"
ok "its group" has user "Gid:	$g	$g	$g	$g"
ok "no group of root's" grep -Eqx "Groups:	($g )?" "$dir/user"
ok "its name and home" has user "env USER=daemon"
ok "the groups asked for, beside its own" grep -Eqx "Groups:	($g )?(4242 $n|$n 4242) ?" "$dir/groups"
ok "or alone" grep -Eqx "Groups:	4242 ?" "$dir/alone"
ok "the group asked for" has group "Gid:	$n	$n	$n	$n"
stop_daemon
is "the end is graceful" "$status" 0
finish
