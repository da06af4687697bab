#!/bin/bash
# Output that goes to syslogd, or to the daemon's standard error where there is none.
. "${0%/*}/lib.sh"
requires_package python3 python3
requires_root

# A /dev without a syslogd.
mkdir "$dir/dev"
mount -t tmpfs tmpfs "$dir/dev" || skip_all "machine: refuses to mount"
ln -s /proc/self/fd "$dir/dev/fd"
for device in null zero urandom; do
	touch "$dir/dev/$device"
	mount --bind "/dev/$device" "$dir/dev/$device"
done
mount --rbind "$dir/dev" /dev

config <<END
[web/one]
command = sh -c 'echo out; echo "<3>bad" >&2; printf unfinished'
type = oneshot
log = syslog
[web/two]
command = sh -c 'echo heard; echo kept >&2'
type = oneshot
stdout = syslog
stderr = file:$dir/two.err
END
start_daemon
wait_for 10 has_state web/one "done" || die "without a syslogd it does its work"
ok "its lines are where the daemon's log is" wait_for 10 says "$log" 'web/one \| out$'

python3 "$top_srcdir/tests/helpers/fake-syslog.py" /dev/log "$dir/syslog" &
cleanup_fn end_process $!
wait_for 10 test -S /dev/log || die "there is a syslogd"
ctl restart web/one >/dev/null
ctl restart web/two >/dev/null
stamp='[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2}'
ok "a line is a message" wait_for 10 says "$dir/syslog" "^<30>$stamp web/one: (unfinished)?out$"
ok "with the level that it begins with" wait_for 10 says "$dir/syslog" "^<27>$stamp web/one: bad$"
ok "a single stream may go there" wait_for 10 says "$dir/syslog" "^<30>$stamp web/two: heard$"
is "and the other elsewhere" "$(tr '\n' '|' <"$dir/two.err")" "kept|kept|"
stop_daemon
is "the end is graceful" "$status" 0
ok "and loses nothing" wait_for 10 says "$dir/syslog" "^<30>$stamp web/one: unfinished$"
finish
