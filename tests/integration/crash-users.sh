#!/bin/bash
# A fault while the user database lacks the users of the configuration, or does not answer: the tree goes on with those
# that it was read with, and nothing but a reload asks the database.
. "${0%/*}/lib.sh"
requires_root

{
	service web 'user = games' 'group = adm' 'groups = daemon'
	service other
	echo '[g]'
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
web=$(pid_of web)
ctl run --property user=games --property groups=daemon g/once -- "$helpers/idle" >/dev/null 2>&1 &
ok "a program of no file runs" wait_for 10 has_state g/once up
once=$(pid_of g/once)

mkfifo "$dir/hung"
mount --bind "$dir/hung" /etc/group
kill -SEGV "$daemon"
ok "a daemon with a fault goes on while the database hangs" wait_for 10 has_faults 2
ok "and answers then" wait_for 10 ctl_answers
is "with the same services" "$(pid_of web) $(pid_of other) $(pid_of g/once)" "$web $other $once"
kill -KILL "$web"
ok "a service starts with its groups" wait_for 10 is_up_anew web "$web"
is "all of them" "$(awk '/^Groups:/ { print $2, $3, $4 }' "/proc/$(pid_of web)/status")" "1 4 "
"$swansongctl" reload >"$dir/out" 2>&1 &
reload=$!
is_reading() { pgrep -P "$daemon" -x "$(cat "/proc/$daemon/comm")" >/dev/null; }
ok "a reload waits for the database" wait_for 10 is_reading
ok "and the daemon answers" ctl_answers
# Each look-up of a group finds an empty file.
while kill -0 "$reload" 2>/dev/null; do
	timeout 1 cp /dev/null "$dir/hung"
done
wait "$reload"
is "the reload ends with the database" "$?" 1
timeout 30 "$swansongctl" run --property user=games g/late -- "$helpers/idle" >"$dir/out" 2>&1 &
run=$!
ok "a new program waits for the database" wait_for 10 is_reading
ok "and the daemon answers" ctl_answers
ok "it runs a program without a user" ctl run --no-wait g/plain -- "$helpers/idle"
wait "$run"
is "without an answer it is refused" "$?" 1
like "with the reason" "$(cat "$dir/out")" "the user database does not answer"
"$swansongctl" run --property user=games g/left -- "$helpers/idle" >"$dir/out" 2>&1 &
run=$!
ok "another one waits" wait_for 10 is_reading
end_process "$run"
ok "without its client nothing waits for the database" wait_for 4 not is_reading
umount /etc/group
ctl run --property user=games --property group=adm g/late -- "$helpers/idle" >/dev/null 2>&1 &
ok "with the database it runs" wait_for 10 has_state g/late up
late=$(pid_of g/late)
is "as its user" "$(stat -c %u:%g "/proc/$late")" 5:4
kill -SEGV "$daemon"
ok "over a fault" wait_for 10 has_faults 3
is "with its process" "$(pid_of g/late)" "$late"
stop_daemon
is "the end comes" "$status" 0
finish
