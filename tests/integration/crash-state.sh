#!/bin/bash
# The file system of the state file does not answer any more: the daemon goes on, also over a fault and a reload, and
# with the services that were disabled.
. "${0%/*}/lib.sh"
requires_root
requires_package python3 python3

mkdir "$dir/kept"
{
	printf '[swansong]\nstate = %s/kept/state\nreport = %s/kept/report\nhistory = %s/kept/history\n' "$dir" "$dir" "$dir"
	service web
	service other
	service first
	cat <<-END
		[job]
		command = sh -c 'echo >>$dir/runs'
		type = oneshot
		schedule = *:*:*
	END
} | config
start_daemon
ctl wait --for running >/dev/null
ctl disable first >/dev/null || die "a service is disabled"
ctl stop first >/dev/null
web=$(pid_of web)
ok "the times of runs are kept" wait_for 10 test -e "$dir/kept/state.runs/job"

mount_hanging "$dir/kept"
answers() { timeout 60 "$swansongctl" status >/dev/null; }
runs() { wc -l <"$dir/runs"; }
runs_again() { (($(runs) > before)); }
before=$(runs)
ok "a scheduled run goes on" wait_for 20 runs_again
ok "and the daemon answers" answers
ok "a message has the reason" says "$log" 'a scheduled run may be repeated .*does not answer'
timeout 60 "$swansongctl" reload >"$dir/out" 2>&1
is "a reload is refused" $? 1
like "with the reason" "$(cat "$dir/out")" 'a file system does not answer'
kill -SEGV "$daemon"
ok "after a fault the daemon goes on" wait_for 10 has_faults 1
ok "and answers" wait_for 10 answers
is "with its service" "$(pid_of web)" "$web"
is "and the one that is disabled" "$(field first .service.disabled)" true
ok "former configurations are left as they are" says "$log" 'state.changes: not read, and .*does not answer'
ok "a second fault has the same set" kill -SEGV "$daemon"
ok "the daemon goes on again" wait_for 10 has_faults 2
is "it is still disabled" "$(field first .service.disabled)" true
before=$(runs)
ok "scheduled runs go on" wait_for 20 runs_again
stop_daemon
is "the end comes" "$status" 0
ok "without a report" says "$log" 'cannot write the report .*does not answer'
finish
