#!/bin/sh
# A service of the demo: says that it is ready, and takes its time to end.
#
# usage: demo-service.sh NAME SECONDS
name=$1
seconds=$2

leave() {
	echo "$name: finishing what is in flight"
	sleep "$seconds"
	echo "$name: closed"
	exit 0
}
trap leave TERM

echo "$name: open"
echo >&3
while :; do
	sleep 60 &
	wait $!
done 2>/dev/null
