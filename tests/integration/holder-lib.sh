# shellcheck shell=bash
# Driving tests/helpers/holder.py, as a client or as a service.

holder_command="/usr/bin/env python3 $top_srcdir/tests/helpers/holder.py"

# A client of its own, whose words are in $dir/NAME.said.
start_holder() { # NAME SOCKET
	mkfifo "$dir/$1"
	: >"$dir/$1.said" # there before anybody counts what is in it
	$holder_command "$dir/$1" "$2" >"$dir/$1.said" 2>&1 </dev/null &
	cleanup_fn end_process "$!"
}

# Waits until it has been done.
tell() { # NAME COMMAND...
	local name=$1 before said=$dir/$1.said
	shift
	before=$(grep -c '^holder: did ' "$said")
	printf '%s\n' "$*" >"$dir/$name"
	wait_for 30 did_more_than "$before" "$said" || die "$name: $*"
}
did_more_than() { [ "$(grep -c '^holder: did ' "$2")" -gt "$1" ]; }

# What was heard last on a connection of the client.
heard() { # CONNECTION
	sed -n "s/^holder: $1: //p" "$dir/client.said" | tail -n 1
}

last_child() { # NAME
	sed -n 's/^holder: child //p' "$dir/$1.said" | tail -n 1
}
