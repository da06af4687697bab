#!/bin/bash
# An upgrade, while the file system above the program of the daemon does not answer: it is refused, and holds up
# nothing.
. "${0%/*}/lib.sh"
requires_root
requires_package python3 python3

mkdir "$dir/bin"
own_program
mv "$swansongd" "$dir/bin/swansongd"
swansongd=$dir/bin/swansongd
: "$swansongd"
service web | config
start_daemon
web=$(pid_of web)
mount_hanging "$dir/bin"
timeout 10 "$swansongctl" upgrade >"$dir/refused" 2>&1
is "an upgrade from a file system that hangs is refused" "$?" 1
like "with its reason" "$(cat "$dir/refused")" 'swansongd: Connection timed out'
is "the daemon answers" "$(timeout 10 "$swansongctl" status --json | jq -r '.nodes[] | select(.path == "web") | .service.pid')" "$web"
stop_daemon
is "and ends as ever" "$status" 0
end_process "$mounting"
umount "$dir/bin"
finish
