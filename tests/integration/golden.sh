#!/bin/bash
# Each later version reads what version 1 has written, and has what it had: the promises of swansong-stability(7).
# compare.py finds what is lost; each of its kinds is tried with a loss first.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"
requires_package python3 python3

golden=$top_srcdir/tests/golden
compare() { python3 "$golden/compare.py" "$@"; } # KIND OLD NEW
changed() { # KIND FILE SED: a change that loses something
	sed "$3" "$2" >"$dir/changed"
	! cmp -s "$2" "$dir/changed" && ! compare "$1" "$2" "$dir/changed" >/dev/null
}
describe() { # the interface, as the daemon describes it
	python3 -c '
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(10)
s.connect(sys.argv[1])
call = {"method": "org.varlink.service.GetInterfaceDescription", "parameters": {"interface": "io.swansong"}}
s.sendall(json.dumps(call).encode() + b"\0")
s.shutdown(socket.SHUT_WR)
reply = b"".join(iter(lambda: s.recv(65536), b"")).rstrip(b"\0")
print(json.loads(reply)["parameters"]["description"])
' "$socket"
}
settings() { # FILE: NODE KEY VALUE of each setting, also those that are defaults
	ctl show --all --json --config "$1" / data data/store web web/server web/front web/worker@1 tick 2>/dev/null |
		jq -r '.nodes[] | (if .node == "" then "/" else .node end) as $node |
			.settings[] | "\($node) \(.key) \(.value // "")"'
}
commands() { # COMMAND --OPTION of each
	local verb
	for verb in $(ctl --help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
		echo "$verb"
		ctl "$verb" --help | sed -n "/^options:/,\$s/^ .*\(--[a-z-]*\).*/$verb \1/p"
	done
}
metrics() { # the name and type of each, and the names of its labels
	get /metrics | sed -n 's/^# TYPE //p; s/=\"[^\"]*\"//g; s/^\(swansong_[a-z_]*{[a-z_,]*}\) .*/\1/p' | sort -u
}

first=$golden/1
ok "a method that is gone is found" changed interface "$first/interface.varlink" '/^method Stop/d'
ok "and a member of a type" changed interface "$first/interface.varlink" '/restarts: int/d'
ok "and a member that is not always there any more" \
	changed interface "$first/interface.varlink" 's/restarts: int/restarts: ?int/'
ok "and a state" changed interface "$first/interface.varlink" 's/, failed, listening/, failed/'
ok "and a new parameter that a client must send" \
	changed interface "$first/interface.varlink" 's/^method Stop(/method Stop(speed: int, /'
ok "and one that it may not leave out any more" \
	changed interface "$first/interface.varlink" 's/^method Stop(node: string, wait: ?/method Stop(node: string, wait: /'
ok "a new one that it may leave out is no loss" \
	not changed interface "$first/interface.varlink" 's/^method Stop(/method Stop(speed: ?int, /'
ok "a lost member of a document is found" changed json "$first/blame.json" 's/"forced":true,//'
ok "and another value" changed json "$first/history.json" 's/"ends":2/"ends":3/'
ok "and a lost line" changed lines "$first/commands" '/^stop$/d'

config <<-END
[swansong]
state = $dir/state
exit-when = never
log = file:$dir/lines
log-format = json
[web/on]
command = sh -c 'echo hello; exec $helpers/idle'
[web/off]
command = $helpers/idle
END
cp "$first/state" "$dir/state"
start_daemon
ok "a service starts" wait_for 10 has_state web/on up
start_exporter
for version in "$golden"/[0-9]*; do
	name="version ${version##*/}"
	# The clone may belong to a user.
	cp "$version/every-key.ini" "$dir/"
	settings "$dir/every-key.ini" >"$dir/settings"
	is "$name: each key has its value, or its default" \
		"$(compare lines "$version/every-key.settings" "$dir/settings")" ""
	commands >"$dir/commands"
	is "$name: each command has its options" "$(compare lines "$version/commands" "$dir/commands")" ""
	metrics >"$dir/metrics"
	is "$name: the metrics are there" "$(compare lines "$version/metrics" "$dir/metrics")" ""
	describe >"$dir/interface"
	is "$name: the interface has all that it had" \
		"$(compare interface "$version/interface.varlink" "$dir/interface")" ""
	ctl blame --report "$version/report.json" --json >"$dir/blame"
	is "$name: its report is read" "$(compare json "$version/blame.json" "$dir/blame")" ""
	ctl history --history "$version/history" --json >"$dir/history.read"
	is "$name: its history is read" "$(compare json "$version/history.json" "$dir/history.read")" ""
	ctl availability --history "$version/ledger" --json >"$dir/availability"
	is "$name: and its ledger" "$(compare json "$version/availability.json" "$dir/availability")" ""
	ok "$name: a line of log-format = json has the members that it had" wait_for 10 \
		jq -se '(.[0] | keys) - (.[1] | keys) == []' "$version/log" "$dir/lines"
done
keys() { sed -n 's/^KEY([A-Z_0-9]*, "\([a-z0-9-]*\)".*/\1/p' "$top_srcdir/src/model/base/table.h" | sort -u; }
is "each key of now is in the newest version" \
	"$(comm -23 <(keys) <(sed -n 's/^\([a-z0-9-]*\) = .*/\1/p' "$version/every-key.ini" | sort -u))" ""
is "the state file of version 1 is read: a disabled service stays so" "$(field web/off .service.disabled)" true
ok "and is down" has_state web/off down
stop_daemon
finish
