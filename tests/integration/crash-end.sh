#!/bin/bash
# Faults of the daemon during a shutdown do not change its exit status: that of the service with which the tree has
# ended, of the signal, or of a forced end.
. "${0%/*}/lib.sh"

mkfifo "$dir/go"
stops() { says "$dir/slow" TERM; }
# The service that ends last has got its signal when the fault comes.
end_with_fault() { # NAME COMMAND...: which begins the end
	local name=$1
	shift
	: >"$dir/slow"
	: >"$log"
	start_daemon
	ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
	wait_for 10 says "$dir/slow" ready || die "the last one hears its signal"
	"$@" || die "an end is begun"
	ok "$name: a shutdown has begun" wait_for 10 stops
	kill -SEGV "$daemon"
	wait_for 10 has_faults 1 || die "the fault is reported"
	echo >"$dir/go"
	await_daemon 20
}
config_with() { # LINE...: of [swansong]
	{
		echo '[swansong]'
		printf '%s\n' "$@"
		cat <<-END
		[slow]
		command = $helpers/signal-log $dir/slow 0 $dir/go
		stop-timeout = 50s
		END
	} | config
}
signal() { kill -TERM "$daemon"; }

config_with 'exit-on-signal = 128+n'
end_with_fault "a signal" signal
is "its number is in the status" "$status" 143

config_with 'exit-when = any'
cat >>"$ini" <<END
[main]
command = sh -c 'read -r _ <$dir/end; exit 3'
essential = yes
restart = never
END
mkfifo "$dir/end"
end_main() { echo >"$dir/end"; }
end_with_fault "an essential service" end_main
is "the status is its own" "$status" 3

config_with 'exit-on-signal = 128+n'
cat >>"$ini" <<END
[stubborn]
command = $helpers/stubborn $dir/stubborn
stop-timeout = 100ms
END
killed() { wait_for 10 test -s "$dir/stubborn" && signal && wait_for 10 says "$log" 'stubborn: killing pid'; }
end_with_fault "a service that is killed" killed
is "the end was forced" "$status" 124
finish
