#!/bin/bash
# Every mistake is reported with its place, in one run; and nothing is started.
. "${0%/*}/lib.sh"

run() { # ARG...: output in $out, exit status in $status
	timeout 10 "$swansongd" --socket "$socket" "$@" >"$dir/out" 2>&1 </dev/null
	status=$?
	out=$(cat "$dir/out")
}

config <<END
[started]
command = touch $dir/started
comand = true

[web]
command = nginx "open
requires = nowhere
restart = sometimes
stop-timeout = 10
stop-signal = SIGNOSUCH
umask = 9
user = nobody-of-that-name
directory = relative
environment = 1=2
ready = tcp:nowhere
type = daemon
shutdown-timeout = -1s
essential = maybe
log = file:relative

[a]
command = true
requires = b
[b]
command = true
requires = a

[bad name]
command = true
[swansong]
control-mode = rw
END
run -c "$ini"
is "the exit status is 78" "$status" 78
while read -r line what; do
	ok "line $line, $what, is reported" says "$dir/out" "$ini:$line: .*$what"
done <<END
3 comand
6 command
7 requires
8 restart
9 stop-timeout
10 stop-signal
11 umask
12 user
13 directory
14 environment
15 ready
16 type
17 shutdown-timeout
18 essential
19 log
28 name
31 control-mode
END
like "a misspelt key has a suggestion" "$out" 'comand.*command'
ok "a cycle is reported with its path" says "$dir/out" "$ini:23: .*dependency cycle: a → b → a: a requires b; b requires a"
ok "nothing was started" test ! -e "$dir/started"
ok "check reports the same" test "$(ctl check "$ini" 2>&1 | grep -c "^$ini:")" = \
	"$(grep -c "$ini:[0-9]*:" "$dir/out")"

ctl check --format github "$ini" >"$dir/github" 2>"$dir/ok.out"
is "a workflow of GitHub gets each of them" "$?" 78
is "as a command" "$(sed 's/^::error file=\([^,]*\),line=\([0-9]*\)::/\1:\2: /; s/%25/%/g' "$dir/github")" "$(ctl check "$ini" 2>&1)"
ctl check --format sarif "$ini" >"$dir/sarif" 2>"$dir/ok.out"
is "and code scanning" "$?" 78
is "a document" "$(jq -r '.runs[0].results[] | "\(.locations[0].physicalLocation | .artifactLocation.uri + ":" +
	(.region.startLine | tostring)): \(.message.text)"' "$dir/sarif")" "$(ctl check "$ini" 2>&1)"

for example in "$top_srcdir"/conf/*.ini; do
	ok "${example##*/}, which is shipped, has no mistakes" ctl check --trust-config "$example"
done

run -c "$dir/missing.ini"
is "no such file: 78" "$status" 78
like "named" "$out" "$dir/missing.ini.*No such file"
run -c /proc/self/mem
is "an unreadable file: 78" "$status" 78
mkdir "$dir/conf.d"
printf '[same]\ncommand = true\n' | tee "$dir/conf.d/1.ini" >"$dir/conf.d/2.ini"
run -c "$dir/conf.d"
is "a section in two files: 78" "$status" 78
like "both are named" "$out" "conf.d/2.ini:1: .*conf.d/1.ini"
head -c 100000 /dev/urandom >"$dir/noise.ini"
run -c "$dir/noise.ini"
is "noise: 78" "$status" 78
run --no-such-option
is "a wrong option is wrong usage" "$status" 2

# From here on: valid configurations that cannot be carried out.
config <<END
[missing]
command = $dir/not-there --flag
restart = never
[steady]
command = $helpers/idle
END
start_daemon
ok "a missing program is a failed start" wait_for 5 has_state missing failed
like "status names it, and why" "$(ctl status missing)" 'not-there.*No such file'
ok "the log does, too" says "$log" 'not-there.*No such file'
is "the others run" "$(state steady)" up
stop_daemon

word=$(head -c 10000 /dev/zero | tr '\0' x)
config <<<"[long]
command = $helpers/report-self $dir/long $word"
start_daemon
wait_for 5 test -s "$dir/long" || die "the long command runs"
ok "a command of 10,000 bytes arrives whole" grep -qx "args 1 10000" "$dir/long"
stop_daemon
finish
