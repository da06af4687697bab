#!/bin/bash
# A process that a service leaves behind is waited for, and so is its own child, to the end of the chain.
. "${0%/*}/lib.sh"

# The last of the chain works on for a while after its signal; each of the others ends at once.
cat >"$dir/last" <<END
trap '' TERM
echo >"$dir/begun"
read -rt 1 <>"$dir/never"
echo >"$dir/done"
END
cat >"$dir/middle" <<END
trap '' TERM
setsid bash $dir/last &
read -r <"$dir/go"
END
cat >"$dir/first" <<END
setsid bash $dir/middle &
exec $helpers/idle
END
mkfifo "$dir/never" "$dir/go"
config <<END
[chain]
command = bash $dir/first
END
start_daemon
wait_for 5 test -e "$dir/begun" || die "the chain is there"

kill -TERM "$daemon"
ok "the first leaves the others" wait_for 5 says "$log" 'found remaining pid [0-9]+ \(bash\)'
echo >"$dir/go"
await_daemon 10
is "the end is graceful" "$status" 0
ok "the last one of the chain has done its work" test -e "$dir/done"
ok "and no process had to be killed" not says "$log" 'killing|killed [0-9]'

# It was found in the group of the main process, and has left that since.
mkfifo "$dir/leave"
config <<END
[leaver]
command = sh -c '((read -r x <$dir/leave; exec setsid $helpers/idle) &); exec $helpers/idle'
END
start_daemon
found() { ctl guards leaver >/dev/null && says "$log" 'leaver: found remaining pid'; }
ok "an orphan in the group of its service is found" wait_for 5 found
echo >"$dir/leave"
leaves() { [ "$(pgrep -cx idle)" = 2 ]; }
wait_for 5 leaves || die "it has a session of its own"
began=$(now)
stop_daemon 20
is "its stop is graceful" "$status" 0
within "and at once" $(($(now) - began)) 0 5000

# A child of the shell that became swansongd: swansongd must not end it.
bash -c "$helpers/idle & echo \$! >$dir/before; exec $swansongd -- true"
is "in front of a command" "$?" 0
ok "a child of before stays" kill -0 "$(cat "$dir/before")"
end_process "$(cat "$dir/before")"
finish
