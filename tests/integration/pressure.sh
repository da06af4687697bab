#!/bin/bash
# pressure-stop: services of the lowest stop-priority are stopped while memory is short, and start again.  The pressure is
# that of processors, which the kernel gives by files of the same form: it takes no memory from other tests.
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"

[ -e "$cgroup/memory.pressure" ] || skip_all "machine: the kernel does not measure pressure"
mount --bind "$cgroup/cpu.pressure" "$cgroup/memory.pressure" || die "a mount in the control group"
group_mounted() { umount "$cgroup/memory.pressure"; }
cleanup_fn group_mounted

# As many processes as keep all processors busy, while a file exists.
cat >"$dir/burn" <<END
#!/bin/bash
for i in {1..$((3 * $(nproc)))}; do
	(while [ -e $dir/hungry ]; do :; done) &
done
wait
exec "\$@"
END
chmod 755 "$dir/burn"
burn_outside() {
	mkdir -p "$cgroup/burners"
	touch "$dir/hungry"
	(echo "$BASHPID" >"$cgroup/burners/cgroup.procs" && exec "$dir/burn" true) &
}
configure() { # LINES-OF-BATCH
	config <<-END
		[web]
		command = $helpers/idle
		[base]
		command = $helpers/idle
		[batch]
		$1
		stop-priority = -10
		[batch/hog]
		command = $dir/burn $helpers/idle
		requires = base
		[batch/store]
		command = bash -c 'trap "sleep 0.3; exit" TERM; sleep 1000 & wait'
		stop-priority = -5
		[batch/web]
		command = $helpers/idle
		stop-priority = 0
	END
}
short="memory was short for [0-9]+% of the time"
from=1
news() { tail -n "+$from" "$log"; }
has_news() { says <(news) "$1"; } # REGEX
begin() { from=$(($(wc -l <"$log") + 1)); }
is_stopped_for() { has_news "$1: shutting down: $short" && has_state "$1" down; }
has_started_again() { has_news "$1: starts again" && has_state "$1" up; }

configure 'pressure-stop = 60% over 2s'
start_daemon
ok "all is ready" ctl wait --for ready --timeout 60s

touch "$dir/hungry"
ctl restart --no-wait batch/hog >/dev/null
ok "the service that causes the pressure is stopped" wait_for 60 is_stopped_for batch/hog
rm "$dir/hungry"
is "others go on" "$(state batch/store) $(state batch/web) $(state web) $(state base)" "up up up up"
ok "it starts again when that is over" wait_for 60 has_started_again batch/hog
ok "and the tree is ready" ctl wait --for ready --timeout 60s

begin
burn_outside
ok "pressure of others: the lowest priority is stopped first" wait_for 60 is_stopped_for batch/hog
ok "while it lasts, the next one is" wait_for 60 is_stopped_for batch/store
is "services with the highest are not" "$(state batch/web) $(state web)" "up up"
is "nor what they do not need" "$(state base)" up
ctl stop batch/hog >/dev/null
old=$(pid_of web)
kill -SEGV "$daemon"
ok "the daemon goes on after a fault" wait_for 20 says "$log" "fault: SIGSEGV"
rm "$dir/hungry"
ok "then a service that it has stopped starts again" wait_for 60 has_started_again batch/store
is "but none that was stopped by hand" "$(state batch/hog)" down
is "and nothing else was touched" "$(pid_of web)" "$old"

ctl start batch/hog >/dev/null
begin
burn_outside
ok "pressure once more" wait_for 60 is_stopped_for batch/hog
configure ''
ok "a reload that removes the key" ctl reload
ok "starts what was stopped" wait_for 10 has_started_again batch/hog
configure 'pressure-stop = 60% over 2s'
ok "a reload that adds the key" ctl reload
ok "stops it again" wait_for 60 has_state batch/hog down
begin
stop_daemon
is "a shutdown in the middle is complete" "$status" 0
ok "and nothing starts in it" not has_news "starts again"
rm -f "$dir/hungry"

configure 'pressure-stop = 60%'
like "a limit without a time is refused" "$(ctl check "$ini" 2>&1)" 'pressure-stop: .*expected SHARE over DURATION'
printf '[a]\ncommand = true\npressure-stop = 5%% over 10s\n' | config
like "check warns of one without effect" "$(ctl check "$ini" 2>&1)" 'pressure-stop: has no effect'
finish
