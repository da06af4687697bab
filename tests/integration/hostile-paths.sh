#!/bin/bash
# A user who may rename the directories on a path of the daemon's leads none of its files, directories and
# sockets to another place: $dir/etc is such a place, where only root may write.
. "${0%/*}/lib.sh"
requires_root
requires_package zstd zstd

user=nobody
as_user() { setpriv --reuid="$user" --regid=nogroup --clear-groups "$@"; }
mkdir "$dir/etc" "$dir/home"
chown "$user" "$dir/home"

# In place of each directory of the user that is named: a link to the place of root.
lead_away() { # NAME...
	local name
	for name; do
		[ ! -e "$dir/home/$name" ] || as_user mv "$dir/home/$name" "$dir/home/$name.away"
		# The daemon may make the directory again meanwhile.
		until as_user ln -sT "$dir/etc" "$dir/home/$name"; do
			as_user mv -T "$dir/home/$name" "$(mktemp -u "$dir/home/again.XXXXXX")"
		done
	done
}
give_back() { # NAME
	as_user rm "$dir/home/$1"
	as_user mv "$dir/home/$1.away" "$dir/home/$1"
}
in_etc() { (cd "$dir/etc" && find . -mindepth 1 | sort | tr '\n' ' '); }
is_whole() { # NAME: nothing came to the place of root since the last time
	is "$1" "$(in_etc)" "${etc:=$(in_etc)}"
}

# A service of the user that writes its lines from a pipe.
lines() { # NODE LOG [LINE...]
	[ -p "$dir/$1.lines" ] || mkfifo "$dir/$1.lines"
	chmod 666 "$dir/$1.lines"
	cat <<-END
		[$1]
		command = sh -c 'while read -r line; do echo "\$line"; done <>$dir/$1.lines'
		user = $user
		log = file:$2
	END
	shift 2
	[ $# = 0 ] || printf '%s\n' "$@"
}
say() { echo "$2" >"$dir/$1.lines"; } # NODE LINE
refused='it leads through a symbolic link, or \.\., below a directory that another user may change'
refuses() { # NODE
	wait_for 20 says "$log" "$1: log: cannot write .*: $refused"
}

# --- Log files -------------------------------------------------------------------------------------------

echo root >"$dir/etc/rotated"
in_etc >/dev/null
etc=$(in_etc)
as_user mkdir "$dir/home/logs" "$dir/home/rotate" "$dir/home/own"
lead_away before made
{
	lines opened "$dir/home/logs/opened"
	lines before "$dir/home/before/before"
	lines made "$dir/home/made/deep/er/made"
	lines rotated "$dir/home/rotate/rotated" 'log-size = 4K' 'log-keep = 2' 'log-compress = yes'
} | config
start_daemon
say opened one
ok "a log in a directory of the service's user is written" wait_for 10 says "$dir/home/logs/opened" '^one$'
ok "a link in place of the directory is refused" refuses before
ok "and one above directories that are missing" refuses made
is_whole "nothing was made behind the links"

lead_away logs
kill -USR2 "$daemon"
is_refused_next() { say "$1" more; says "$log" "$1: log: cannot write .*: $refused"; } # NODE
ok "a directory that becomes a link is refused when the file is opened anew" wait_for 20 is_refused_next opened
is_whole "nothing was made behind it"

say rotated "$(seq 200)"
ok "the file to be rotated is written" wait_for 10 test -s "$dir/home/rotate/rotated"
lead_away rotate
is_written_on() { say rotated "$(seq 2000 2800)"; [ -n "$(find "$dir/home/rotate.away/rotated" -size +12k)" ]; }
ok "where a directory becomes a link the open file is written on" wait_for 20 is_written_on
is_whole "no file of root's was renamed, and none was made"
is "nor written" "$(cat "$dir/etc/rotated")" root
pid=$(logger)
end_process "$pid"
is_another() { [ -n "$(logger)" ] && [ "$(logger)" != "$pid" ]; }
wait_for 10 is_another || die "there is another logger"
say opened three
give_back logs
ok "with the directory again the file is written" wait_for 20 says "$dir/home/logs/opened" '^three$'
is_whole "a logger that takes over touches nothing behind the links"
for node in opened before made rotated; do
	ok "$node runs throughout" has_state "$node" up
done
stop_daemon
is "the end is graceful" "$status" 0
is_whole "after it there is nothing behind the links"

service web | config
start_daemon --log-file "$dir/home/own/daemon"
own_is_written() { kill -USR1 "$daemon" && says "$dir/home/own/daemon" 'web: '; }
ok "the daemon's own log is written" wait_for 10 own_is_written
lead_away own
kill -USR2 "$daemon"
own_is_refused() { # once there are lines for it
	kill -USR1 "$daemon"
	says "$log" "root: log: cannot write $dir/home/own/daemon: $refused"
}
ok "with a link on its path it is refused" wait_for 20 own_is_refused
is_whole "nothing was made behind the link"
give_back own
ok "with the directory again it is written" \
	wait_for 20 says "$dir/home/own/daemon" 'log: .* is written again'
stop_daemon
is "the end is graceful" "$status" 0

# --- Sockets, and the files of the daemon ------------------------------------------------------------------

as_user mkdir "$dir/home/sockets" "$dir/home/kept" "$dir/home/agents"
sockets() { # DIRECTORY
	cat <<-END
		[swansong]
		state = $1/state
		report = $1/report
		[web]
		command = $helpers/idle
		listen = unix:$dir/home/sockets/web,mode=0660,owner=$user
		agent = unix:$dir/home/agents/web
		[job]
		command = true
		type = oneshot
		schedule = 200ms
	END
}
sockets "$dir/home/kept" | config
start_daemon
is "a socket in a directory of the service's user is that of its owner" \
	"$(stat -c '%F %U %G %a' "$dir/home/sockets/web")" "socket $user root 660"
is "and has its name" "$(grep -c " $dir/home/sockets/web$" /proc/net/unix)" 1
is "a socket without an owner is root's" "$(stat -c '%U %G' "$dir/home/agents/web")" "root root"
ok "the time of a run is kept" wait_for 10 test -e "$dir/home/kept/state.runs/job"
ctl disable job >/dev/null
ok "so is what is disabled" wait_for 10 test -s "$dir/home/kept/state"
stop_daemon
ok "and the report" test -s "$dir/home/kept/report"
is "the sockets are removed" "$(find "$dir/home/sockets" "$dir/home/agents" -type s)" ""

as_user mv "$dir/home/kept/state.runs" "$dir/home/kept/runs"
as_user ln -s "$dir/etc" "$dir/home/kept/state.runs"
rm -f "$dir/home/kept/state"
: >"$log"
start_daemon
ok "a link in place of the directory of times is refused" \
	wait_for 10 says "$log" "job: a scheduled run may be repeated .*: $refused"
lead_away kept
ok "a state file is not made behind a link" not ctl disable job
stop_daemon
ok "nor a report" says "$log" "cannot write the report .*: $refused"
is_whole "nothing was made behind them"

lead_away sockets
service web "listen = unix:$dir/home/sockets/web,owner=$user" | config
refuses_to_start() { # LINE
	"$swansongd" -c "$ini" --socket none >"$dir/refused" 2>&1 </dev/null
	says "$dir/refused" "$1"
}
touch "$dir/etc/web"
etc=$(in_etc)
ok "a socket behind a link is refused" refuses_to_start "listen: cannot listen on unix:.*: $refused"
give_back sockets
lead_away agents
service web "agent = unix:$dir/home/agents/web" | config
ok "so is that of an agent" refuses_to_start "agent: cannot listen on unix:.*: $refused"
service web | config
as_user mkdir "$dir/home/control"
lead_away control
like "and that of the daemon" "$("$swansongd" -c "$ini" --socket "$dir/home/control/deep/er" 2>&1)" \
	"no control socket at .*: $refused"
like "also in the directory itself" "$("$swansongd" -c "$ini" --socket "$dir/home/control/socket" 2>&1)" \
	"no control socket at .*: $refused"
if [ -x "$top_builddir/swansong-exporter" ]; then
	like "and that of the exporter" "$("$top_builddir/swansong-exporter" --listen "unix:$dir/home/control/web" 2>&1)" \
		"cannot listen on .*: $refused"
else
	skip "and that of the exporter" "package libmicrohttpd-dev"
fi
is_whole "nothing was made behind these"
is "and nothing there belongs to the user" "$(find "$dir/etc" -user "$user")" ""

# A user who renames all the time: a socket is made where this user could make one, or not at all.
cat >"$dir/renames" <<-'END'
	#!/bin/bash
	cd "$1" || exit
	while :; do
		mv -T sockets real && ln -s ../etc sockets
		rm -f sockets && mv -T real sockets
	done 2>/dev/null
END
chmod 755 "$dir/renames"
service web "listen = unix:$dir/home/sockets/web,owner=$user" 'autostart = no' | config
rm "$dir/etc/web"
etc=$(in_etc)
as_user "$dir/renames" "$dir/home" &
renames=$!
cleanup_fn end_process "$renames"
# Without --foreground, SIGCONT follows the signal; the leak check of the address sanitizer hangs by that.
for _ in {1..50}; do
	timeout --foreground 0.2 "$swansongd" -c "$ini" --socket none >/dev/null 2>&1 </dev/null
done
end_process "$renames"
is_whole "no race leads a socket to the place of root"
finish
