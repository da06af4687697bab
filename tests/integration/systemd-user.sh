#!/bin/bash
# A tree of a user, under the manager of that user: the unit that is shipped, lingering, and a shutdown in the middle
# of work when the manager ends.
# shellcheck disable=SC2034  # for what is sourced
world=systemd
. "${0%/*}/lib.sh"

requires_package runuser util-linux
command -v loginctl >/dev/null || skip_all "machine: no logind"
[ -e /lib/systemd/system/user@.service ] || skip_all "machine: systemd has no managers of users"

# All of this is inside an overlay of / that will be thrown away.
unit=$top_builddir/contrib/systemd/user/swansongd.service
install -D "$(program swansongd)" "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")"
ctl_installed=$(sed -n 's/^ExecReload=\([^ ]*\).*/\1/p' "$unit")
install -D "$(program swansongctl)" "$ctl_installed"
install -D "$(program swansong-logger)" "$pkglibexecdir/swansong-logger"
install -D -m 644 "$unit" /etc/systemd/user/swansongd.service
useradd --create-home tester || die "a user"
uid=$(id -u tester)
unset SWANSONG_SOCKET
as_user() { # COMMAND...: as in a session of that user
	runuser -u tester -- env -C / HOME=/home/tester XDG_RUNTIME_DIR="/run/user/$uid" "$@"
}
user_ctl() { as_user "$ctl_installed" "$@"; }
unit_is() { [ "$(as_user systemctl --user show swansongd -p "$1" --value)" = "$2" ]; } # PROPERTY VALUE
journal() { journalctl "_UID=$uid" -o cat --no-pager >"$log"; }
cleanup_fn journal

ok "lingering begins" loginctl enable-linger tester
has_manager() { [ -S "/run/user/$uid/systemd/private" ]; }
ok "the manager of the user runs without a session" wait_for 30 has_manager
as_user systemctl --user start swansongd
ok "without a configuration the unit is skipped" unit_is ConditionResult no

cat >/home/tester/worker <<-'END'
	#!/bin/bash
	trap 'sleep 1; echo "worked to the end" >>"$HOME/work"; exit' TERM
	echo begun >>"$HOME/work"
	while :; do sleep 0.1; done
END
chmod 755 /home/tester/worker
install -d -o tester /home/tester/.config /home/tester/.config/swansong
cat >/home/tester/.config/swansong/swansong.ini <<-'END'
	[worker]
	command = /home/tester/worker
	[helper]
	command = sleep 1000
	requires = worker
END
chown -R tester: /home/tester
ok "with one it starts" as_user systemctl --user enable --now swansongd
is "and is active when the tree is ready" "$(as_user systemctl --user is-active swansongd)" active
is "swansongctl of the user finds it" "$(user_ctl status --json | jq -r '.nodes[] | select(.path == "helper") | .service.state')" up
is "its socket is in the runtime directory" "$(stat -c %U "/run/user/$uid/swansong/control.sock")" tester
pid=$(user_ctl status --json | jq -r '.nodes[] | select(.path == "worker") | .service.pid')
is "services are of the user" "$(stat -c %U "/proc/$pid")" tester
like "and in the unit" "$(cat "/proc/$pid/cgroup")" 'user@.*/swansongd.service'
sed -i 's/sleep 1000/sleep 1001/' /home/tester/.config/swansong/swansong.ini
ok "systemctl reload is a reload" as_user systemctl --user reload swansongd
changed() { user_ctl status --json | jq -e '.nodes[] | select(.path == "helper") | .service.command == "sleep 1001"' >/dev/null; }
ok "with the new settings" wait_for 10 changed

has_begun() { grep -q begun /home/tester/work; }
ok "the worker is at work" wait_for 10 has_begun
ok "the manager ends, as at the end of the last session or of the machine" systemctl stop "user@$uid.service"
is "the worker has ended its work" "$(tail -n 1 /home/tester/work)" "worked to the end"
journal
ok "the shutdown is complete" says "$log" 'root: complete in'
ok "and nothing was killed" not says "$log" 'killing'
finish
