#!/bin/sh
# A tour of ten seconds: a tree comes up, work is in flight, the tree goes down.
# Run by `./bootstrap demo`; on a terminal it waits for Enter before the shutdown.
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
printf '$ swansongd -c demo.ini --socket %s &\n' "$SWANSONG_SOCKET"
swansongd -c demo.ini --socket "$SWANSONG_SOCKET" >"$dir/log" 2>&1 </dev/null &
daemon=$!
tries=0
until [ -S "$SWANSONG_SOCKET" ]; do
	tries=$((tries + 1))
	if [ $tries -gt 100 ] || ! kill -0 "$daemon" 2>/dev/null; then
		cat "$dir/log"
		exit 1
	fi
	sleep 0.1
done

title "Services start in the order of their needs, each when the one before is ready"
show swansongctl --timeout 10s wait web --for ready
show swansongctl wait jobs/import --for ready

title "Somebody does work below web, under a guard"
printf '$ swansongctl guard web --why "nightly backup" -- sleep 4 &\n'
swansongctl guard web --why "nightly backup" -- sleep 4 &
sleep 1
show swansongctl tree
show swansongctl guards web
if [ -t 0 ]; then
	title "It is yours.  In another terminal:"
	# shellcheck disable=SC2016  # for the other shell
	printf 'export SWANSONG_SOCKET=%s PATH=%s:$PATH\nswansongctl status\n' \
		"$SWANSONG_SOCKET" "$top_builddir"
	printf '\nEnter shuts the tree down. '
	read -r _ || :
fi

title "The shutdown: everybody hears of it at once, and it waits for what is in flight"
show swansongctl shutdown --reason maintenance
status=0
wait "$daemon" || status=$?
daemon=
title "What was waited for, from the daemon's log"
sed -n '/root: shutting down/,$p' "$dir/log"
title "swansongd exited with $status"
exit $status
