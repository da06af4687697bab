#!/bin/bash
# Output of services is shown, also of earlier runs, and new lines go to the clients that follow them: over
# restarts of the service, the death of the logger, and a reload.
. "${0%/*}/lib.sh"

logger() { ps -e -o pid=,ppid=,comm= | awk -v d="$daemon" '$2 == d && $3 == "swansong-logger" { print $1; exit }'; }
is_another() { local p; p=$(logger); [ -n "$p" ] && [ "$p" != "$1" ]; } # PID
say() { echo "$2" >"$dir/$1"; } # NODE LINE
last_is() { [ "$(ctl logs -n 1 "$1" 2>/dev/null)" = "$2" ]; } # NODE LINE
say_and_see() { say "$1" "$2" && wait_for 10 last_is "${3:-$1}" "$2"; } # NODE LINE [PATH]
messages() { ctl logs --json "$@" | jq -r .message | paste -sd ' '; } # ARGUMENT...
mkfifo "$dir/a" "$dir/b" "$dir/c" "$dir/out"
cat >"$dir/speaker" <<-'END'
	#!/bin/sh
	echo "$1 begins"
	exec cat <>"$2/$1"
END
chmod +x "$dir/speaker"

write_config() { # [LINE...]
	config <<-END
	[web/a]
	command = $dir/speaker a $dir
	log = file:$dir/a.log
	log-timestamp = iso-usec
	[web/b]
	command = $dir/speaker b $dir
	log = file:$dir/b.log
	[out]
	command = sh -c 'echo to out; echo to err >&2; exec cat <>$dir/out'
	stdout = file:$dir/out.log
	stderr = file:$dir/err.log
	[quiet]
	command = $helpers/idle
	log = inherit
	[bad]
	command = sh -c 'seq 1 30; echo "cannot open the door" >&2; exit 3'
	stdout = file:$dir/bad.log
	stderr = file:$dir/bad.err
	restart = never
	[old]
	command = seq 1 20000
	type = oneshot
	autostart = no
	log = file:$dir/old.log
	log-size = 10K
	log-keep = 50
	log-compress = yes
	[loud]
	command = sh -c 'seq 1 1000000; echo >$dir/loud-said; exec cat <>$dir/c'
	autostart = no
	log = file:$dir/loud.log
	log-size = infinity
	END
	printf '%s\n' "$@" >>"$ini"
}
write_config
start_daemon

# --- The last lines ---

wait_for 10 last_is web/a "a begins" || die "the output of a service is shown"
ok "the output of a service is shown" last_is web/a "a begins"
ok "the files of stdout and stderr are logs, too" wait_for 10 last_is out "to err"
is "in the order of time" "$(ctl logs out | sort)" "to err
to out"
say_and_see a one web/a || die "a speaks"
say_and_see b two web/b || die "b speaks"
say_and_see a three web/a || die "a speaks again"
is "lines of several nodes are in the order of time, with names" "$(ctl logs -n 2 web)" "web/b | b begins
web/a | one
web/b | two
web/a | three"
is "a glob is as good as a group" "$(ctl logs -n 1 'web/*')" "web/b | two
web/a | three"
is "each node once" "$(ctl logs -n 1 web/a web 2>&1 | sort)" "web/a | three
web/b | two"
is "a line is an object" "$(ctl logs --json -n 1 web/a |
	jq -c --argjson pid "$(pid_of web/a)" '[.node, .pid == $pid, .generation, .stream, .message, (.time | length)]')" \
	'["web/a",true,1,"stdout","three",27]'
is "lines of standard error are marked" "$(ctl logs --json out | jq -r 'select(.message == "to err").stream')" stderr
like "a service that is not captured is reported" "$(ctl logs quiet 2>&1)" '^swansongctl: quiet: output not captured: log = inherit$'
is "and does not hide others" "$(ctl logs -n 1 quiet web/a 2>/dev/null)" "three"
ctl restart web/a >/dev/null || die "a is restarted"
ok "another run speaks" wait_for 10 last_is web/a "a begins"
is "lines of earlier runs are shown" "$(messages web/a)" "a begins one three a begins"

# --- Lines that the memory has no more

ctl start old >/dev/null || die "old is done"
is "older lines are taken from files, rotated and compressed" "$(ctl logs -n 15000 old | cksum)" \
	"$(seq 5001 20000 | cksum)"
ok "compressed ones were among them" wait_for 60 compgen -G "$dir/old.log.*.zst"
stop_daemon
start_daemon
ok "another daemon's service speaks" wait_for 10 last_is web/a "a begins"
is "lines before it are taken from the file, without their stamps" "$(messages web/a)" \
	"a begins one three a begins a begins"
is "a text is looked for in all of them, also compressed ones" "$(ctl logs --grep '^(7|19)999$' old | paste -sd ' ')" "7999 19999"
is "the last of these" "$(ctl logs --grep 999 -n 2 old | paste -sd ' ')" "19998 19999"
is "lines from a time on" "$(messages --since 1h --grep begins web/a)" "a begins a begins a begins"
is "lines up to a time" "$(messages --until 1h web/a)" ""
is "also of one that has not run since" "$(ctl logs -n 100000 old | cksum)" "$(seq 1 20000 | cksum)"

# --- Status ---

like "status shows the last lines" "$(ctl status web/a)" 'log: +[0-9:]+ a begins'
wait_for 10 has_state bad failed || die "bad has failed"
failed_says() { ctl status bad | grep -qE 'last run: +[0-9:]+ cannot open the door'; }
ok "and the failure that a service reported" wait_for 10 failed_says

# --- Following ---

"$(program swansongctl)" logs -f -n 1 web >"$dir/follow" 2>"$dir/follow.err" &
follower=$!
cleanup_fn end_process "$follower"
follows() { says "$dir/follow" "$1"; } # REGEX
ok "a follower gets the last line" wait_for 10 follows '^web/a \| a begins$'
for i in 1 2 3; do
	pid=$(logger)
	say a "before $i"
	kill -KILL "$pid"
	say a "after $i"
	wait_for 10 is_another "$pid" || break
	say a "later $i"
	wait_for 10 follows "later $i\$" || break
done
is "over the death of the logger all lines come, each once" \
	"$(grep -E 'before|after|later' "$dir/follow" | sed 's/.*| //' | paste -sd ' ')" \
	"before 1 after 1 later 1 before 2 after 2 later 2 before 3 after 3 later 3"
ctl restart web/a >/dev/null || die "a is restarted"
again() { [ "$(grep -c 'a begins' "$dir/follow")" = 2 ]; }
ok "the next run is followed" wait_for 10 again
write_config '[web/c]' "command = $dir/speaker c $dir" "log = file:$dir/c.log"
ctl reload >/dev/null || die "a reload adds a node"
ok "so is a node that a reload adds" wait_for 10 follows '^web/c \| c begins$'
ok "nothing is reported" not test -s "$dir/follow.err"

# --- A reader that does not read ---

"$(program swansongctl)" logs -f -n 1 loud web/b >"$dir/slow" 2>"$dir/slow.err" &
slow=$!
cleanup_fn end_process "$slow"
wait_for 10 says "$dir/slow" '^web/b \| b begins$' || die "there is another reader"
kill -STOP "$slow"
wait_for 10 is_stopped "$slow" || die "it is suspended"
ctl start --no-wait loud >/dev/null
ok "the service is not held up" wait_for 60 test -e "$dir/loud-said"
say b "a word of another"
ok "nor are other followers" wait_for 10 follows '^web/b \| a word of another$'
ok "the last line is written" wait_for 30 last_is loud 1000000
kill -CONT "$slow"
ok "it goes on, up to the end" wait_for 30 says "$dir/slow" '^loud  \| 1000000$'
ok "and learns how much it missed" wait_for 10 says "$dir/slow.err" 'loud: [0-9]+ bytes of output were not read in time'
end_process "$slow"

# --- A terminal ---

printf 'bell\a \033[2Jwipe \033]0;title\a \033[1;31mred \303\251 \302\233H \233H\b\177\t.\r\n' >"$dir/b"
is_said() { ctl logs -n 1 web/b | cmp -s - <(printf 'bell\a \033[2Jwipe \033]0;title\a \033[1;31mred \303\251 \302\233H \233H\b\177\t.\r\n'); }
ok "a pipe gets the bytes" wait_for 10 is_said
if /usr/bin/python3 -c 1 2>/dev/null; then
	on_terminal() { # TERM ARGUMENT...; the line ends of the terminal are its own
		TERM=$1 timeout 20 /usr/bin/python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))' \
			"$swansongctl" logs -n 1 web/b "${@:2}" </dev/null | sed 's/\r$//'
	}
	safe=$(printf 'bell^G ^[[2Jwipe ^[]0;title^G \033[1;31mred \303\251 <U+009B>H <9B>H^H^?\t.^M\033[0m')
	is "a terminal gets colours, and no other control character" "$(on_terminal xterm)" "$safe"
	is "so does a simple one" "$(on_terminal dumb)" "$safe"
	like "with --raw it gets all" "$(on_terminal xterm --raw)" $'^bell\a \033\\[2J'
	is "JSON is ASCII there" "$(on_terminal xterm --json | jq -r .message | head -c 4) $(on_terminal xterm --json |
		LC_ALL=C grep -c $'[^ -~\177]')" "bell 0"
else
	skip "a terminal gets colours, and no other control character" "package python3"
fi

# --- Readers that go ---

head_of() { # ARGUMENT...
	timeout 20 "$swansongctl" logs -f "$@" | head -n 1 >/dev/null
	[ "${PIPESTATUS[0]}" = 141 ] # the status of SIGPIPE
}
ok "a follower ends with its reader, before the next line" head_of -n 1 web/b
ok "also with JSON" head_of --json -n 1 web/b

# --- logrotate ---

mv "$dir/a.log" "$dir/a.log.1"
ok "files are opened anew" ctl logs --reopen web/a
is_new() { say a rotated && says "$dir/a.log" 'Z rotated$'; }
ok "as for logrotate" wait_for 10 is_new
ok "the old one has none of it" not says "$dir/a.log.1" rotated

# --- Users that may read

if is_root; then
	chmod 666 "$socket"
	as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$(program swansongctl)" "$@"; }
	as_nobody logs web/a >"$dir/stolen" 2>"$dir/refused"
	is "another user is refused" "$?" 5
	is "and sees nothing" "$(cat "$dir/stolen")" ""
	as_nobody logs --reopen 2>"$dir/refused"
	is "nor opens files" "$?" 5
	as_nobody status web/a >"$dir/looks" 2>&1
	ok "status is shown" says "$dir/looks" 'state: +up'
	ok "without the lines" not says "$dir/looks" 'begins|rotated'
fi

# Nothing of a reader stays in the daemon.
end_process "$follower"
ok "the connections of readers are closed" wait_for 10 has_connections 0
before=$(descriptors)
for _ in {1..20}; do ctl logs web >/dev/null || break; done
ok "no descriptor stays" wait_for 10 has_descriptors "$before"
stop_daemon 20
is "the end is graceful" "$status" 0
ok "no process is left" wait_for 10 nobody_else
finish
