#!/bin/bash
# The examples of the manual work as they are printed: the configuration that opens swansong.ini(5) runs with
# nginx and redis, each command line of each page is executed beside it, and each configuration is valid.
. "${0%/*}/lib.sh"
own_program
requires_root
requires_package nginx nginx-light
requires_package redis-server redis-server
man=$top_srcdir/man

# The folders that the examples name, without a trace on the machine.
for folder in /usr/local/bin /var/log/nginx /var/lib; do
	mount -t tmpfs tmpfs "$folder" || skip_all "machine: cannot mount on $folder"
done
mkdir -p /var/lib/swansong /var/lib/nginx "$dir/etc/supervisor" "$dir/etc/swansong" "$dir/examples"
printf '#!/bin/sh\nexec sleep infinity\n' >/usr/local/bin/worker
printf '#!/bin/sh\n' | tee /usr/local/bin/backup /usr/local/bin/ship >"$dir/examples/run-tests"
chmod 755 /usr/local/bin/* "$dir/examples/run-tests"
PATH=$(realpath "$top_builddir"):$(realpath "$top_srcdir")/contrib/convert:$PATH
export XDG_RUNTIME_DIR=/run
printf '[program:app]\ncommand=/usr/local/bin/worker\n' >"$dir/etc/supervisor/supervisord.conf"
mkdir -p "$dir/etc/systemd/system"
printf '[Service]\nExecStart=/usr/local/bin/worker\n' >"$dir/etc/systemd/system/app.service"
printf '[Socket]\nListenStream=8090\n' >"$dir/etc/systemd/system/app.socket"
printf 'services:\n  app:\n    command: worker\n' >"$dir/examples/compose.yaml"
unset SWANSONG_SOCKET
socket=/run/swansong/control.sock
: "$socket" # for lib.sh
ini=$dir/etc/swansong/swansong.ini

# The text of a page, without the escapes of roff.
plain() { # PAGE
	sed 's/\\-/-/g; s/\\(dq/"/g; s/\\e/\\/g; s/\\&//g' "$man/$1"
}

# The blocks of a page, each a file in $dir/blocks.
blocks() { # PAGE
	rm -rf "$dir/blocks"
	mkdir "$dir/blocks"
	plain "$1" | awk -v dir="$dir/blocks" '
		/^\.Bd -literal/ { file = dir "/" ++n; next }
		/^\.Ed/ { file = "" }
		file != "" { print >file }'
}

# The command lines of a page, those of a block as one script: each ends in a NUL.
scripts() { # PAGE
	plain "$1" | awk '
		sub(/^\.Dl \$ /, "") { printf "%s%c", $0, 0 }
		/^\.Bd -literal/ { in_block = 1 }
		/^\.Ed/ { if (script != "") printf "%s%c", script, 0; in_block = 0; script = "" }
		in_block && sub(/^\$ /, "") { script = script (script == "" ? "" : "\n") $0 }'
}

start_tree() {
	start_daemon
	ctl wait --for ready --timeout 60s || die "the tree of the example is ready"
}

# --- The configuration that opens swansong.ini(5) --------------------------------------------------

blocks swansong.ini.5.in
cp "$dir/blocks/1" "$ini"
start_tree
is "the example of swansong.ini(5) runs" "$(ctl list)" "/
data
data/redis
web
web/worker
web/nginx"
is "the web server answers" "$(curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1/)" 200
stop_daemon 60
is "it is stopped by its signals alone" "$status" 0
ok "in the reverse order" in_order 'web/nginx: .*SIGQUIT' 'web/worker: .*SIGTERM' 'data/redis: .*SIGTERM'

printf '[web/nginx]\ncommand = nginx\nstop-timout = 10s\n' >"$dir/swansong.ini"
is "an error has the form that the page shows" "$(cd "$dir" && swansongctl check swansong.ini 2>&1)" \
	"$(plain swansong.ini.5.in | grep '^swansong.ini:[0-9]')"

# --- The other configurations ----------------------------------------------------------------------

for page in "$man"/*.[1578]*; do
	page=${page##*/}
	[ "$page" != swansong-migration.7 ] || continue # has those of others, too: tests/lint/migration.sh
	blocks "$page"
	for block in "$dir/blocks"/*; do
		[[ -e $block && $(head -c 1 "$block") == "[" ]] || continue
		cp "$block" "$dir/block.ini"
		ok "$page: $(grep -m 1 '^\[' "$block") is valid" swansongctl check "$dir/block.ini"
	done
done

# --- The command lines -----------------------------------------------------------------------------

# Ends by itself, or with the tree.
worker_runs() { pgrep -x sleep -P "$(pgrep -P "$1")" >/dev/null; } # PID: of the shell
# A shutdown that is under way, and waits for a guard.
changes_shutdown() { [[ $1 =~ shutdown\ --(extend|hold|release) ]]; } # SCRIPT
begin_shutdown() { # SCRIPT
	"$swansongctl" guard data/redis -- sleep 60 >/dev/null 2>&1 &
	wait_for 10 has_leases data/redis 1
	ctl shutdown --no-wait >/dev/null
	[[ $1 != *--release* ]] || ctl shutdown --hold >/dev/null
}

runs() { # SCRIPT
	local script=${1//\/etc\//$dir/etc/} pid
	! changes_shutdown "$script" || begin_shutdown "$script"
	# shellcheck disable=SC2016  # for the shell within
	(cd "$dir/examples" && exec bash -e -o pipefail -c 'trap "kill \$(jobs -p) 2>/dev/null || :" EXIT; '"$script") \
		>"$dir/output" 2>&1 </dev/null &
	pid=$!
	case $script in
	*"swansongctl events --json"* | *"swansongctl interrupt"* | *"logs -f"*)
		wait_for 10 not has_connections 0
		stop_daemon 60
		;;
	"swansong-init -r"*)
		wait_for 10 worker_runs "$pid"
		kill -TERM "$(pgrep -P "$pid")"
		;;
	esac
	wait_for 60 is_zombie_or_gone "$pid" || kill "$pid"
	wait "$pid"
	local result=$?
	! changes_shutdown "$script" || ctl shutdown --force >/dev/null 2>&1
	[[ $script != *"swansongctl shutdown"* ]] || await_daemon 60
	cat "$dir/output"
	return "$result"
}

printf '[web]\ncommand = sleep infinity\n' >"$dir/examples/web.ini"
printf '[web/worker@]\ninstances = 1\ncommand = sleep infinity\n' >>"$ini"
gone "$daemon" || ok "a template is added" ctl reload
for page in "$man"/*.[1578]*; do
	page=${page##*/}
	while IFS= read -r -d '' script; do
		if [[ $script == varlinkctl* ]] && ! command -v varlinkctl >/dev/null; then
			skip "$page: $script" "machine: no varlinkctl, which systemd 255 has"
			continue
		fi
		cp "$ini" "$dir/examples/new.ini"
		! gone "$daemon" || start_tree
		ok "$page: ${script%%$'\n'*}" runs "$script"
	done < <(scripts "$page")
done

# --- In a container --------------------------------------------------------------------------------

answers() { curl -s -o "$dir/answer" http://127.0.0.1/; }

gone "$daemon" || stop_daemon 60
for page in swansongd.8 swansong-init.1; do
	blocks "$page"
	block=$(grep -l '^ENTRYPOINT' "$dir/blocks"/*)
	mapfile -t words < <(sed 's/^[A-Z]* //' "$block" | jq -r '.[]')
	launch "${words[@]}"
	ok "$page: ${words[*]}" wait_for 10 answers
	stop_daemon
	is "it ends by SIGTERM" "$status" 0
done
finish
