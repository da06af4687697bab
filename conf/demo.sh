#!/bin/sh
# A tour of ten seconds: a tree comes up, one service hangs, one is busy, the tree goes down.
# Run by `./bootstrap demo`; on a terminal it waits for Enter before that.
set -eu
: "${top_builddir:=$PWD}"
PATH=$top_builddir:$PATH
cd "$(dirname "$0")"
dir=$(mktemp -d)
export PATH SWANSONG_SOCKET="$dir/socket"

daemon=
leave() {
	if [ -n "$daemon" ]; then
		kill -TERM "$daemon" 2>/dev/null || :
		wait "$daemon" || :
	fi
	rm -rf "$dir"
}
trap leave EXIT
trap 'exit 130' INT TERM HUP

title() { printf '\n\033[1m%s\033[0m\n' "$*"; }
if [ ! -t 1 ] || [ -n "${NO_COLOR:-}" ]; then
	title() { printf '\n%s\n' "$*"; }
fi
show() { # a command as it is typed, and what it says
	printf '$ %s\n' "$*"
	"$@"
}

title "swansongd runs the tree of conf/demo.ini"
# The report of the shutdown is to lie in our own folder.
sed "s|^\[swansong\]|&\\nreport = $dir/report.json|" demo.ini >"$dir/demo.ini"
printf '$ swansongd -c %s --socket %s &\n' "$dir/demo.ini" "$SWANSONG_SOCKET"
swansongd -c "$dir/demo.ini" --socket "$SWANSONG_SOCKET" >"$dir/log" 2>&1 </dev/null &
daemon=$!

title "Services start in the order of their needs, each when the one before is ready"
show swansongctl wait web --for ready --timeout 10s || {
	cat "$dir/log"
	exit 1
}
show swansongctl wait jobs/import --for ready
show swansongctl tree

title "One that hangs and has no work has its stop-timeout, a second; then it is killed, and named"
show swansongctl shutdown jobs/hung || :

title "One that fails starts again, later each time, until its restart-limit; the others live on"
tries=0
until swansongctl status jobs/flaky | grep -q 'state: *failed' || [ $((tries += 1)) -gt 50 ]; do
	sleep 0.1
done
grep jobs/flaky "$dir/log"
show swansongctl status jobs/flaky

if [ -t 0 ]; then
	title "It is yours.  In another terminal:"
	# shellcheck disable=SC2016  # for the other shell
	printf 'export SWANSONG_SOCKET=%s PATH=%s:$PATH\nswansongctl status\n' \
		"$SWANSONG_SOCKET" "$top_builddir"
	printf '\nEnter goes on to a shutdown. '
	read -r _ || :
fi

title "The application has the same second, but takes an order; it says so by a guard"
show swansongctl signal USR1 web/app
tries=0
until swansongctl guards web/app | grep -q order || [ $((tries += 1)) -gt 50 ]; do
	sleep 0.1
done
show swansongctl guards web

title "The shutdown: everybody hears of it at once, and the order is waited for"
show swansongctl shutdown --reason maintenance
status=0
wait "$daemon" || status=$?
daemon=
title "What happened meanwhile, from the daemon's log"
sed -n '/root: shutting down/,$p' "$dir/log"
title "Who took how long, and what for, from the report that it leaves"
show swansongctl blame --report "$dir/report.json"
title "swansongd exited with $status: nothing had to be killed for its end"
exit $status
