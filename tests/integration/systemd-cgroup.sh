#!/bin/bash
# The unit that is shipped, under the real systemd: its control group is ours to divide.
# shellcheck disable=SC2034  # for what is sourced
world=systemd
. "${0%/*}/lib.sh"

# All of this is inside an overlay of / that will be thrown away.
unit=$top_builddir/contrib/systemd/swansongd.service
install -D "$(program swansongd)" "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")"
install -D "$(program swansongctl)" "$(sed -n 's/^ExecReload=\([^ ]*\).*/\1/p' "$unit")"
install -D -m 644 "$unit" /etc/systemd/system/swansongd.service
mkdir -p "$sysconfdir/swansong"
make_escape
cat >"$sysconfdir/swansong/swansong.ini" <<END
[web/nginx]
command = $helpers/idle
[escaper]
command = sh -c '$dir/escape $helpers/stubborn $dir/stubborn; exec $helpers/idle'
stop-timeout = 300ms
[bounded]
command = $helpers/idle
cgroup-pids-max = 7
cgroup-memory-max = 64M
cgroup-cpu-weight = 50
END
systemctl daemon-reload
unset SWANSONG_SOCKET

journal() { journalctl -u swansongd -o cat --no-pager >"$log" && says "$log" "$1"; } # REGEX
cleanup_fn journal .

systemctl start swansongd || die "the unit starts"
main=$(systemctl show swansongd -p MainPID --value)
unit_group=$(systemctl show swansongd -p ControlGroup --value)
[ -n "$(group_of "$main")" ] || skip_all "machine: its systemd has no control groups of version 2"
like "swansongd has moved into a group of its own" "$(group_of "$main")" \
	"$unit_group/swansongd-[0-9a-f]*\$"
like "a service has one" "$(group_of "$(pid_of web/nginx)")" \
	"$unit_group/swansong-[0-9a-f]*/node:web:nginx\$"
like "systemctl shows both" "$(systemctl status swansongd --no-pager)" 'node:web:nginx'

wait_for 5 test -s "$dir/stubborn" || die "the escaper is there"
like "so is a process that has escaped from the service" "$(group_of "$(cat "$dir/stubborn")")" '/node:escaper$'
top=/sys/fs/cgroup
limit() { cat "$top$(group_of "$(pid_of bounded)")/$1"; } # FILE
for one in pids:pids.max:7 memory:memory.max:67108864 cpu:cpu.weight:50; do
	IFS=: read -r controller file want <<<"$one"
	if grep -qw "$controller" "$top/cgroup.controllers"; then
		is "$file is set" "$(limit "$file")" "$want"
	else
		ok "the log reports that there is no $controller" \
			wait_for 5 journal "bounded: cgroup-$controller.* has no effect"
		skip "$file is set" "machine: no controller $controller in version 2"
	fi
done
ok "a reload works from its own group" systemctl reload swansongd
is "and leaves it active" "$(systemctl show swansongd -p ActiveState --value)" active

kill -KILL "$main"
restarted() {
	[ "$(systemctl show swansongd -p NRestarts --value)" = 1 ] && systemctl -q is-active swansongd
}
ok "killed, it is started again" wait_for 20 restarted
ok "and has its groups" wait_for 5 test -d "$top$unit_group"/swansong-*/node:web:nginx
wait_for 5 ctl_answers
systemctl stop swansongd
is "the stop was forced by the stubborn one" \
	"$(systemctl show swansongd -p ExecMainStatus --value)" 124
ok "no process is left" not pgrep 'idle|stubborn'
ok "no group is left" not test -d "$top$unit_group"
finish
