#!/bin/bash
# systemd2swansong: each key of a unit becomes a key, or is named with its reason; and swansongd behaves as the
# units ask.  The same units under the real systemd: systemd-convert.sh.
. "${0%/*}/lib.sh"
. "${0%/*}/convert-lib.sh"
requires_package python3 python3
convert=$converters/systemd2swansong

is_golden systemd2swansong systemd systemd.ini

# --- What is given ---------------------------------------------------------------------------------

refused() { # REGEX ARGUMENT...: exit status 2, one line, and nothing is written
	local regex=$1
	shift
	(cd "$dir" && "$convert" -o "$dir/refused.ini" "$@") >"$dir/refused" 2>&1
	is "$* is refused" "$?" 2
	ok "by a line" grep -Eq "$regex" "$dir/refused"
	ok "and by nothing else" not grep -Evq '^[^ ]*:[0-9]+: |^[^:]*: [^:]*$' "$dir/refused"
	ok "and nothing is written" not test -e "$dir/refused.ini"
}
mkdir "$dir/empty" "$dir/units"
printf '[Service]\nExecStart=/bin/true\n# \377\n' >"$dir/latin.service"
printf '[Service]\nExecStart=/bin/true \001\n' >"$dir/control.service"
refused 'missing.service:1: there is no such unit' missing.service
refused 'name!.service:1: not the name of a unit' 'name!.service'
refused 'empty:1: there are no units' "$dir/empty"
refused 'latin.service:3: not UTF-8' "$dir/latin.service"
refused 'control.service:2: a control character' "$dir/control.service"
refused 'No such file or directory|there is no such unit' "$dir/none/x.service"

unit() { # NAME LINE...
	local name=$1
	shift
	printf '%s\n' "$@" >"$dir/units/$name"
}
unit a.service '[Unit]' 'After=b.service' '[Service]' 'ExecStart=/bin/sleep 1' '[Install]' 'WantedBy=multi-user.target'
unit b.service '[Unit]' 'After=c.service' '[Service]' 'ExecStart=/bin/sleep 2' '[Install]' 'WantedBy=multi-user.target'
unit c.service '[Unit]' 'After=a.service' '[Service]' 'ExecStart=/bin/sleep 3' '[Install]' 'WantedBy=multi-user.target'
unit d.timer '[Timer]' 'OnCalendar=daily'
unit d.service '[Service]' 'Type=oneshot' 'ExecStart=/bin/true'
unit e@.service '[Service]' 'ExecStart=/bin/echo %i %I'
ln -s /dev/null "$dir/units/masked.service"
ln -s a.service "$dir/units/alias.service"
unit f.service '[Unit]' 'Requires=alias.service' 'After=alias.service' '[Service]' 'ExecStart=/bin/sleep 4'
"$convert" "$dir/units/a.service" "$dir/units/b.service" "$dir/units/c.service" >"$dir/cycle.ini" 2>"$dir/cycle.err"
like "an order that is a cycle loses an edge" "$(cat "$dir/cycle.err")" 'not carried over: After = .*dependency cycle'
ok "and the result is valid" ctl check "$dir/cycle.ini"
"$convert" "$dir/units/d.timer" >"$dir/timer.ini" 2>/dev/null
like "the service of a timer is read, too" "$(tr '\n' ' ' <"$dir/timer.ini")" \
	'\[d\] type = oneshot schedule = daily command = /bin/true'
(cd "$dir/units" && "$convert" e@x.service e@y-z.service f.service alias.service) >"$dir/names.ini" 2>/dev/null
like "instances of one template, and an alias" "$(tr '\n' ' ' <"$dir/names.ini")" \
	'\[e@\] instances = x y-z .*command = /bin/echo %i .*\[e@y-z\] command = /bin/echo y-z y/z.*\[f\] requires = a '
ok "and that is valid" ctl check "$dir/names.ini"

for name in swansong root ...; do
	unit "$name.service" '[Service]' 'ExecStart=/bin/true' '[Install]' 'WantedBy=multi-user.target'
	"$convert" "$dir/units/$name.service" >"$dir/named.ini" 2>/dev/null
	ok "the name $name is one that a node can have" ctl check "$dir/named.ini"
done

survives systemd "$confs"/systemd/*.{service,socket,target,timer,path}

# --- The same behaviour --------------------------------------------------------------------------

make_units
if ! is_root; then
	rm "$WORLD/units/user.service"
	sed -i 's/user.service //' "$WORLD/units/run.target"
	sed -i '/^user:/d' "$dir/wanted"
	skip "a service of another user" "machine: needs root"
fi
umask 022
"$convert" -o "$ini" "$WORLD/units" 2>"$dir/run.err"
# The world has no folder for a state.
sed -i '/^state = /d' "$ini"
ok "the units that run: the result is valid" ctl check "$ini"
start_daemon
ok "swansongd: all have started" wait_for 60 units_started
ok "swansongd: a connection starts one of them" connect
ok "swansongd: the one that crashes is given up" wait_for 60 has_state crash failed
is "swansongd: the one that nothing wants" "$(state spare)" down
stop_daemon 60
compare_units swansongd

# --- Units of a distribution ---------------------------------------------------------------------

# As they are installed, with the folders that their packages make, and no trace on the machine.
mount_folders() {
	mount -t tmpfs tmpfs /var/lib && mount -t tmpfs tmpfs /var/log && mkdir -p /var/lib/nginx /var/log/nginx &&
		install -d -o redis -g redis /var/lib/redis /var/log/redis
}
rm "$ini"
real="nginx and redis run with the units of their packages"
if ! "$convert" -o "$ini" nginx.service redis-server.service 2>"$dir/real.err" && [ ! -e "$ini" ]; then
	skip "$real" "package nginx-light"
elif ! command -v redis-cli >/dev/null || ! command -v nginx >/dev/null; then
	skip "$real" "package redis-server"
elif ! command -v curl >/dev/null; then
	skip "$real" "package curl"
elif ! nginx -t >"$dir/nginx" 2>&1; then
	skip "$real" "machine: nginx refuses its configuration: $(head -n 1 "$dir/nginx")"
elif ! is_root || ! mount_folders 2>"$dir/mounts"; then
	skip "$real" "machine: needs root"
else
	: >"$log"
	start_daemon
	ok "$real" ctl wait --for ready --timeout 60s
	is "nginx answers" "$(curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1/)" 200
	is "redis answers" "$(redis-cli ping)" PONG
	ok "nginx is asked to reload by its own command" ctl reload nginx
	ok "and its log has the end of that" wait_for 10 says "$log" 'nginx: reloaded'
	stop_daemon 60
	is "and both end by their own commands and signals" "$status" 0
	ok "without a kill" not says "$log" 'SIGKILL'
fi
finish
