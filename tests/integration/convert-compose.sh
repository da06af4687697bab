#!/bin/bash
# compose2swansong: each key of a service becomes a key, or is named with its reason; the part of YAML that it reads
# is read as others do, and the rest is refused; and swansongd behaves as a compose file asks.
. "${0%/*}/lib.sh"
. "${0%/*}/convert-lib.sh"
requires_package python3 python3
convert=$converters/compose2swansong

is_golden compose2swansong compose/shop.yaml compose.ini

"$convert" -o "$dir/bad.ini" "$confs/compose/bad.yaml" 2>"$dir/bad.err"
is "bad.yaml: exit status 2" $? 2
ok "bad.yaml: nothing is written" not test -e "$dir/bad.ini"
is "bad.yaml: all mistakes are reported" "$(grep -v ' note: ' "$dir/bad.err" | grep -oE 'yaml:[0-9]+' | cut -d: -f2 |
	sort -n | xargs)" "3 7 9 12 13 16 19 21"

# --- YAML ------------------------------------------------------------------------------------------

yaml() { # LINE-OF-ERROR LINE...: is refused there, in one line
	local line=$1
	shift
	printf '%b\n' "$@" >"$dir/refused.yaml"
	"$convert" -o "$dir/refused.ini" "$dir/refused.yaml" 2>"$dir/refused.err"
	is "refused: $*" "$? $(grep -oE '^.*refused.yaml:[0-9]+: ' "$dir/refused.err")" "2 $dir/refused.yaml:$line: "
}
yaml 1 ''
yaml 1 'text'
yaml 1 '[services]'
yaml 1 'services:'
yaml 2 'services:' '\ta: b'
yaml 3 'services:' '  a: {command: x}' '  a: {command: y}'
yaml 2 'services:' '  a: !reset {command: x}'
yaml 2 'services:' '  ? a' '  : b'
yaml 3 'services:' '  a:' '    command: *missing'
yaml 2 'services:' '  a: &a [*a]'
yaml 3 'services:' '  a: {command: x}' '---' 'services:'
yaml 3 'services:' '  a: {command: x' '  b: y'
yaml 2 'services:' '  a: {command: "x}' '---'
yaml 3 'services:' '  a:' '    command: "\\q"'
yaml 3 'services:' '  a:' '    command: a: b'
yaml 4 'services:' '  a:' '    command: x' '   y: z'
yaml 3 'services:' '  a:' '    command: @x'
yaml 3 'services:' '  a:' '    <<: text'
yaml 2 'services:' "  a: $(printf '[%.0s' {1..60})"
yaml 1 'include: [x.yaml]'
# shellcheck disable=SC2016 # for compose
yaml 3 'services:' '  a:' '    command: ${A'
# shellcheck disable=SC2016
yaml 3 'services:' '  a:' '    command: $(A)'
yaml 3 'services:' '  a:' '    depends_on: [a]' '    command: x'
# Anchors that name each other are one value, however often they are named.
{
	echo 'x-0: &x0 [a, a]'
	for i in {1..30}; do echo "x-$i: &x$i [*x$((i - 1)), *x$((i - 1))]"; done
	printf 'services:\n  a:\n    command: *x30\n'
} >"$dir/bomb.yaml"
"$convert" "$dir/bomb.yaml" >"$dir/bomb" 2>&1
is "anchors that name others many times are refused" "$? $(grep -c 'bomb.yaml:[0-9]*: command is not a text' "$dir/bomb")" "2 1"

if python3 -c 'import yaml' 2>"$dir/yaml"; then
	ok "values are those of another reader of YAML" timeout 60 python3 "$top_srcdir/tests/helpers/compare-yaml.py" \
		"$converters" 8 1 "$confs/compose/shop.yaml" "$confs/compose/run.yaml" "$top_srcdir/contrib/container/compose.yaml"
	tail -n 20 "$dir/ok.out" | sed 's/^/# /'
else
	skip "values are those of another reader of YAML" "package python3-yaml"
fi

survives compose "$confs/compose/shop.yaml" "$confs/compose/run.yaml" "$top_srcdir/contrib/container/compose.yaml"

# --- The same behaviour --------------------------------------------------------------------------

wanted=$(
	cat <<-'END'
	broken: started in <> umask 0022 <set once, for all> <>
	broken: stopped by TERM
	crash: started <3> in <> umask 0022 <set once, for all> <>
	crash: started <3> in <> umask 0022 <set once, for all> <>
	crash: started <3> in <> umask 0022 <set once, for all> <>
	front: started in <> umask 0022 <set once, for all> <from the file>
	front: stopped by INT
	hook: started <0> in <> umask 0022 <set once, for all> <>
	leave: started <0> in <> umask 0022 <set once, for all> <from the file>
	setup: started <0> in <> umask 0022 <set once, for all> <>
	store: started <two  blanks> <a;b> <100%> <$HOME> <it's> <> <*> in <> umask 0022 <set once, for all> <>
	store: stopped by TERM
	worker: started <of> <nothing> in <> umask 0022 <set once, for all> <x=1; \o/ %n>
	worker: started <of> <nothing> in <> umask 0022 <set once, for all> <x=1; \o/ %n>
	worker: stopped by USR1
	worker: stopped by USR1
	END
)
WORLD=$dir/world
mkdir "$WORLD"
export WORLD
cp "$confs/tell" "$WORLD/tell"
: >"$WORLD/said"
echo 'OWN=from the file' >"$WORLD/front.env"
umask 022
"$convert" -o "$ini" "$confs/compose/run.yaml" 2>"$dir/run.err"
is "run.yaml: all of it is carried over" "$? $(grep -c 'not carried over' "$dir/run.err")" "0 0"
has_line() { grep -q -- "$1" "$WORLD/said"; }
start_daemon
ok "the one that others wait for has started" wait_for 30 has_line '^store: started'
ok "the one that crashes is given up" wait_for 60 has_state crash failed
ok "and so is the one that is not healthy" wait_for 60 has_state broken failed
ok "nothing starts before it is healthy" not has_line '^\(setup\|worker\|front\|never\)'
touch "$WORLD/store.ready"
ok "then all of them start" wait_for 60 has_line '^front: started'
is "a service of a profile does not" "$(state spare)" down
stop_daemon 60
is "the same processes, arguments, environment and signals" "$(sort "$WORLD/said")" "$wanted"
is "services that depend on others are stopped before them" \
	"$(grep -oE '^(leave: started|(front|worker|store): stopped)' "$WORLD/said" | xargs)" \
	"leave: started front: stopped worker: stopped worker: stopped store: stopped"
finish
