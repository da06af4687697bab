# shellcheck shell=bash
# Driving tests/helpers/holder.py, as a client or as a service.

holder_command="/usr/bin/env python3 $top_srcdir/tests/helpers/holder.py"

# A client with its output in $dir/NAME.out.
start_holder() { # NAME SOCKET
	mkfifo "$dir/$1"
	: >"$dir/$1.out" # the file is there before its lines are counted
	$holder_command "$dir/$1" "$2" >"$dir/$1.out" 2>&1 </dev/null &
	cleanup_fn end_process "$!"
}

# Waits until the command has been carried out.
tell() { # NAME COMMAND...
	local name=$1 before said=$dir/$1.out
	shift
	before=$(grep -c '^holder: did ' "$said")
	printf '%s\n' "$*" >"$dir/$name"
	wait_for 30 did_more_than "$before" "$said" || die "$name: $*"
}
did_more_than() { [ "$(grep -c '^holder: did ' "$2")" -gt "$1" ]; }

# The last line that a connection of the client has received.
heard() { # CONNECTION
	sed -n "s/^holder: $1: //p" "$dir/client.out" | tail -n 1
}

last_child() { # NAME
	sed -n 's/^holder: child //p' "$dir/$1.out" | tail -n 1
}
