#!/bin/bash
# The program of the daemon is replaced by another version, in the same process: nothing stops.  A program that
# cannot take over, or has a fault or hangs when it has, is undone.
. "${0%/*}/lib.sh"
requires_package /usr/bin/python3 python3
requires_package nm binutils

version=$("$swansongd" --version | awk '{ print $2 }')
newer=${version%.*}.8
newest=${version%.*}.9
# As a package does: the new file takes the name of the old one.
install_program() { cp "$1" "$dir/next" && mv "$dir/next" "$dir/swansongd"; } # FILE
make_version() { # VERSION [CODE]: with these bytes, in hexadecimal, where a program that has taken over begins its work
	local place
	place=$(nm "$(program swansongd)" | awk '$3 == "crash_settle" { print $1 }')
	/usr/bin/python3 "$top_srcdir/tests/helpers/make-version.py" "$(program swansongd)" "$version" "$1" "$place" "${2-}"
}
make_version "$newer" >"$dir/newer"
make_version "$newest" >"$dir/newest"
chmod 755 "$dir/newer" "$dir/newest"
cp "$(program swansongd)" "$dir/older"
install_program "$dir/older"
swansongd=$dir/swansongd

mkfifo "$dir/web.go" "$dir/lines"
config <<END
[db]
command = $helpers/signal-log $dir/db 0
control = yes
[web]
command = $helpers/signal-log $dir/web 0 $dir/web.go
requires = db
listen = unix:$dir/web.socket
[count]
command = $counting
log = file:$dir/count.log
stop-signal = KILL
[stopped]
command = $helpers/idle
[slow]
command = $helpers/stubborn $dir/slow
autostart = no
stop-timeout = 1h
[silent]
command = $helpers/idle
ready = notify
autostart = no
[hooked]
command = $helpers/idle
autostart = no
start-command = sh -c 'read -r _ <$dir/lines'
END

descriptors_of_daemon() { wait_for 10 has_connections 1 && find "/proc/$daemon/fd" -type l | wc -l; }
pids() { for node in db web count; do pid_of $node; done | xargs; }
has_version() { [ "$("/proc/$daemon/exe" --version)" = "swansongd $1" ]; } # VERSION
goes_on() { # NAME VERSION
	is "$1: no service was touched" "$(pids)" "$old"
	is "$1: a stopped one stays so" "$(state stopped)" down
	is "$1: the guard is held" "$(ctl guards db --json | jq -r '.guards[] | select(.why == "backup") | .why')" backup
	ok "$1: version $2 is at work" has_version "$2"
	is "$1: it is the same process" "$(cat "/proc/$daemon/comm")" swansongd
}

start_daemon
ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
ctl stop stopped >/dev/null
mkfifo "$dir/hold"
ctl guard db --why backup -- cat "$dir/hold" >/dev/null &
guard=$!
cleanup_fn end_process "$guard"
wait_for 10 has_leases db 1 || die "the guard is held"
old=$(pids)

# --- Up, and down again ---

install_program "$dir/newer"
is "a dry run shows the version" "$(ctl upgrade --dry-run)" \
	"$newer can take over from $version; nothing was done: this is a dry run"
goes_on "a dry run" "$version"
is "the upgrade shows both" "$(ctl upgrade)" "upgraded to $newer, from $version"
goes_on "an upgrade" "$newer"
ok "and the log" says "$log" "upgraded from $version to $newer"
install_program "$dir/newest"
is "the next one follows" "$(ctl upgrade)" "upgraded to $newest, from $newer"
goes_on "two upgrades" "$newest"
install_program "$dir/newer"
is "and goes back by one" "$(ctl upgrade)" "upgraded to $newer, from $newest"
goes_on "the way back by one" "$newer"
install_program "$dir/older"
is "so does the way back" "$(ctl upgrade --json)" "$(jq -cn --arg v "$version" --arg f "$newer" \
	'{ version: $v, from: $f }')"
goes_on "a downgrade" "$version"
before=$(descriptors_of_daemon)
for _ in {1..20}; do ctl upgrade >/dev/null || break; done
goes_on "twenty upgrades" "$version"
has_as_many() { [ "$(descriptors_of_daemon)" = "$before" ]; }
ok "no descriptor is left over" wait_for 10 has_as_many

# --- A client that has connected, and asks when the upgrade is over ---

/usr/bin/python3 - "$socket" "$swansongctl" >"$dir/asked" <<'END'
import socket, subprocess, sys

with socket.socket(socket.AF_UNIX) as client:
    client.connect(sys.argv[1])
    subprocess.run([sys.argv[2], "upgrade"], check=True, stdout=subprocess.DEVNULL)
    client.sendall(b'{"method":"io.swansong.Status","parameters":{"node":"db"}}\0')
    print(client.recv(65536).decode()[:12])
END
is "a client that has not asked yet is answered after an upgrade" "$(cat "$dir/asked")" '{"parameters'

# --- A program that cannot take over ---

refused() { # NAME REGEX
	ctl upgrade >"$dir/refused" 2>&1
	is "$1: it is refused" "$?" 1
	like "$1: with its reason" "$(cat "$dir/refused")" "$2"
	goes_on "$1" "$version"
}
printf '#!/bin/sh\necho "no such library" >&2\nexit 1\n' >"$dir/script" && chmod 755 "$dir/script"
install_program "$dir/script"
refused "a program that fails" 'cannot take over'
: >"$dir/data" && chmod 755 "$dir/data"
install_program "$dir/data"
refused "a file that is no program" 'cannot take over: Exec format error'
install_program "$(type -P true)"
refused "another program" 'cannot take over: it is no swansongd'
install_program "$dir/newer"
chmod 775 "$dir/swansongd"
refused "a file that a group may change" 'another user than root may change it'
rm "$dir/swansongd"
refused "no file" 'No such file'

SWANSONG_REHEARSAL=1 SWANSONG_CRASHES=0 "$dir/newer" -c "$ini" --socket none >"$dir/format" 2>&1 </dev/null
is "a format that a program does not know is refused in its rehearsal" "$? $(tail -n 1 "$dir/format")" \
	"1 $newer has another format of what has to go on"
ok "and it starts nothing" not says "$dir/format" started

# --- A program that has a fault, or hangs, when it has taken over ---

undone() { # NAME SIGNAL CODE
	make_version "$newer" "$3" >"$dir/bad"
	chmod 755 "$dir/bad"
	install_program "$dir/bad"
	: >"$log"
	ctl upgrade >"$dir/refused" 2>&1
	is "$1: the command fails" "$?" 1
	like "$1: with the reason" "$(cat "$dir/refused")" "the new program had a fault: $version goes on"
	goes_on "$1" "$version"
	ok "$1: the log has the fault" says "$log" "fault of the new program, $version goes on: $2"
}
case $(uname -m) in
x86_64) illegal=0f0b endless=ebfe ;;
aarch64) illegal=00000000 endless=00000014 ;;
*) illegal= ;;
esac
if [ "$illegal" ]; then
	undone "a fault" SIGILL "$illegal"
	undone "no work within ten seconds" SIGALRM "$endless"
else
	skip "programs that have a fault" "machine: its code is not known here"
fi

# --- It waits for services that start or stop ---

install_program "$dir/newer"
ctl start hooked --no-wait >/dev/null
wait_for 10 has_state hooked preparing || die "the start-command runs"
ctl upgrade >"$dir/waits" 2>&1 &
upgrade=$!
wait_for 10 has_connections 2 || die "it waits, beside the guard"
is "a command around a service is waited for" "$(kill -0 $upgrade && has_version "$version" && echo waits)" waits
echo >"$dir/lines"
wait $upgrade
is "and the upgrade follows" "$? $(cat "$dir/waits")" "0 upgraded to $newer, from $version"
goes_on "an upgrade that has waited" "$newer"
is "the service is up" "$(state hooked)" up
ctl start silent --no-wait >/dev/null
wait_for 10 has_state silent starting || die "it does not become ready"
install_program "$dir/older"
ctl upgrade >"$dir/refused" 2>&1
is "a service that takes too long is named" "$? $(cat "$dir/refused")" "1 swansongctl: root: silent is starting or stopping"
goes_on "too long" "$newer"
ctl stop silent >/dev/null
ctl start slow >/dev/null
wait_for 10 test -s "$dir/slow" || die "it ignores its signal"
ctl stop slow --no-wait >/dev/null
wait_for 10 has_state slow stopping || die "it does not stop"
stopping=$(pid_of slow)
: >"$log"
is "a stop that is under way goes on" "$(ctl upgrade)" "upgraded to $version, from $newer"
is "with its process" "$(state slow) $(pid_of slow)" "stopping $stopping"
ok "which gets no second signal" not says "$log" 'slow: SIGTERM'
goes_on "an upgrade in a stop" "$version"

# --- A stop after it ---

exec 6<>"$dir/hold" && exec 6>&-
wait $guard
exec 8<>"$dir/web.go"
echo >&8
ctl stop slow --force >/dev/null 2>&1 || ctl signal KILL slow >/dev/null
stop_daemon
is "it ends as ever" "$status" 0
ok "nothing is left" wait_for 5 nobody_else
is "each got its signal once" "$(cat "$dir/db" "$dir/web" | grep -c TERM)" 2
ok "no line was lost, or written twice" has_each_line 100
finish
