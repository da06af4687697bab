#!/bin/bash
# The tree of the demo, and a service with rights of its own, under the real systemd, with the unit and
# its drop-in hardened.conf; and the exporter with its unit.
# shellcheck disable=SC2034  # for what is sourced
world=systemd
. "${0%/*}/lib.sh"

# All of this is inside an overlay of / that will be thrown away, and not in /tmp or /home, which the
# drop-in takes away.
unit=$top_builddir/contrib/systemd/swansongd.service
bindir=$(sed -n 's/^ExecReload=\([^ ]*\)\/.*/\1/p' "$unit")
install -D "$(program swansongd)" "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")"
install -D "$(program swansongctl)" "$bindir/swansongctl"
install -D -m 644 "$unit" /etc/systemd/system/swansongd.service
install -D -m 644 "$top_srcdir/contrib/systemd/hardened.conf" \
	/etc/systemd/system/swansongd.service.d/hardened.conf
install -D "$top_srcdir/contrib/guard/swansong-guard.sh" /srv/contrib/guard/swansong-guard.sh
install -D "$top_srcdir/conf/demo-service.sh" /srv/conf/demo-service.sh
printf '[Service]\nWorkingDirectory=/srv/conf\nEnvironment=PATH=%s:/usr/bin:/bin\n' "$bindir" \
	>/etc/systemd/system/swansongd.service.d/test.conf
install -D -m 644 "$top_srcdir/conf/demo.ini" "$sysconfdir/swansong/swansong.ini"
mode=$(grep '^control-mode = ' "$top_srcdir/conf/empty.ini") # of the installed configuration
sed -i "s/^\[swansong\]\$/&\n$mode\ncontrol-group = swansong/" "$sysconfdir/swansong/swansong.ini"
groupadd -f swansong
cat >>"$sysconfdir/swansong/swansong.ini" <<'END'

[rights]
command = sleep infinity
user = nobody
listen = tcp:127.0.0.1:81 unix:/run/rights,owner=nobody
nice = -5
oom-score-adjust = 100
limit-nofile = 1000:5000
capabilities = cap_net_bind_service

[told]
command = sh -c 'systemd-notify --ready && exec sleep infinity'
user = nobody
ready = notify
END
systemctl daemon-reload
unset SWANSONG_SOCKET

property() { systemctl show swansongd -p "$1" --value; }
journal() { journalctl -u swansongd -o cat --no-pager >"$log" && says "$log" "$1"; } # REGEX
cleanup_fn journal .
value_of() { sed -n "s/^$1:[[:space:]]*//p" "/proc/$2/status"; } # NAME PID

ok "the unit has no mistakes" systemd-analyze verify --man=no swansongd.service
ok "it starts" systemctl start swansongd
ok "the tree of the demo is ready" ctl wait web --for ready --timeout 60s
ok "a oneshot has done its work" ctl wait jobs/import --for ready --timeout 60s
ok "a service of another user can send READY=1" ctl wait told --for ready --timeout 60s
daemon=$(property MainPID)
is "the daemon gains no privileges" "$(value_of NoNewPrivs "$daemon")" 1
is "and is filtered" "$(value_of Seccomp "$daemon")" 2

pid=$(pid_of rights)
is "a service has its user" "$(stat -c %U "/proc/$pid")" nobody
is "and its nice value" "$(ps -o ni= -p "$pid" | tr -d ' ')" -5
is "and its place before the memory killer" "$(cat "/proc/$pid/oom_score_adj")" 100
like "and its limit" "$(grep '^Max open files' "/proc/$pid/limits")" ' 1000 +5000 '
is "and its capability" "$(value_of CapEff "$pid")" 0000000000000400
is "and its socket" "$(stat -c %U /run/rights)" nobody
like "and its control group" "$(group_of "$pid")" '/node:rights$'

# --- The exporter ---

serves() { [ "$(curl -s "$1/api/tree" | jq -r '.nodes[] | select(.path == "rights").service.state')" = up ]; } # URL
exporter_works() {
	local unit=$top_builddir/contrib/systemd/swansong-exporter.service
	local url=http://127.0.0.1:9633 token pid

	install -D "$(program swansong-exporter)" "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")"
	install -m 644 "$unit" /etc/systemd/system/
	systemctl daemon-reload
	ok "the unit of the exporter has no mistakes" systemd-analyze verify --man=no swansong-exporter.service
	ok "it starts" systemctl start swansong-exporter
	ok "it serves the tree" wait_for 10 serves "$url"
	is "and is healthy" "$(curl -s -o /dev/null -w '%{http_code}' "$url/healthz")" 200
	is "it has the figures of services of other users" "$(curl -s "$url/metrics/usage" |
		sed -n 's/^\(swansong_service_[a-z]*\)[a-z_]*{node="rights"}.*/\1/p' | sort | xargs)" \
		"swansong_service_cpu swansong_service_memory swansong_service_processes"
	pid=$(systemctl show swansong-exporter -p MainPID --value)
	is "it has raised its limit of descriptors" "$(awk '/^Max open files/ { print $4 }' "/proc/$pid/limits")" \
		"$(awk '/^Max open files/ { print $5 }' "/proc/$pid/limits")"

	token=$(head -c 32 /dev/urandom | od -An -vtx1 | tr -d ' \n')
	install -D -m 600 /dev/stdin /etc/swansong/exporter.token <<<"$token"
	mkdir /etc/systemd/system/swansong-exporter.service.d
	{ echo '[Service]' && sed -n 's/^#\([A-Z]\)/\1/p' "$unit"; } \
		>/etc/systemd/system/swansong-exporter.service.d/actions.conf
	systemctl daemon-reload
	ok "the lines for a token have no mistakes" systemd-analyze verify --man=no swansong-exporter.service
	ok "it starts with them" systemctl restart swansong-exporter
	ok "and serves the tree" wait_for 10 serves "$url"
	is "an action succeeds with the token of a file that only root can read" \
		"$(curl -s -w ' %{http_code}' "$url/api/action" -H 'Content-Type: application/json' \
			-H "Authorization: Bearer $token" -d '{"action":"restart","node":"rights"}')" '{"ok":true} 200'
	ok "it ends" systemctl stop swansong-exporter
	is "without a fault" "$(systemctl show swansong-exporter -p Result --value)" success
}
if [ ! -x "$top_builddir/swansong-exporter" ]; then
	skip "the exporter works with its unit" "package libmicrohttpd-dev"
elif ! command -v curl >/dev/null; then
	skip "the exporter works with its unit" "package curl"
else
	exporter_works
fi

ok "a reload succeeds" systemctl reload swansongd
ok "a service is restarted" ctl restart rights --timeout 60s
ok "a service that hangs is killed" by_force ctl stop jobs/hung
ctl signal USR1 web/app
ok "the application has an order" wait_for 10 has_kinds_of_guards web/app "lease process"
systemctl stop swansongd
is "the stop is a success" "$(property Result) $(property ExecMainStatus)" "success 0"
ok "and has waited for the order" journal 'app: order 42 is done'
finish
