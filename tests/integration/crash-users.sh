#!/bin/bash
# A fault while the user database lacks the users of the configuration: the tree goes on with those that it was read with.
. "${0%/*}/lib.sh"
requires_root

{
	service web 'user = games' 'group = adm' 'groups = daemon'
	service other
} | config
start_daemon
ctl wait --for running >/dev/null
web=$(pid_of web) other=$(pid_of other)
grep -v '^games:' /etc/passwd >"$dir/passwd"
grep -v -e '^adm:' -e '^daemon:' /etc/group >"$dir/group"
hides_users() { mount --bind "$dir/passwd" /etc/passwd && mount --bind "$dir/group" /etc/group; }
hides_users || skip_all "machine: no mounts of its own"
ok "no user is found" not id games
kill -SEGV "$daemon"
ok "the daemon goes on" wait_for 10 has_faults 1
ok "and answers" wait_for 10 ctl_answers
is "with its services" "$(pid_of web) $(pid_of other)" "$web $other"
"$swansongctl" reload >"$dir/out" 2>&1
is "a reload is refused" "$?" 1
like "with the user" "$(cat "$dir/out")" "user: invalid value 'games': no such user"
kill -KILL "$web"
ok "a service starts again with its user" wait_for 10 is_up_anew web "$web"
is "by its number" "$(stat -c %u "/proc/$(pid_of web)")" 5
umount /etc/passwd /etc/group
ok "with the database a reload is done" ctl reload
stop_daemon
is "the end comes" "$status" 0
finish
