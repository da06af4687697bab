#!/bin/bash
# A program that cannot be executed, and a process that cannot be made because the user has too many:
# of the service itself and of each of the commands around it.
. "${0%/*}/lib.sh"

touch "$dir/refused"
printf '#!%s/missing\n' "$dir" >"$dir/script"
chmod +x "$dir/script"
for what in missing refused script; do
	cat <<-END
	[$what/main]
	command = $dir/$what
	post-stop = touch $dir/$what-post-stop
	restart = never
	[$what/start]
	command = $helpers/idle
	start-command = $dir/$what
	restart = never
	[$what/ready]
	command = $helpers/idle
	post-start = $dir/$what
	restart = never
	[$what/stop]
	command = $helpers/idle
	stop-command = $dir/$what
	[$what/post-stop]
	command = $helpers/idle
	post-stop = $dir/$what
	[$what/final]
	command = $helpers/idle
	final = $dir/$what
	END
done | config
start_daemon

for what in missing refused script; do
	case $what in
	refused) why='Permission denied' ;;
	*) why='No such file or directory' ;;
	esac
	cannot="cannot start: execute $dir/$what: $why"
	declare -A says_it=([main]="$cannot" [start]="start-command $cannot" [ready]="post-start $cannot")
	for node in "${!says_it[@]}"; do
		ok "$what, $node: the start fails" wait_for 10 has_state "$what/$node" failed
		is "$what, $node: and its result has the reason" "$(field "$what/$node" .service.result)" "${says_it[$node]}"
		is "$what, $node: nothing of it is left" "$(field "$what/$node" .guards)" 0
	done
	ok "$what, main: its post-stop ran" test -e "$dir/$what-post-stop"
	for node in stop post-stop final; do
		ok "$what, $node: it is up" wait_for 10 has_state "$what/$node" up
	done

	for node in stop post-stop final; do
		ok "$what, $node: it can be stopped" ctl stop "$what/$node" --timeout 60s
		is "$what, $node: not by force" "$(field "$what/$node" .forced)" false
		ok "$what, $node: the log gives the reason" says "$log" "$what/$node: $node(-command)? $cannot"
	done
done
stop_daemon
is "the end is graceful" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
"$swansongd" -- "$dir/script" >>"$log" 2>&1 </dev/null
is "a program without its interpreter is 127" "$?" 127

# --- The program is being written ----------------------------------------------------------------

cp "$helpers/idle" "$dir/busy"
config <<END
[busy]
command = $dir/busy
restart = never
[prepared]
command = $helpers/idle
start-command = $dir/busy
restart = never
stop-timeout = 1s
END
exec 8>>"$dir/busy"
if "$dir/busy" 2>/dev/null & running=$!; wait_for 2 is_zombie_or_gone "$running"; then
	: >"$log"
	start_daemon 8>&-
	for node in 'busy: ' 'prepared: start-command '; do
		ok "${node%%:*} waits for the end of the writes to its program" wait_for 10 \
			says "$log" "${node}cannot start: execute $dir/busy: Text file busy; again in"
	done
	exec 8>&-
	ok "and is up when that is written" wait_for 10 has_state busy up
	ok "its command runs then" wait_for 10 says "$log" 'prepared: start-command: started busy'
	stop_daemon
	is "the end is graceful" "$status" 0
else
	exec 8>&-
	end_process "$running"
	skip "a program that is being written is waited for" "machine: executes what is written to"
fi

# --- The user has too many processes -------------------------------------------------------------

# Root never has too many.  The user id is one that no other process has.
requires_root
requires_package setpriv util-linux
user=54321
as_user=(setpriv --reuid="$user" --regid="$user" --clear-groups)
mkdir "$dir/own"
chown $user "$dir/own"
socket=$dir/own/socket
export SWANSONG_SOCKET=$socket
config <<END
[plain]
command = $helpers/idle
restart-limit = 1/1h
[prepared]
command = $helpers/idle
start-command = true
restart-limit = 1/1h
[cleans]
command = $helpers/idle
post-stop = touch $dir/own/cleaned
END
: >"$log"
launch "${as_user[@]}" "$swansongd" -v \
	-c "$ini" --socket "$socket"
wait_for 10 says "$log" 'cleans: starting -> up' || die "swansongd runs as another user"
# Up to the hard limit it is the user's own.
most=$("${as_user[@]}" prlimit --pid "$daemon" --nproc --output=HARD --noheadings | tr -d ' ')
limit() { "${as_user[@]}" prlimit --pid "$daemon" --nproc="$1:$most"; }

limit 1 || skip_all "machine: refuses prlimit"
for node in plain prepared; do kill -KILL "$(pid_of "$node")"; done
for node in plain:cannot prepared:start-command\ cannot; do
	ok "${node%%:*} cannot be started now" wait_for 10 says "$log" \
		"${node%%:*}: ${node#*:} start: make a process: Resource temporarily unavailable; again in 1.0s"
done
ok "status is answered" ctl status --timeout 60s
ok "a stop of one without its post-stop is possible" ctl stop cleans --timeout 60s
ok "which is named" says "$log" 'cleans: post-stop cannot start: make a process: Resource temp'
ok "a stop of a service that waits for its next attempt as well" ctl stop prepared --timeout 60s
limit "$most"
ok "a failed service is up then" wait_for 10 has_state plain up
ok "it did not count as a failure of the service" not says "$log" 'restart-limit is reached'
ok "all can be started again" ctl start prepared cleans --timeout 60s

limit 1
stop_daemon 20
is "the whole can be stopped, too" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
ok "and no post-stop ran" not test -e "$dir/own/cleaned"
finish
