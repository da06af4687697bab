#!/bin/bash
# Forking services: the process that is started ends, and the pid-file names the main process.
. "${0%/*}/lib.sh"
requires_root

# script NAME: a program of the service NAME, with the text on standard input.  $dir is where this is, and
# $idle
# does nothing.
script() {
	{
		printf '#!/bin/sh\ndir=%s\nidle=%s/idle\npid=%s/%s.pid\n' "$dir" "$(realpath "$helpers")" "$dir" "$1"
		cat
	} >"$dir/$1"
	chmod +x "$dir/$1"
}
forking() { # NAME [LINE...]
	printf '[%s]\ncommand = %s/%s\ntype = forking\npid-file = %s/%s.pid\n' "$1" "$dir" "$1" "$dir" "$1"
	shift
	[ $# = 0 ] || printf '%s\n' "$@"
}
pid_in() { cat "$dir/$1.pid"; } # NAME
fails() { # NAME REGEX: with the reason
	ok "$1: the start fails" wait_for 20 has_state "$1" failed
	ok "$1: and the log gives the reason" says "$log" "$1: no main process: pid-file $dir/$1.pid: $2"
	like "$1: and so does its status" "$(field "$1" .service.result)" ": pid-file $dir/$1.pid: $2"
}
never='restart = never'
brief='start-timeout = 500ms'

script good <<'END'
setsid "$idle" &
echo $! >"$pid"
END
script late <<'END'
setsid sh -c "read -r _ <$dir/go; mkdir $dir/made; echo \$\$ >$dir/made/late.pid; exec $idle" &
END
script written <<'END'
setsid sh -c "exec 3>$pid; read -r _ <$dir/go2; echo \$\$ >&3; exec $idle 3>&3" &
END
for bad in "foreign:$$" garbage:12x negative:-1 none:4000000; do
	script "${bad%%:*}" <<-END
		setsid "\$idle" &
		echo "${bad#*:}" >"\$pid"
	END
done
script empty <<'END'
setsid "$idle" &
: >"$pid"
END
script link <<'END'
setsid "$idle" &
echo $! >"$pid.real"
ln -sf "$pid.real" "$pid"
END
script fifo <<'END'
setsid "$idle" &
mkfifo "$pid"
END
script refused <<'END'
setsid "$idle" &
echo $! >"$pid"
chown 65534 "$pid"
END
script vanishes <<'END'
exit 0
END
script breaks <<'END'
setsid "$idle" &
exit 3
END
# The first run leaves a process beside its main process, and the next one names it.
script stale <<'END'
setsid "$idle" &
echo $! >"$pid"
if [ -e "$dir/beside" ]; then
	cp "$dir/beside" "$pid"
else
	setsid "$idle" &
	echo $! >"$dir/beside"
fi
END
script nothing <<'END'
setsid "$idle" &
END

tree() {
	forking good 'stop-timeout = 5s'
	printf '[late]\ncommand = %s/late\ntype = forking\npid-file = %s/made/late.pid\n' "$dir" "$dir"
	forking written
	for name in foreign garbage empty negative none link fifo nothing; do
		forking "$name" "$never" "$brief"
	done
	forking refused
	forking vanishes "$never"
	forking breaks "$never"
	forking stale "$brief" "$never" 'kill-leftovers = no'
	service needs 'requires = good'
}

story() { # "with" or "without" control groups
	rm -rf "$dir"/*.pid "$dir/made" "$dir/beside" "$dir/go" "$dir/go2"
	mkfifo "$dir/go" "$dir/go2"
	tree | config
	: >"$log"
	start_daemon
	ok "$1: a service of which the start command has ended is up" wait_for 10 has_state good up
	is "$1: its main process is the one of the pid-file" "$(pid_of good)" "$(pid_in good)"
	ok "$1: a service that requires it starts" wait_for 10 has_state needs up
	pid=$(pid_of good)
	kill -KILL "$pid"
	wait_for 10 has_restarts good 0
	ok "$1: its end is noticed, and it is started again" wait_for 10 is_up_anew good "$pid"
	ok "$1: with the way of its end" says "$log" 'good: killed by SIGKILL; again in'
	is "$1: with another pid" "$(pid_of good)" "$(pid_in good)"

	is "$1: a service without a pid-file is not ready" "$(state late)" starting
	echo >"$dir/go"
	ok "$1: until the file comes, in a new directory" wait_for 10 has_state late up
	is "$1: with the main process" "$(pid_of late)" "$(cat "$dir/made/late.pid")"
	is "$1: an empty file is waited for" "$(state written)" starting
	echo >"$dir/go2"
	ok "$1: until it is written" wait_for 10 has_state written up

	if [ "$1" = with ] && [ -n "$(group_of "$(pid_of good)")" ]; then
		ok "$1: the file of another user names a process of the group" wait_for 10 has_state refused up
		is "$1: which is the main process" "$(pid_of refused)" "$(pid_in refused)"
	else
		refused='refused: pid-file .*refused.pid refused: a file of another user .*: set notify-user'
		ok "$1: a refused file is logged at once" wait_for 10 says "$log" "$refused"
		is "$1: and not again" "$(state refused) $(grep -c 'refused: pid-file' "$log")" 'starting 1'
	fi

	fails foreign 'not a process of the service'
	ok "the other process lives" kill -0 $$
	fails garbage 'not a pid'
	fails empty 'empty'
	fails negative 'not a pid'
	fails none 'no such process'
	fails link 'a symbolic link'
	fails fifo 'not a regular file'
	fails nothing 'no such file'
	ok "$1: nothing of them remains" nothing_of link
	fails vanishes 'no such file' # at once: its start-timeout is long
	like "$1: the reply to a start gives the reason" "$(ctl start vanishes 2>&1)" "pid-file $dir/vanishes.pid: no such file"
	ok "breaks: the start command fails" wait_for 10 has_state breaks failed
	ok "breaks: with its status" says "$log" 'breaks: exited with status 3'

	ok "$1: a service leaves a process" wait_for 10 has_state stale up
	ctl restart stale >/dev/null 2>&1
	fails stale 'stale: the process is older'

	main=$(pid_of good)
	ok "$1: a stop" ctl stop good
	ok "$1: ends the main process" gone "$main"
	ok "$1: a start" ctl start good
	is "$1: finds the next one" "$(pid_of good)" "$(pid_in good)"
	stop_daemon
	is "$1: the shutdown is graceful" "$status" 0
	ok "$1: and nothing remains" wait_for 10 nobody_else
}
nothing_of() { is_gone=$(pid_in "$1") && gone "$is_gone"; } # NAME
story with
hide_cgroups
story without

# --- Mistakes, and nginx -------------------------------------------------------------------------

refused() { # LINE... : prints the reason
	printf '[a]\ncommand = true\n' | cat - <(printf '%s\n' "$@") >"$dir/bad.ini"
	! ctl check "$dir/bad.ini" 2>&1
}
like "a forking service without a pid-file is refused" "$(refused 'type = forking')" 'set pid-file'
printf '[a]\ncommand = true\npid-file = /run/a.pid\n' >"$dir/bad.ini"
like "a pid-file of another one is warned of" "$(ctl check "$dir/bad.ini" 2>&1)" \
	'pid-file: has no effect without type = forking'
like "and readiness that the start command would announce" \
	"$(refused 'type = forking' 'pid-file = /run/a' 'ready = notify')" 'ready with its pid-file'

if command -v nginx >/dev/null; then
	cat >"$dir/nginx.conf" <<-END
		daemon on;
		pid $dir/nginx.pid;
		error_log stderr;
		events { }
		http { access_log off; server { listen 127.0.0.1:8080; } }
	END
	config <<-END
		[nginx]
		command = nginx -e stderr -p $dir -c $dir/nginx.conf
		type = forking
		pid-file = $dir/nginx.pid
		ready = tcp:127.0.0.1:8080
		stop-signal = QUIT
	END
	start_daemon
	ok "nginx with daemon on is up" wait_for 10 has_state nginx up
	is "its master is the main process" "$(pid_of nginx)" "$(pid_in nginx)"
	ok "a reload" ctl signal HUP nginx
	ok "reaches it" kill -0 "$(pid_of nginx)"
	stop_daemon
	is "it ends by its own signal" "$status" 0
	ok "nothing of it remains" wait_for 10 nobody_else
else
	skip "nginx with daemon on" "package nginx-light"
fi
finish
