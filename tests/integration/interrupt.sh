#!/bin/bash
# The output of a command ends with the node, between two lines: nothing is torn, nothing is lost.
. "${0%/*}/lib.sh"

config <<END
[a]
[b]
[c]
[d]
[e]
[f]
[g/child]
[h]
command = $helpers/idle
[i]
[j]
END
start_daemon
ctl wait --for ready

interrupt() { # NAME NODE CMD...: in the background, with its output in $dir/NAME
	local name=$1 node=$2
	shift 2
	"$swansongctl" interrupt "$node" -- "$@" >"$dir/$name" 2>"$dir/$name.err" &
	stream=$!
	cleanup_fn end_process "$stream"
}
await() { # SECONDS: the end of the stream
	status="none: still there"
	wait_for "$1" gone "$stream" || return 1
	wait "$stream"
	status=$?
}
holds() { [ -e "$1" ] && [ "$(stat -c %s "$1")" -ge "$2" ]; } # FILE BYTES
child() { pgrep -P "$1" "${@:2}"; }             # PID [OPTION...]
is_counted() { # FILE: 1, 2, 3 ... and each in a line of its own
	awk '$0 != NR { print "line", NR, "is", $0; exit 1 }' "$1" && [ -z "$(tail -c 1 "$1")" ]
}

# --- The stop ------------------------------------------------------------------------------------

interrupt counted a seq 1 1000000000
wait_for 20 holds "$dir/counted" 3000000 || die "lines come"
seq=$(child "$stream")
ctl stop --no-wait a >/dev/null
ok "a stream at full speed ends" await 20
is "with 0" "$status" 0
ok "and every line is there, to the last one" is_counted "$dir/counted"
ok "the command is gone" gone "$seq"
is "there is no message" "$(cat "$dir/counted.err")" ""

ctl interrupt a -- touch "$dir/ran" >"$dir/none"
is "on a stopped node the stream is empty" "$? $(cat "$dir/none")" "0 "
ok "and the command does not run" test ! -e "$dir/ran"

# The reader does not read: the output stays in the pipes.
mkfifo "$dir/slow"
"$swansongctl" interrupt b -- seq 1 1000000000 >"$dir/slow" &
stream=$!
cleanup_fn end_process "$stream"
exec {slow}<"$dir/slow"
wait_for 10 child "$stream" >/dev/null || die "the command runs"
seq=$(child "$stream")
# It has written, and waits for the pipe; as far as the kernel shows.
wait_for 20 says "/proc/$seq/wchan" 'pipe|^0$' || die "the command waits"
ctl stop --no-wait b >/dev/null
ok "the stream waits for its reader" kill -0 "$stream"
like "in little memory" "$(memory_of "$stream")" '^[0-9]{1,4}$'
cat <&"$slow" >"$dir/slowly"
exec {slow}<&-
ok "and ends when he has read all" await 20
is "with 0 too" "$status" 0
ok "then he has every line" is_counted "$dir/slowly"
ok "the contents of the pipe are there" holds "$dir/slowly" 60000

# Lines that no pipe holds, so that a stop is inside of one.
interrupt huge c sh -c 'while :; do head -c 300000 /dev/zero | tr "\\0" x; echo; done'
wait_for 20 holds "$dir/huge" 3000000 || die "long lines come"
ctl stop --no-wait c >/dev/null
ok "a stream of long lines ends" await 20
is "with 0 as all" "$status" 0
is "and its lines are whole" "$(awk '{ print length($0) }' "$dir/huge" | sort -u)" 300000
is "the last one, too" "$(tail -c 1 "$dir/huge" | od -An -c | tr -d ' ')" '\n'

# shellcheck disable=SC2016  # for the other shell
interrupt half d sh -c 'printf "one\nha"; "$0" wait d --for stopping >/dev/null; echo lf; exec sleep 1000' "$swansongctl"
wait_for 10 holds "$dir/half" 4 || die "a line comes"
is "half a line waits" "$(cat "$dir/half")" one
ctl stop --no-wait d >/dev/null
ok "the line in hand is finished" await 20
is "and is the last one" "$(cat "$dir/half")" $'one\nhalf'

interrupt never e sh -c 'printf "one\nhalf"; exec sleep 1000'
wait_for 10 holds "$dir/never" 4 || die "a line comes"
ctl stop --no-wait e >/dev/null
ok "a line that never ends does not hold up the stop" await 20
is "and is the end of the stream as well" "$status" 0
is "and is left out" "$(od -An -c "$dir/never" | tr -d ' ')" 'one\n'
like "and its length is reported" "$(cat "$dir/never.err")" 'e: stopped; an unfinished line of 4 bytes is left out'

interrupt under g/child seq 1 1000000000
wait_for 10 holds "$dir/under" 10000 || die "lines come"
ctl stop --no-wait g >/dev/null
ok "the stop of a node above is one, too" await 20
ok "and tears nothing" is_counted "$dir/under"

interrupt again h seq 1 1000000000
wait_for 10 holds "$dir/again" 10000 || die "lines come"
ctl restart h >/dev/null
ok "so is a restart" await 20
is "which ends it with 0" "$status" 0
interrupt mute f sleep 1000
wait_for 10 child "$stream" >/dev/null || die "the command runs"
ctl stop --no-wait f >/dev/null
ok "a command without output ends as well" await 20
is "with 0 again" "$status" 0

# --- The command's own end -----------------------------------------------------------------------

ctl interrupt i -- sh -c 'printf "a\nb"; exit 7' >"$dir/own"
is "the exit status is the command's" "$?" 7
is "and all is there, without a newline too" "$(od -An -c "$dir/own" | tr -d ' ')" 'a\nb'
head -c 3000000 /dev/urandom >"$dir/bytes"
ctl interrupt i -- cat "$dir/bytes" >"$dir/copy"
is "bytes of any kind: the status" "$?" 0
ok "and the bytes" cmp "$dir/bytes" "$dir/copy"
ctl interrupt i -- cat <"$dir/bytes" >"$dir/input"
ok "standard input is the command's" cmp "$dir/bytes" "$dir/input"
head -c 40000000 /dev/zero >"$dir/zeros"
ctl interrupt i -- cat "$dir/zeros" | cmp - "$dir/zeros"
is "a line that never ends comes in pieces" "$?" 0
ctl interrupt i -- /nowhere 2>/dev/null
is "a command that is not there" "$?" 127
ctl interrupt nope -- true 2>/dev/null
is "a node that is not there" "$?" 4

ctl interrupt i -- seq 1 1000000000 2>"$dir/gone.err" | head -n 3 >"$dir/gone"
is "a reader that goes ends the command as in any pipe" "${PIPESTATUS[0]}" 141
is "the reader has the lines that it took" "$(cat "$dir/gone")" $'1\n2\n3'
is "and there is no message" "$(cat "$dir/gone.err")" ""

interrupt signalled i sh -c 'trap "echo bye; exit 5" TERM; echo hello; while :; do sleep 0.1; done'
wait_for 10 holds "$dir/signalled" 6 || die "a line comes"
kill -TERM "$stream"
ok "a signal is the command's" await 20
is "its exit status then" "$status" 5
is "and its last words" "$(cat "$dir/signalled")" $'hello\nbye'

# --- The daemon's end ----------------------------------------------------------------------------

interrupt root / seq 1 1000000000
last=$stream
wait_for 10 holds "$dir/root" 10000 || die "lines come"
mkfifo "$dir/more"
interrupt on j sh -c "echo one; cat '$dir/more'"
exec {on}>"$dir/more"
wait_for 10 holds "$dir/on" 4 || die "a line comes"
left=$(pid_of h)
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
kill "$left"
wait_for 10 says "$dir/on.err" 'the daemon has gone' || comment <"$dir/on.err"
ok "without a daemon the stream goes on" kill -0 "$stream"
echo two >&"$on"
exec {on}>&-
ok "to its own end" await 20
is "with the command's status" "$status" 0
is "and all of its lines" "$(cat "$dir/on")" $'one\ntwo'
like "the loss is reported" "$(cat "$dir/on.err")" 'a stop of j will not be seen; the stream goes on'
stream=$last
kill -TERM "$stream"
ok "the other one can be ended" await 20

start_daemon
interrupt end / seq 1 1000000000
wait_for 10 holds "$dir/end" 10000 || die "lines come"
stop_daemon
ok "the end of the daemon is a stop" await 20
is "and the stream ends successfully" "$status $(cat "$dir/end.err")" "0 "
ok "and between two lines" is_counted "$dir/end"
ok "nothing is left" wait_for 10 nobody_else
finish
