#!/bin/sh
# A service of the demo: says that it is ready, works four seconds for each SIGUSR1, and ends when it
# has worked.
#
# usage: demo-service.sh NAME
name=$1
# Installed, or in the sources.
for functions in ../contrib/guard ../../../swansong; do
	# shellcheck disable=SC1090,SC1091  # one of two places
	[ ! -e $functions/swansong-guard.sh ] || . $functions/swansong-guard.sh
done

# The signal comes to all of the process group: what works is finished all the same.
work() {
	(
		trap '' TERM
		swansong_guard "order 42"
		echo "$name: order 42 begins"
		sleep 4
		echo "$name: order 42 is done"
		swansong_release "order 42"
	)
}
leave() {
	echo "$name: closed"
	exit 0
}
trap work USR1
trap leave TERM

echo "$name: open"
echo >&3
while :; do
	sleep 60 3>&- &
	wait $!
done 2>/dev/null
