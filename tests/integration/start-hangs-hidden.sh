#!/bin/bash
# A file system that hangs, and that the text of a path does not show: behind a link of the service's user, or "..", and
# one of that user that answers until a file is opened.  The daemon does not wait for it, nor does its end.
. "${0%/*}/lib.sh"
requires_root
requires_package python3 python3
requires_package setpriv util-linux

nobody=65534
mount_hanging "$dir/hung"
cp "$helpers/idle" "$dir"
mkdir "$dir/home" "$dir/late"
chmod 755 "$dir"
chown $nobody "$dir/home" "$dir/late"
setpriv --reuid=$nobody --regid=$nobody --clear-groups ln -s "$dir/hung" "$dir/home/link"
ln -s "$dir/hung" "$dir/reports"

forking() { # NAME PID-FILE
	printf '[%s]\ncommand = sh -c "%s & exit 0"\nuser = nobody\ntype = forking\npid-file = %s\n' "$1" "$dir/idle" "$2"
	printf 'autostart = no\nrestart = never\nstart-timeout = 1s\n'
}
config <<END
[swansong]
report = $dir/reports/report
[quick]
command = $dir/idle
[socket]
command = $dir/idle
user = nobody
listen = unix:$dir/late/socket
[file]
command = $dir/idle
log = file:$dir/hung/log
autostart = no
restart = never
$(forking link "$dir/home/link/pid")
$(forking dots "$dir/home/../hung/pid")
$(forking late "$dir/late/pid")
END
SWANSONG_LOGGER=$dir/none
export SWANSONG_LOGGER
start_daemon
ok "the tree starts" wait_for 10 has_state socket up
# Over the socket: from now on a look-up is answered, and no open, nor a removal.
mount_hanging "$dir/late" $nobody

answers() { timeout 10 "$swansongctl" status quick >/dev/null; }
for name in link dots late; do
	ctl start $name --no-wait >/dev/null
	ok "the daemon answers while the pid file of $name hangs" answers
	ok "and start-timeout ends the start" wait_for 10 has_state $name failed
done
ctl start file --no-wait >/dev/null
ok "it answers while a log hangs that no logger opens" answers
ok "and the start fails" wait_for 10 has_state file failed
like "the reason names the file" "$(ctl status file)" "$dir/hung/log: the file system does not answer"

began=$(now)
stop_daemon 20
is "the shutdown is graceful" "$status" 0
within "and waits neither for the socket nor for the report" $(($(now) - began)) 0 9000
ok "the log names the report that is missing" says "$log" "cannot write the report $dir/reports/report: the file system does not answer"
ok "processes that hang there are no unowned ones" not grep -q unowned "$log"
for mounted in "$dir/late" "$dir/hung"; do umount -l "$mounted"; done
finish
