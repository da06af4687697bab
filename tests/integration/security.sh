#!/bin/bash
# swansongctl security: each limit makes a service less exposed, and so do the keys that it proposes.
. "${0%/*}/lib.sh"
requires_package python3 python3

rates() { # NODE JQ-PATH: of the configuration
	ctl security --config "$ini" --json | jq -r --arg node "$1" ".services[] | select(.node == \$node) | $2"
}
exposure() { rates "$1" .exposure; }
is_less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 < b + 0) }'; } # A B

# Each key alone, and all that have come so far.
keys=(
	'no-new-privileges = yes'
	'private-devices = yes'
	'private-users = yes'
	'protect = hostname'
	'protect = hostname namespaces'
	'protect = all ~clock ~suid'
	'protect = all'
	'address-families = ~packet'
	'address-families = unix inet'
	'private-tmp = yes'
	'hide-home = read-only'
	'hide-home = yes'
	'read-only-system = usr'
	'read-only-system = full'
	'read-only-system = yes'
	'system-calls = ~@mount @module'
	'system-calls = @system-service'
	'system-calls = @system-service ~@privileged'
	'capabilities = cap_chown cap_kill'
	'capabilities = none'
	'tcp-connect = none'
	'private-network = yes'
	'user = nobody'
)
{
	service bare
	service heard 'ready = notify'
	service main 'ready = notify' 'notify-access = main'
	for i in "${!keys[@]}"; do
		service "alone/k$i" "${keys[i]}"
		service "sum/k$i"
		# The last value of each key.
		printf '%s\n' "${keys[@]:0:i + 1}" | tac | awk -F ' = ' '!seen[$1]++'
	done
} | config
ctl security --config "$ini" --json >"$dir/all"
at() { jq -r --arg node "$1" '.services[] | select(.node == $node) | .exposure' "$dir/all"; } # NODE
bare=$(at bare)
ok "a service without limits is exposed" is_less 9 "$bare"
is "and that has a word" "$(jq -r '.services[] | select(.node == "bare") | .word' "$dir/all")" unsafe
is "less exposed where only the main process may notify" "$(at heard) $(at main)" "9.71 $bare"
before=$bare
for i in "${!keys[@]}"; do
	ok "less exposed with ${keys[i]}" is_less "$(at "alone/k$i")" "$bare"
	ok "and with what came before" is_less "$(at "sum/k$i")" "$before"
	before=$(at "sum/k$i")
done
ok "with all of them it is below 4" is_less "$before" 4
total=$(jq -r '.services[] | select(.node == "bare") | [.items[].exposure] | add' "$dir/all")
ok "the items are the whole" awk -v a="$total" -v b="$bare" 'BEGIN { exit !((a - b) ^ 2 < 0.1) }'

# The keys that are proposed have the effect that is printed.
service bare | config
rates bare '.keys[] | "\(.key) = \(.value)"' | sed 's/NAME/daemon/' >"$dir/proposed"
is "it names three keys" "$(wc -l <"$dir/proposed")" 3
less=$(rates bare '[.keys[].less] | add')
{ service bare && cat "$dir/proposed"; } | config
ok "which take off as much as printed" awk -v a="$bare" -v b="$(exposure bare)" -v less="$less" \
	'BEGIN { exit !((a - b - less) ^ 2 < 0.1) }'
not_again() { ! rates bare '.keys[].key' | grep -v system-calls | grep -Fxf - <(sed 's/ = .*//' "$dir/proposed"); }
ok "and it names them no more" not_again

# The text, and a daemon.
{ service web 'private-tmp = yes' && service group/db && service group/other; } | config
start_daemon
like "a table" "$(ctl security)" 'web +[0-9.]+ +[a-z]+ +[a-z-]+ = '
is "of the services in a node" "$(ctl security group | grep -c group/)" 2
like "with the items of one" "$(ctl security web)" '0\.[0-9]  the network'
ctl security none >"$dir/none" 2>&1
is "a node without services is an error" "$?" 1
like "the node is named" "$(<"$dir/none")" 'no service in none'

# The groups of system calls are those of systemd.
if command -v systemd-analyze >/dev/null; then
	systemd-analyze syscall-filter 2>/dev/null | sed -n 's/^@/&/p' | grep -v -x '@known' | sort >"$dir/theirs"
	sed -n 's/^\(@[^ ]*\) .*/\1/p' "$top_srcdir/src/sandbox/system-call-groups" | sort >"$dir/ours"
	is "each group of systemd is known" "$(comm -23 "$dir/theirs" "$dir/ours" | grep -vx @sandbox)" ""
fi
finish
