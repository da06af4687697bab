#!/bin/bash
# Limits, priorities and weights are changed by a reload without a new process, where the kernel allows that.
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"
requires_root

tree() { # [LINE...]
	printf '[web]\ncommand = sh -c '\''sleep 1000 & exec %s/idle'\''\n' "$helpers"
	[ $# = 0 ] || printf '%s\n' "$@"
	service beside
}
nice_of() { ps -o ni= -p "$1" | tr -d ' '; } # PID
score_of() { cat "/proc/$1/oom_score_adj"; } # PID
other() { pgrep -x sleep -P "$web"; }
has_other() { [ -n "$(other)" ]; }

tree | config
start_daemon
ok "web is up" wait_for 10 has_state web up
web=$(pid_of web) own=$(score_of "$daemon") own_nice=$(nice_of "$daemon")
ok "with another process" wait_for 10 has_other

tree 'nice = 5' 'oom-score-adjust = 300' 'io-class = idle' 'cgroup-pids-max = 40' 'cgroup-cpu-weight = 50' | config
plan=$(ctl reload --dry-run)
like "reload --dry-run shows it" "$plan" 'web +nice +- +5 +now, in place'
like "for each key" "$plan" 'web +cgroup-pids-max +- +40 +now, in place'
not_restart() { ! [[ $plan == *"by a restart"* ]]; }
ok "and no restart" not_restart
ok "the reload" ctl reload
is "needs no new process" "$(pid_of web)" "$web"
is "nice is changed" "$(nice_of "$web")" 5
is "also of the other process" "$(nice_of "$(other)")" 5
is "oom-score-adjust is changed" "$(score_of "$web")" 300
if [ -n "$(group web)" ]; then
	is "also of the other process in the group" "$(score_of "$(other)")" 300
else
	skip "also of the other process in the group" "machine: no control groups"
fi
if [ -e "$(group web)/pids.max" ]; then
	is "the limit of processes is changed" "$(cat "$(group web)/pids.max")" 40
else
	skip "the limit of processes is changed" "machine: no controller pids"
	ok "but its lack is reported" says "$log" 'web: cgroup-pids-max has no effect'
fi
is "the daemon stays as it is" "$(nice_of "$daemon") $(score_of "$daemon")" "$own_nice $own"
is "web is not outdated" "$(field web .service.outdated)" null

tree 'umask = 077' 'nice = 4' | config
like "with a key that needs a new process there is one" "$(ctl reload --dry-run)" 'web +nice +5 +4 +now, by a restart'
ok "after the reload" ctl reload
ok "web is another process" wait_for 10 is_up_anew web "$web"
is "with the values" "$(nice_of "$(pid_of web)") $(score_of "$(pid_of web)")" "4 $own"

tree 'umask = 077' 'nice = 6' | config
kill -HUP "$daemon"
kill -TERM "$daemon"
await_daemon 20
is "a shutdown in the middle ends well" "$status" 0
finish
