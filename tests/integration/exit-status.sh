#!/bin/bash
# Trees that end by themselves, and their exit status: essential, exit-when, success-status.
. "${0%/*}/lib.sh"

# The daemon with the configuration on standard input, in $daemon; its exit status when it has ended by
# itself, in $status.
begin() {
	config
	: >"$log"
	launch "$swansongd" -v -c "$ini" --socket "$socket"
	wait_for 10 ctl_answers
}
by_itself() {
	begin
	await_daemon 20
}
exits() { # NAME STATUS
	by_itself
	is "$1" "$status" "$2"
}
idle="command = $helpers/idle"

# --- One essential service --------------------------------------------------------------------------

exits "an essential service's exit status is the daemon's" 3 <<END
[main]
command = $helpers/crasher 3
essential = yes
restart = never
[other]
$idle
END
ok "and its end that of the others" in_order 'main: exited with status 3' \
	'root: shutting down: main has failed' 'other: SIGTERM' 'root: complete'
exits "a service that ends with 0" 0 <<END
[main]
command = true
essential = yes
[other]
$idle
END
exits "by a signal" 137 <<END
[main]
command = $helpers/crasher -s 9
essential = yes
restart = never
END
exits "a service with a missing program" 127 <<END
[main]
command = $dir/missing
essential = yes
restart = never
END
exits "a service that is restarted until it is given up" 4 <<END
[main]
command = $helpers/crasher 4
essential = yes
restart-delay = 1ms
restart-limit = 2/30s
END
is "not before" "$(grep -c 'main: started' "$log")" 3
exits "a service that ends with 0 and is given up" 1 <<END
[main]
command = true
essential = yes
restart = always
restart-delay = 1ms
restart-limit = 2/30s
END
for also in 3 "TERM 3"; do
	exits "success-status = $also makes it 0" 0 <<-END
		[main]
		command = $helpers/crasher 3
		essential = yes
		success-status = $also
	END
done
# A service that has not executed its program yet was never ready, which is no success.
stop_main() {
	wait_for 10 has_state main up || die "main is up"
	stop_daemon
}
begin <<END
[main]
$idle
essential = yes
END
stop_main
is "stopped by a signal, its end is the exit status" "$status" 143
begin <<END
[main]
$idle
essential = yes
success-status = TERM
END
stop_main
is "unless that is a success" "$status" 0
begin <<END
[main]
command = $helpers/stubborn $dir/stubborn
essential = yes
stop-timeout = 200ms
END
wait_for 10 test -s "$dir/stubborn"
stop_daemon
is "or something had to be killed" "$status" 124
exits "a service that is killed after its own end keeps its status" 6 <<END
[main]
command = sh -c 'until [ -s $dir/ignorant ]; do :; done; exit 6'
essential = yes
restart = never
[other]
command = $helpers/stubborn $dir/ignorant
stop-timeout = 200ms
END

exits "of a oneshot it is that of its work" 0 <<END
[main]
command = touch $dir/work
type = oneshot
essential = yes
post-stop = touch $dir/undone
[other]
$idle
END
ok "which is undone then" test -e "$dir/undone"
ok "as in the stop of all" in_order 'root: shutting down: main has ended' 'main: post-stop: started'

# --- Several ----------------------------------------------------------------------------------------

for first in 3 0; do
	rm -f "$dir/second"
	exits "of several, the first cause is kept: $first" $first <<-END
		[zero]
		$idle
		essential = yes
		[first]
		command = sh -c 'until [ -s $dir/second ]; do :; done; exit $first'
		essential = yes
		restart = never
		[second]
		command = sh -c 'trap "exit 9" TERM; echo >$dir/second; while :; do sleep 0.05; done'
		essential = yes
	END
done

# --- exit-when --------------------------------------------------------------------------------------

begin <<END
[one]
command = true
[two]
command = $helpers/crasher 3
restart = never
END
ok "without an essential service" wait_for 10 has_state two failed
ok "the daemon stays when all have ended" ctl status
stop_daemon
is "and ends with 0" "$status" 0

exits "exit-when = all: the end of all is its own, the first that failed counts" 5 <<END
[swansong]
exit-when = all
[well]
command = true
[worse]
command = $helpers/crasher 5
type = oneshot
restart = never
[worst]
command = sh -c 'until [ -e $dir/last ]; do sleep 0.05; done; exit 7'
requires = once
restart = never
[once]
command = touch $dir/last
type = oneshot
after = worse
[vain]
$idle
requires = worse
[spare]
$idle
autostart = no
END
ok "and not before" in_order 'worse: exited' 'worst: exited' \
	'root: shutting down: all services have ended'
exits "all well is 0" 0 <<END
[swansong]
exit-when = all
[one]
command = true
[two]
command = $helpers/crasher 3
success-status = 3
END
exits "also beside a service that only has to be undone" 6 <<END
[swansong]
exit-when = all
[mount]
command = true
type = oneshot
stop-command = touch $dir/unmounted
[job]
command = $helpers/crasher 6
requires = mount
restart = never
END
ok "which it is" test -e "$dir/unmounted"
rm -f "$dir/go"
begin <<END
[swansong]
exit-when = all
[one]
command = sh -c 'until [ -e $dir/go ]; do sleep 0.05; done'
[slow]
command = $helpers/crasher 3
restart-delay = 1h
restart-delay-max = 1h
[again]
$idle
END
wait_for 10 has_state slow backoff || die "slow waits"
ctl stop again >/dev/null
touch "$dir/go"
wait_for 10 has_state one 'done' || die "the service one has done its work"
ok "a service that will be started again has not ended" ctl status
ctl restart one >/dev/null
wait_for 10 has_state one 'done' || die "the service one has done its work again"
ok "nor is a restart the end" ctl status
ctl stop slow --no-wait >/dev/null
await_daemon 10
is "but a stopped service has ended" "$status" 3

rm -f "$dir/go"
begin <<END
[swansong]
exit-when = all
[early]
command = $helpers/crasher 3
essential = yes
restart = never
[late]
command = sh -c 'until [ -e $dir/go ]; do sleep 0.05; done'
essential = yes
[sidecar]
$idle
END
wait_for 10 has_state early failed || die "early has failed"
ok "the first of the essential services is not the end then" has_state sidecar up
touch "$dir/go"
await_daemon 10
is "the last of them is, with the status of the one that failed" "$status" 3
ok "even while other services still run" in_order 'all essential services have ended' 'sidecar: SIGTERM'

begin <<END
[swansong]
exit-when = never
[main]
command = $helpers/crasher 3
essential = yes
restart = never
END
wait_for 10 has_state main failed || die "main has failed"
ok "exit-when = never: there is time to look" ctl status
stop_daemon
is "and the exit status is still that of the first that failed" "$status" 3
begin <<END
[swansong]
exit-when = never
[main]
command = $helpers/crasher 4
restart = never
on-failed = shutdown
END
await_daemon 10
is "the request of on-failed is carried out" "$status" 4
finish
