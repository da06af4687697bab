#!/bin/bash
# A process has no environment for a moment while it calls execve(2), and so no mark: it is checked again.
. "${0%/*}/lib.sh"
hide_cgroups

# Without an environment as long as it waits, and then with that of its service.  Its parent
# stays until it has none: an orphan that is found earlier belongs to the service, rightly.
cat >"$dir/blank" <<END
echo \$\$ >$dir/pid
echo >$dir/blank.there
read -r _ <$dir/go
SWANSONG_NODE=blank exec $helpers/idle
END
mkfifo "$dir/go" "$dir/blank.there"
config <<END
[blank]
command = sh -c 'setsid sh -c "env -i sh $dir/blank & read -r _ <$dir/blank.there"; exec $helpers/idle'
END
start_daemon
wait_for 10 test -s "$dir/pid" || die "it is there"
escapee=$(cat "$dir/pid")
wait_for 10 grep -q "^PPid:[[:space:]]$daemon$" "/proc/$escapee/status" || die "the daemon is its parent"
leftovers() { ctl guards --json blank | jq -r '.guards[] | select(.kind == "leftover") | .pid'; }
is "a process without an environment belongs to no service" "$(leftovers)" ""
echo >"$dir/go"
marked() { grep -q SWANSONG_NODE "/proc/$escapee/environ"; }
wait_for 10 marked || die "it has an environment"
is "until it has one" "$(leftovers)" "$escapee"
stop_daemon 10
is "with which it is waited for" "$status" 0
ok "and not killed" not says "$log" 'killing|killed [0-9]'
finish
