#!/bin/bash
# The same tree under the real systemd, with the unit that is shipped.
# shellcheck disable=SC2034  # for what is sourced
world=systemd
. "${0%/*}/lib.sh"
. "${0%/*}/web-tree.sh"
requires_web_tree

# All of this is inside an overlay of / that will be thrown away.
unit=$top_builddir/contrib/systemd/swansongd.service
install -D "$(program swansongd)" "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")"
install -D "$(program swansongctl)" "$(sed -n 's/^ExecReload=\([^ ]*\).*/\1/p' "$unit")"
install -D "$(program swansong-logger)" "$pkglibexecdir/swansong-logger"
install -D -m 644 "$unit" /etc/systemd/system/swansongd.service
install -m 644 "${unit%.service}@.service" /etc/systemd/system/
mkdir -p "$sysconfdir/swansong"
conf=$sysconfdir/swansong/swansong.ini
mkfifo "$dir/fifo"
exec 5<>"$dir/fifo" # a writer never waits
{
	web_tree "$dir"
	printf '[says]\ncommand = sh -c "echo first; echo \\"<3>second\\" >&2; exec %s/idle"\n' "$helpers"
	printf '[gate]\ncommand = %s/notifier %s/fifo\nready = notify\n' "$helpers" "$dir"
} >"$conf"
systemctl daemon-reload
unset SWANSONG_SOCKET

property() { systemctl show swansongd -p "$1" --value; }
has_property() { [[ $(property "$1") =~ $2 ]]; } # NAME REGEX
journal() { journalctl -u swansongd -o cat --no-pager >"$log" && says "$log" "$1"; } # REGEX
cleanup_fn journal .

ok "the unit has no mistakes" systemd-analyze verify --man=no swansongd.service
systemctl start --no-block swansongd
ok "everything but the gate is ready" wait_for 30 curl -sf -o "$dir/first" http://127.0.0.1:8080/
is "so it is activating" "$(property ActiveState)" activating
echo READY=1 >&5
ok "with the gate it is active" wait_for 10 has_property ActiveState '^active$'
is "swansongctl finds it" "$(ctl status --json | jq -r '.nodes[] | select(.path == "gate") |
	.service.state')" up

entries() { journalctl "$@" -o json --no-pager; }
has_entry() { [ -n "$(entries "$@")" ]; }
ok "a line is found by its node" wait_for 10 has_entry SWANSONG_NODE=says MESSAGE=first
is "with its run, its process and the unit" \
	"$(entries SWANSONG_NODE=says MESSAGE=first | jq -r '[.SYSLOG_IDENTIFIER, .SWANSONG_GENERATION, .PRIORITY,
		._SYSTEMD_UNIT, .SYSLOG_PID] | join(" ")')" \
	"says 1 6 swansongd.service $(ctl status --json | jq -r '.nodes[] | select(.path == "says") | .service.pid')"
ok "a line of standard error has its priority" wait_for 10 has_entry SWANSONG_NODE=says MESSAGE=second PRIORITY=3
is "no line of another node is found by it" "$(entries SWANSONG_NODE=says | jq -r .MESSAGE | sort | tr '\n' ' ')" \
	"first second "
ok "nginx is found by its node as well" wait_for 10 has_entry SWANSONG_NODE=web/nginx

ok "reload succeeds" systemctl reload swansongd
is "and leaves it active" "$(property ActiveState)" active
echo '[broken' >>"$conf"
ok "a reload with a mistake fails" not systemctl reload swansongd
is "and leaves it active" "$(property ActiveState)" active
main=$(property MainPID) nginx=$(pid_of web/nginx)
pkill -KILL -x -P "$main" swansongd
ok "a daemon that was killed answers again" wait_for 10 ctl status
is "it is active all the time" "$(property ActiveState) $(property MainPID) $(property NRestarts)" "active $main 0"
is "and no service was touched" "$(pid_of web/nginx)" "$nginx"

ask_slowly
ok "a slow request is in flight" wait_for 10 journal 'slow request has begun'
began=$(now)
systemctl stop --no-block swansongd
ok "the status text changes at once" wait_for 10 has_property StatusText '^ShuttingDown'
like "and names the services that are waited for" "$(property StatusText)" 'web/nginx'
is "it is deactivating" "$(property ActiveState)" deactivating
await_answer
is "the request is answered, whole" "$answer" "200 100000"
ok "then it is inactive" wait_for 10 has_property ActiveState '^inactive$'
within "as soon as that" $(($(now) - began)) 1500 20000
is "with success" "$(property Result) $(property ExecMainStatus)" "success 0"
journal .
ok "and the dependents went first" in_order 'worker: done' 'Received SIGTERM'
ok "nothing is left in its control group" not pgrep 'nginx|redis-server|notifier'

printf '[gate]\ncomand = true\n' >"$conf"
ok "a configuration with mistakes does not start" not systemctl start swansongd
is "and is not tried again" "$(property ExecMainStatus) $(property NRestarts)" "78 0"

# --- Trees of a name of their own, and none --------------------------------------------------------

service second >"$sysconfdir/swansong/second.ini"
ok "a tree of another name starts" systemctl start swansongd@second
service first >"$conf"
ok "beside the default one" systemctl start swansongd
ok "it is reloaded by its own socket" systemctl reload swansongd@second
systemctl stop swansongd
is "the stop of the default one leaves it alone" \
	"$(ctl --socket /run/swansong/second.sock list | tail -n 1)" second
systemctl stop swansongd@second
rm "$conf"
ok "a start without a configuration succeeds" systemctl start swansongd
is "and starts no daemon" "$(property ActiveState) $(property ConditionResult)" "inactive no"

# --- A reload that systemd asks for by a signal ---------------------------------------------------

version=$(systemctl --version | awk '{ print $2; exit }')
[ "${version%%[!0-9]*}" -ge 253 ] || { skip "Type=notify-reload works" "machine: systemd $version"; finish; }
mkdir /etc/systemd/system/swansongd.service.d
printf '[Service]\nType=notify-reload\nExecReload=\n' >/etc/systemd/system/swansongd.service.d/reload.conf
systemctl daemon-reload
service first >"$conf"
ok "it starts as Type=notify-reload" systemctl start swansongd
service second >>"$conf"
ok "a reload succeeds" systemctl reload swansongd
ok "which has been made by then" ctl status second
echo '[broken' >>"$conf"
ok "so does one with a mistake" systemctl reload swansongd
like "but the status text has the refusal" "$(property StatusText)" '^Reload refused'
is "and it is active" "$(property ActiveState)" active
systemctl stop swansongd
is "stopped, it is a success" "$(property ActiveState) $(property Result)" "inactive success"
finish
