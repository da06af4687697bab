#!/bin/bash
# Leases over the control socket: which clients may hold how many, how they end, and the faults of bad
# holders.
. "${0%/*}/lib.sh"
requires_package python3 python3
. "$top_srcdir/tests/integration/holder-lib.sh"

config <<END
[web]
command = $helpers/idle
[web/sub]
command = $helpers/idle
[other]
command = $helpers/idle
END
start_daemon
ctl wait --for ready
start_holder client "$socket"

take() { echo "{\"method\":\"io.swansong.TakeGuard\",\"parameters\":{$1}${2:-}}"; } # MEMBERS [MORE]
release() { echo "{\"method\":\"io.swansong.Release\",\"parameters\":{$1}}"; }

# --- Many on one connection, released one by one -------------------------------------------------

tell client open a
tell client ask a "$(take '"node":"web","why":"x"')"
id=$(heard a | jq .parameters.id)
tell client ask a "$(take '"node":"web","why":"y"')"
tell client ask a "$(take '"node":"web","why":"y"')"
is "three are held on one connection" "$(leases web)" 3
tell client ask a "$(release '"why":"y"')"
is "all of one reason are released at once" "$(leases web)" 1
tell client ask a "$(release "\"id\":$id,\"why\":\"z\"")"
is "an id and another reason is none" "$(heard a | jq -r .error)" io.swansong.Failed
tell client open b
tell client ask b "$(release "\"id\":$id")"
is "guards of other connections are not released" "$(heard b | jq -r .error) $(leases web)" "io.swansong.Failed 1"
tell client ask a "$(release "\"id\":$id")"
is "a guard is released by its id" "$(heard a) $(leases web)" '{"parameters":{}} 0'
tell client ask a "$(release '')"
like "a release without an id is refused if there are several" "$(heard a)" 'Failed.*expected id or why'
tell client ask a "$(take '"why":"on the root"')"
is "without a node it is the root's" "$(ctl guards --json | jq -r '.guards[] | select(.kind == "lease").node')" ""
tell client close a
tell client close b
ok "the end of a connection releases all" wait_for 5 has_leases / 0

# --- Time to live --------------------------------------------------------------------------------

tell client open a
tell client ask a "$(take '"node":"web","why":"short","ttl_usec":200000')"
tell client ask a "$(take '"node":"web","why":"long","ttl_usec":100000000')"
like "guards shows the remaining time of a guard" "$(ctl guards web)" '"long", expires in'
ok "and JSON too" test "$(ctl guards web --json | jq '[.guards[].ttl_usec | numbers] | max')" -gt 50000000
ok "a guard expires" wait_for 10 has_leases web 1
like "the log names it" "$(cat "$log")" 'web: guard expired after 200ms: pid [0-9]+ \(.*\): short'
tell client ask a "$(take '"node":"web","ttl_usec":0')"
is "its connection lives on; and no time is no guard" "$(heard a | jq -r .error)" io.swansong.Failed
tell client say a "$(take '"node":"web","why":"followed","ttl_usec":100000' ',"more":true')"
tell client hear a
like "a call with more has its reply at once" "$(heard a)" '"id":[0-9]+},"continues":true'
tell client hear a
like "and hears of the end, which is the last word" "$(heard a)" '"lost":"expired"}}$'
tell client ask a "$(release '"why":"long"')"
is "the connection is free again" "$(heard a)" '{"parameters":{}}'

# --- Requests that are refused -------------------------------------------------------------------

tell client ask a "$(take '"node":"nope"')"
is "there is no guard on a missing node" "$(heard a | jq -r .error)" io.swansong.NoSuchNode
tell client ask a "$(take '"node":"web","ttl_usec":-1')"
is "nor a time below 0" "$(heard a | jq -r .error)" org.varlink.service.InvalidParameter
tell client ask a "$(take "\"node\":\"web\",\"why\":\"$(printf 'x%.0s' {1..201})\"")"
like "nor a long reason" "$(heard a)" 'Failed.*200 bytes'
tell client many a 10000
like "nor ten thousand on one connection" "$(heard a)" 'refused 9744: io.swansong.TooMany this connection holds 256 guards'
for i in {1..15}; do
	tell client open "c$i"
	tell client many "c$i" 256
done
is "4096 are one user's" "$(leases web)" 4096
tell client open more
tell client many more 10
like "and no more, on any connection" "$(heard more)" 'refused 10: io.swansong.TooMany user [0-9]+ holds 4096 guards'
ctl guard web -- true 2>"$dir/full"
is "swansongctl fails" "$?" 1
like "clearly" "$(cat "$dir/full")" 'too many: user [0-9]+ holds 4096 guards'
ok "others are answered" ctl status
ok "and nothing keeps a service from its restart" ctl restart other
for i in {1..15}; do
	tell client close "c$i"
done
tell client close a
tell client close more
ok "all are released with their connections" wait_for 10 has_leases web 0

# --- Copies, also where no scan finds them -------------------------------------------------------

tell client open a
tell client ask a "$(take '"node":"web","why":"copied"')"
tell client copy a
child=$(last_child client)
tell client close a
is "a child has the connection too" "$(leases web)" 1
kill -KILL "$child"
ok "the last copy releases it" wait_for 5 has_leases web 0
tell client open a
tell client ask a "$(take '"node":"web","why":"hidden"')"
tell client hide a
ok "a connection that is sent into itself does not keep its guard" wait_for 10 has_leases web 0

# --- The stop ------------------------------------------------------------------------------------

hold() { # NAME OPTION... -- COMMAND...
	"$swansongctl" guard "${@:2}" >"$dir/$1.out" 2>"$dir/$1.err" &
	holder=$!
	cleanup_fn end_process "$holder"
}
tell client open a
tell client open b
tell client say a "$(take '"node":"web/sub","why":"followed"' ',"more":true')"
tell client hear a
tell client ask b "$(take '"node":"web/sub","why":"unfollowed"')"
mkfifo "$dir/told.fifo"
exec {told_fd}<>"$dir/told.fifo"
# shellcheck disable=SC2016
hold told web --on-shutdown USR1 --why told -- \
	sh -c 'trap "echo told >&2" USR1; echo held; until read -r line; do :; done <"$0"; exit 3' "$dir/told.fifo"
told=$holder
ok "a command runs under a guard" wait_for 5 says "$dir/told.out" held
ctl shutdown web --no-wait
tell client hear a
like "a holder with more learns of the stop of its node, or of a node above" "$(heard a)" '"stopping":true},"continues":true'
tell client quiet b
is "other holders do not" "$(heard b)" nothing
ok "a command gets its signal" wait_for 5 says "$dir/told.err" told
tell client open c
tell client ask c "$(take '"node":"web"')"
is "it is stopped" "$(heard c | jq -r .error)" io.swansong.NodeStopped
tell client say c "$(take '"node":"web","late":true,"why":"late"' ',"more":true')"
tell client hear c
tell client hear c
like "a late one knows at once" "$(heard c)" '"stopping":true'
ctl shutdown web --force --no-wait
tell client hear a
like "a holder with more learns that its guard was revoked" "$(heard a)" '"lost":"revoked"}}$'
tell client ask a "$(release '"why":"followed"')"
is "and has it no more" "$(heard a | jq -r .error)" io.swansong.Failed
tell client end b
is "for all others it is the end of the connection" "$(heard b)" end
ok "a command gets its signal once" test "$(grep -c '^told' "$dir/told.err")" = 1
like "but the loss is reported" "$(cat "$dir/told.err")" 'web: the guard was revoked'
echo x >&"$told_fd"
wait "$told"
is "and its exit status is that of guard" "$?" 3
ctl guard web --late -- true 2>"$dir/complete"
is "a complete node has none, late or not" "$?" 75
ok "a new generation has" ctl start web
ok "again" ctl guard web -- true

# --- A daemon that goes away ---------------------------------------------------------------------

mkfifo "$dir/left.fifo"
exec {left_fd}<>"$dir/left.fifo"
# shellcheck disable=SC2016  # for the other shell
hold left / -- sh -c 'echo held; read -r line <"$0"; exit 7' "$dir/left.fifo"
left=$holder
ok "a command runs under a guard of the root" wait_for 5 says "$dir/left.out" held
others=$(pid_of web)\ $(pid_of web/sub)\ $(pid_of other)
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
ok "the loss of the daemon is reported" wait_for 5 says "$dir/left.err" 'the daemon has gone, and the guard with it'
ok "the command goes on" not gone "$left"
echo >&"$left_fd"
wait "$left"
is "to its own end" "$?" 7
# shellcheck disable=SC2086  # words; nobody's now
kill -KILL $others
start_daemon

# --- A holder that does nothing any more ---------------------------------------------------------

stop_daemon
config <<END
[swansong]
shutdown-timeout = 2s
[web]
command = $helpers/idle
END
start_daemon
ctl wait --for ready
hold frozen web --why "frozen work" -- sh -c 'echo held; sleep 1000'
frozen=$holder
ok "a guard is held" wait_for 5 says "$dir/frozen.out" held
kill -STOP "$frozen"
stop_daemon 20
is "the daemon ends within its budget, and its exit status is that of a forced stop" "$status" 124
like "the log names the holder" "$(cat "$log")" "revoking the guard of pid $frozen \\(swansongctl\\): frozen work"
kill -CONT "$frozen"
ok "a holder that goes on learns that its guard is gone" wait_for 10 says "$dir/frozen.err" 'guard (was revoked|with it)'
finish
