# shellcheck shell=bash
# Shared by the stories of the converter, after lib.sh: expected results, and units that run.
confs=$(realpath "$top_srcdir/tests/integration/convert")
converters=$(realpath "$top_srcdir")/contrib/convert
export PYTHONDONTWRITEBYTECODE=1

# The result is that of the repository, with each of its notes on standard error; REWRITE=yes writes it anew.
is_golden() { # COMMAND INPUT GOLDEN: files and folders below $confs
	local command
	read -ra command <<<"$1"
	(cd "$confs" && "$converters/${command[0]}" "${command[@]:1}" -o "$dir/$3" "$2") 2>"$dir/$3.err"
	converted=$?
	ok "$2: the result is valid for swansongctl" ctl check "$dir/$3"
	sed -i "s|$confs/||g; s|= $confs\$|= /FOLDER|" "$dir/$3" "$dir/$3.err"
	[ -z "${REWRITE:-}" ] || cp "$dir/$3" "$confs/$3"
	is "$2: exit status 1, as some of it is not carried over" "$converted" 1
	ok "$2 is converted as in $3" diff -u "$confs/$3" "$dir/$3"
	sed -n 's/^; \([^ ]*:[0-9]*: \)\(not carried over\|note\):.*/\1\2/p' "$dir/$3" | sort -u >"$dir/noted"
	sed -n 's/^\([^ ]*:[0-9]*: \)\[[^]]*\] \(not carried over\|note\):.*/\1\2/p' "$dir/$3.err" | sort -u >"$dir/printed"
	ok "$2: each note is in the result and on standard error" diff "$dir/noted" "$dir/printed"
}

# Mutations of these files, the same ones each time as far as the time allows.
survives() { # READER FILE...
	local reader=$1
	shift
	ok "$reader: mutated files end with a result, or with lines for their mistakes" \
		timeout 60 python3 "$top_srcdir/tests/helpers/fuzz-convert.py" "$converters" "$reader" 8 1 "$@"
	tail -n 100 "$dir/ok.out" | sed 's/^/# /'
}

# --- Units that run ------------------------------------------------------------------------------

# $WORLD has the units, with that path in them, and what they write.
make_units() {
	local file
	export WORLD=$dir/world
	mkdir -p "$WORLD/sub" "$WORLD/units/service.d" "$WORLD/units/store.service.d"
	cp "$confs/tell" "$WORLD/tell"
	install -m 666 /dev/null "$WORLD/said"
	printf 'OWN=from the file\nFILE_WORDS="a  b"\n' >"$WORLD/lines.env"
	for file in "$confs"/systemd-run/*.{service,socket,target,timer} "$confs"/systemd-run/*.d/*; do
		sed "s|@WORLD@|$WORLD|g" "$file" >"$WORLD/units/${file#"$confs/systemd-run/"}"
	done
	cp "$confs/systemd-run/wanted" "$dir/wanted"
}

# All but the one that a connection starts.
units_started() {
	[ "$(grep -v '^tick:' "$WORLD/said" | grep -c ': started')" -ge $(($(grep -c ': started' "$dir/wanted") - 1)) ] &&
		grep -q '^tick: started' "$WORLD/said"
}

connect() { # starts one.service
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$WORLD/socket" &&
		wait_for 30 grep -q '^one: started' "$WORLD/said"
}

last_line() { # REGEX: the number of the last line of the output that matches
	grep -En -- "$1" "$WORLD/said" | tail -n 1 | cut -d: -f1
}

units_stopped_in_order() {
	local name last=0 n
	for name in front '(worker-01|worker-two|lines)' store; do
		n=$(last_line "^$name: stopped")
		[ "${n:-0}" -gt "$last" ] || { cat "$WORLD/said"; return 1; }
		last=$n
	done
}

compare_units() { # PROGRAM
	is "$1: the same processes, arguments, environment and signals" \
		"$(grep -v '^tick:' "$WORLD/said" | sort)" "$(sort "$dir/wanted")"
	is "$1: the output is in its file" "$(cat "$WORLD/writer.log")" "to its output
and its errors"
	ok "$1: the timer ran its service as it is" grep -Fxq \
		'tick: started <0> in <> umask 0022 <set once, for all> <>' "$WORLD/said"
	ok "$1: the order of the stop" units_stopped_in_order
}
