#!/bin/bash
# A service that always fails is given up after some restarts; the others keep running.
. "${0%/*}/lib.sh"

config <<END
[hopeless]
command = sh -c 'date +%%s%%N >>$dir/starts; exit 3'
restart-delay = 100ms
restart-delay-max = 400ms
restart-limit = 4/30s
[dead]
command = $helpers/crasher -s 11
restart-delay = 10ms
restart-limit = 2/30s
[steady]
command = $helpers/idle
END
start_daemon
wait_for 5 has_state steady up || die "steady is up"
steady=$(pid_of steady)

ok "the service that always fails is given up" wait_for 10 has_state hopeless failed
mapfile -t starts <"$dir/starts"
gap() { echo $(((starts[$1] - starts[$1 - 1]) / 1000000)); }
ok "at its limit" test "${#starts[@]}" -ge 4 -a "${#starts[@]}" -le 5
ok "after delays that double" test "$(gap 1)" -ge 100 -a "$(gap 2)" -ge 200 -a "$(gap 3)" -ge 400
like "status gives the reason" "$(ctl status hopeless)" 'failed.*3'
ok "so is one that dies by a signal" wait_for 10 has_state dead failed
like "and status names the signal" "$(ctl status dead)" 'SEGV'
is "the rest lives" "$(state steady) $(pid_of steady)" "up $steady"
ctl --timeout 2s wait hopeless --for ready 2>/dev/null
is "a wait for it fails at once" "$?" 1

stop_daemon
is "a failed service does not spoil the end" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
finish
