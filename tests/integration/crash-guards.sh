#!/bin/bash
# Faults of the daemon while work is held, while services are stopped, and during the shutdown: each guard
# lasts as long as its holder, what was stopped stays so, and a stop goes on, with the time that it had left.
. "${0%/*}/lib.sh"
requires_package python3 python3
. "$top_srcdir/tests/integration/holder-lib.sh"
. "${0%/*}/attach-lib.sh"

config <<END
[swansong]
shutdown-timeout = 60s
[db]
command = $helpers/idle
[app]
command = $helpers/idle
requires = db
[asker]
command = $holder_command $dir/asker
control = yes
notify = yes
stdout = file:$dir/asker.out
[counter]
command = $(attached counter attach 'elsewhere 2')
attach = yes
[other]
command = $helpers/idle
[nightly]
command = sh -c 'read -r _ <$dir/nightly && echo done >>$dir/nightly.done'
type = oneshot
autostart = no
[spare]
command = $helpers/idle
autostart = no
[store]
command = $helpers/idle
final = sh -c 'echo final >>$dir/store'
[lab]
command = $helpers/idle
final = sh -c 'echo unmount >>$dir/lab'
final = sh -c 'echo begin >>$dir/lab; read -r _ <$dir/lab.go; echo end \$SWANSONG_RESULT >>$dir/lab'
[stubborn]
command = sh -c 'trap "echo got >>$dir/stubborn" TERM; while :; do sleep 1; done'
stop-timeout = 50s
shutdown-timeout = 4s
[slow]
command = $helpers/signal-log $dir/slow 0 $dir/slow.go
stop-timeout = 50s
END
mkfifo "$dir/slow.go" "$dir/asker" "$dir/nightly" "$dir/lab.go"
start_daemon
ctl wait --for ready --timeout 60s >/dev/null || die "all are up"

# --- Guards ---

guards() { # of clients: without their ages
	ctl guards --json | jq -c '[.guards[] | select(.kind == "lease") | [.id, .node, .pid, .why]] | sort'
}
hold() { # NAME OPTION...: held until a line comes in its FIFO
	local name=$1
	shift
	mkfifo "$dir/$name"
	# shellcheck disable=SC2016 # the shell of the guard expands it
	"$swansongctl" guard --why "$name" "$@" -- \
		sh -c 'trap "" TERM; read -r _ <"$1"; echo done >"$1.done"' sh "$dir/$name" >"$dir/$name.out" 2>&1 &
	printf -v "$name" '%s' "$!"
}
hold job app
hold backup --using db
hold short --ttl 60s other
wait_for 10 says "$dir/asker.out" begins || die "asker is there"
tell_asker() { (. "$top_srcdir/tests/integration/holder-lib.sh" && tell asker "$@"); } # both have that name
tell_asker guard pipe pipe
tell_asker guard socket socket
is_held() { [ "$(leases)" = "$1" ]; } # NUMBER
wait_for 10 is_held 5 || die "five guards are held"
wait_for 10 counts counter 2 || die "so are two in a program"
before=$(guards)
fault() { # NUMBER
	kill -SEGV "$daemon"
	wait_for 10 has_faults "$1" || die "fault $1 is reported"
	ok "after fault $1 it answers" wait_for 10 ctl_answers
}
asker=$(pid_of asker) counter=$(pid_of counter)
ctl --no-wait stop other >/dev/null
ctl start spare >/dev/null
ctl stop store >/dev/null
is "a node that is stopped has had its final action" "$(cat "$dir/store")" final
ctl --no-wait start nightly >/dev/null
wait_for 10 has_state nightly starting || die "a oneshot is at work"
nightly=$(pid_of nightly)
spare=$(pid_of spare)
fault 1
is "the guards are the same" "$(guards)" "$before"
is "a service with control goes on" "$(pid_of asker)" "$asker"
tell_asker drop pipe
tell_asker drop socket
ok "the guards on its descriptors end with these" wait_for 5 is_held 3
is "an attached program goes on" "$(pid_of counter) $(program counter count)" "$counter 2"
tell counter 'elsewhere 1'
ok "and is heard" wait_for 5 counts counter 1
is "a service that was started by hand runs" "$(state spare) $(pid_of spare)" "up $spare"
is "a stop waits for the guard" "$(field other .state)" shutting_down
is "a final action that is over is not carried out again" "$(cat "$dir/store") $(field store .state)" "final complete"
is "a oneshot is at work still" "$(state nightly) $(pid_of nightly)" "starting $nightly"
echo >"$dir/nightly"
ok "and ends as it does" wait_for 10 has_state nightly "done"
is "with its work" "$(cat "$dir/nightly.done")" "done"
echo >"$dir/short"
ok "which ends with its work" wait "$short"
is_complete() { [ "$(field "$1" .state)" = complete ]; }
ok "and then it is complete" wait_for 10 is_complete other
wait_for 10 has_connections 2 || die "only the holders of two guards are connected"
kill -STOP "$daemon"
ctl status >/dev/null &
waiting=$!
wait_for 10 has_connections 3 || die "it connects"
kill -SEGV "$daemon"
kill -CONT "$daemon"
wait_for 10 has_faults 2 || die "fault 2 is reported"
ok "a client that has connected before the fault is served" wait "$waiting"
is "after one more fault, too" "$(field other .state)" complete
is "nor is the final action" "$(cat "$dir/store")" final
ctl start store >/dev/null
ctl stop store >/dev/null
is "which is that of the next stop again" "$(xargs <"$dir/store")" "final final"

# --- A stop that is under way ---

wait_for 10 says "$dir/slow" ready || die "slow hears its signal"
stopped=$(now)
ctl --no-wait stop stubborn >/dev/null
ctl --no-wait stop slow >/dev/null
ok "two stops are under way" wait_for 10 says "$dir/stubborn" got
slow=$(pid_of slow)
ctl --no-wait stop lab >/dev/null
wait_for 10 test -s "$dir/lab" || die "the final action is at work"
fault 3
is "a final action that is at work goes on" "$(xargs <"$dir/lab") $(ctl guards --json | jq -c '[.guards[] | select(.node == "lab").why]')" \
	'begin ["final"]'
echo >"$dir/lab.go"
ok "and ends" wait_for 10 is_complete lab
is "with each command once, and the result" "$(xargs <"$dir/lab")" "begin end clean unmount"
ok "the one ends with its budget" wait_for 10 is_complete stubborn
within "which began with the stop" $(($(now) - stopped)) 3500 7000
is "the other goes on" "$(field slow .state) $(pid_of slow)" "shutting_down $slow"
echo >"$dir/slow.go"
ok "and ends by itself" wait_for 10 is_complete slow

# --- The shutdown ---

"$swansongctl" shutdown >"$dir/shutdown" 2>&1 &
client=$!
is_ending() { [ "$(field '' .state)" = shutting_down ]; }
ok "the shutdown is under way" wait_for 10 is_ending
db=$(pid_of db)
fault 4
ok "it still is" is_ending
is "for the guards" "$(ctl guards --json | jq -c '[.guards[] | select(.kind == "lease").why] | sort')" '["backup","job"]'
is "the node that one uses runs" "$(pid_of db)" "$db"
wait "$client"
like "its client gets an error" "$(cat "$dir/shutdown")" 'had a fault'
fault 5
echo >"$dir/job"
ok "the first ends" wait "$job"
is "with its work" "$(cat "$dir/job.done")" "done"
is "the daemon waits for the second" "$(field db .service.state) $(pid_of db)" "waiting $db"
echo >"$dir/backup"
ok "which ends" wait "$backup"
await_daemon 20
is "the daemon ends" "$status" 0
finish
