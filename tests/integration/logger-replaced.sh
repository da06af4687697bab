#!/bin/bash
# The program of the logger is replaced or removed while the daemon runs, as by an upgrade of the package: a
# logger that dies is followed by one of the same version.  Where none can be run, no service waits for it.
. "${0%/*}/lib.sh"

mkdir "$dir/package"
program=$dir/package/swansong-logger
cp "$SWANSONG_LOGGER" "$program"
mkfifo "$dir/lines"
config <<END
[echo]
command = sh -c 'while read -r line; do echo "\$line"; done <>$dir/lines'
log = file:$dir/echo
END
is_another() { local p; p=$(logger); [ -n "$p" ] && [ "$p" != "$before" ]; }
dies() { # The logger is killed, and another one follows.
	before=$(logger)
	kill -KILL "$before" && wait_for 10 is_another
}

SWANSONG_LOGGER=$program start_daemon
echo one >"$dir/lines"
wait_for 10 says "$dir/echo" '^one$' || die "a line is written"
like "a logger has its name, and the command of its path" "$(ps -o comm=,args= -p "$(logger)")" \
	"^swansong-logger +$program 3 4"
is "and no descriptor of its program" \
	"$(find "/proc/$(logger)/fd" -lname '*/package/*' | wc -l)" 0

printf '#!/bin/sh\nexec sleep 1000\n' >"$dir/other-version"
chmod +x "$dir/other-version"
mv "$dir/other-version" "$program"
ok "a logger dies after an upgrade of its package" dies
echo two >"$dir/lines"
ok "lines are written as before" wait_for 10 says "$dir/echo" '^two$'
rm "$program"
ok "it dies when its program is gone" dies
echo three >"$dir/lines"
ok "and lines are still written" wait_for 10 says "$dir/echo" '^three$'
stop_daemon
is "the end is graceful" "$status" 0

# --- None can be run ---

cat >"$program" <<END
#!/bin/sh
[ ! -e "$dir/refused" ] || exit 1
exec "$SWANSONG_LOGGER" "\$@"
END
chmod +x "$program"
config <<END
[loud]
command = sh -c 'read -r go <$dir/lines; seq 1 100000; echo >$dir/all-said; exec $helpers/idle'
log = file:$dir/loud
stop-timeout = 3s
END
: >"$log"
SWANSONG_LOGGER=$program start_daemon
wait_for 10 test -e "$dir/loud" || die "the logger is ready"
touch "$dir/refused"
kill -KILL "$(logger)"
ok "a logger that ends at once is given up" wait_for 10 says "$log" 'logger: cannot run .*: it ends at once'
echo go >"$dir/lines"
ok "a service with more output than its pipe holds does not wait" wait_for 20 test -e "$dir/all-said"
ok "its output goes to standard error" wait_for 10 says "$log" '^100000$'
is "no line of it is missing there" "$(grep -cE '^[0-9]+$' "$log")" 100000
like "status shows that the log is not written" "$(ctl status loud)" \
	'log: +not written: swansong-logger cannot be run'
rm "$dir/refused"
is_whole_again() { [[ $(ctl status loud) != *"not written"* ]]; }
ok "until a logger runs again" wait_for 20 is_whole_again
stop_daemon
is "the end is graceful with that, too" "$status" 0
ok "no process is left" wait_for 10 nobody_else
finish
