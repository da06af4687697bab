#!/bin/bash
# A reload that is not confirmed goes back by itself, whichever edit it was: services that it does not touch
# keep their processes.  Former configurations are kept, and can be taken again.
. "${0%/*}/lib.sh"

# Eight services, of which each edit touches some: web requires db, the others stand alone.
section() { # NAME MARK
	printf '[%s]\ncommand = %s/idle\nenvironment = MARK=%s\n' "$1" "$helpers" "$2"
	test "$1" = web && echo "requires = db"
}
tree() { # MARK OF EACH NAME, OR NONE
	local name
	printf '[swansong]\nstate = %s/state\n' "$dir"
	for name in db web one two three four five six; do
		test "${marks[$name]}" = none || section "$name" "${marks[$name]}"
	done
}
declare -A marks
reset_marks() { local name; for name in db web one two three four five six; do marks[$name]=first; done; }

# The settings and processes of all services: "web 123 MARK=first".
snapshot() {
	"$swansongctl" status --json | jq -r '.nodes[] | select(.service) | "\(.path) \(.service.pid) \(.service.state)"' | sort
}
settings() { "$swansongctl" show / db web one two three four five six --json | jq -S 'walk(if type == "object" then del(.line) else . end)'; }
rollout_state() { "$swansongctl" status --json | jq -r .rollout.state; }
is_rollout() { test "$(rollout_state)" = "$1"; }

reset_marks
tree | config
start_daemon
ok "the tree is ready" ctl wait --for ready --timeout 60s

# --- Without a confirmation ---

before=$(snapshot)
known=$(settings)
marks[db]=second
tree | config
ok "a reload that must be confirmed" ctl reload --confirm 2s
ok "takes effect" wait_for 10 is_up_anew web "$(awk '$1 == "web" { print $2 }' <<<"$before")"
like "the status shows it" "$(ctl status)" 'reload: goes back in .*, unless swansongctl confirm comes'
ctl reload >"$dir/out" 2>&1
is "another reload is refused meanwhile" "$?" 1
ok "it goes back" wait_for 20 is_rollout undone
ok "to a tree that is ready" ctl wait --for ready --timeout 60s
is "with the former settings" "$(settings)" "$known"
is "and the processes of the services that it did not touch" \
	"$(snapshot | grep -v '^db\|^web')" "$(grep -v '^db\|^web' <<<"$before")"
like "the log has it" "$(cat "$log")" 'reload: undoing: not confirmed in time'

# --- With one ---

ok "once more" ctl reload --confirm 60s
ok "it is confirmed" ctl confirm
ok "and stays" is_rollout 'done'
ctl confirm 2>"$dir/out"
is "there is nothing left to confirm" "$?" 1
like "with the reason" "$(cat "$dir/out")" "no change to confirm"

# --- Over a fault of the daemon ---

ok "the tree is ready" ctl wait --for ready --timeout 60s
known=$(settings)
marks[one]=third
tree | config
ok "a reload that must be confirmed" ctl reload --confirm 3s
kill -SEGV "$daemon"
ok "goes back after a fault of the daemon" wait_for 20 is_rollout undone
is "with the former settings" "$(settings)" "$known"
marks[one]=first

# --- In the middle of a reload ---

# The daemon has a fault at the end of its next system call of these kinds, without the client if that is all.
traced() { ! says "/proc/$daemon/status" '^TracerPid:[[:space:]]0$'; }
reload_with_fault_at() { # CALLS [OPTION...]: of the reload, after OPTION of strace up to --
	local calls=$1 filter=()
	shift
	while [ "$1" != -- ]; do filter+=("$1") && shift; done
	shift
	: >"$log"
	strace -qq -o /dev/null -p "$daemon" "${filter[@]}" -e trace="$calls" -e "inject=$calls:signal=SEGV:when=1" \
		2>"$dir/strace" &
	tracer=$!
	cleanup_fn end_process "$tracer"
	wait_for 10 traced || skip_all "machine: refuses ptrace ($(tail -n 1 "$dir/strace"))"
	ctl reload "$@" >"$dir/out" 2>&1
	wait_for 10 has_faults 1 || die "the fault is reported"
	kill -TERM "$tracer"
	wait_for 10 ctl_answers || die "the daemon answers"
}
mark_of() { tr '\0' '\n' <"/proc/$(pid_of "$1")/environ" | sed -n s/^MARK=//p; } # NAME

ok "the tree is ready" ctl wait --for ready --timeout 60s
if command -v strace >/dev/null; then
	known=$(settings)
	marks[one]=fifth marks[two]=fifth
	tree | config
	reload_with_fault_at kill,pidfd_send_signal -- --confirm 3s
	ok "a fault at the first stop: it goes back" wait_for 20 is_rollout undone
	is "to the former settings" "$(settings)" "$known"
	ok "the tree is ready" ctl wait --for ready --timeout 60s
	reload_with_fault_at write -P "$log" --
	ok "a fault before all stops are begun: another reload" ctl reload
	ok "leads to a tree that is ready" ctl wait --for ready --timeout 60s
	is "of which each service has its new settings" "$(mark_of one) $(mark_of two)" "fifth fifth"
	marks[one]=first marks[two]=first
	tree | config
	ctl reload >/dev/null
else
	skip "a reload has a fault" "package strace"
fi

# --- Edits at random ---

bad_edit() { # draws what is edited: services that change, that cannot run, that come and go
	local name
	reset_marks
	marks[db]=second
	for name in db web one two three four five six; do
		case $((RANDOM % 6)) in
		0) marks[$name]=edit$RANDOM ;;
		1) test "$name" = db || marks[$name]=none ;;
		esac
	done
	tree
	case $((RANDOM % 4)) in
	0) printf '[bad]\ncommand = /nonexistent/program\n' ;;
	1) printf '[more]\ncommand = bash -c "exit 3"\nrestart-delay = 50ms\n' ;;
	2) printf '[deaf]\ncommand = %s/idle\nready = notify\nrequires = db\n' "$helpers" ;;
	esac
}
# The names of services that the edit changes, also because they require one that it changes.
touched() { ctl reload --dry-run --json 2>/dev/null | jq -r '.changes[]?.node'; }
RANDOM=${SEED:-$$}
marks[db]=second
edits=${EDITS:-10} good=0
ctl wait --for ready --timeout 60s >/dev/null
before=$(snapshot)
known=$(settings)
ini_before=$(tree)
for ((i = 0; i < edits; i++)); do
	bad_edit | config
	changed=$(touched)
	ctl reload --confirm 300ms >"$dir/out" 2>&1
	wait_for 20 is_rollout undone || continue
	ctl wait --for ready --timeout 20s >/dev/null
	after=$(snapshot)
	test "$(settings)" = "$known" || { echo "# edit $i: other settings"; continue; }
	test "$(awk '{ print $1, $3 }' <<<"$after")" = "$(awk '{ print $1, $3 }' <<<"$before")" ||
		{ echo "# edit $i: other states"; diff <(cat <<<"$before") <(cat <<<"$after") | sed 's/^/# /'; continue; }
	same=$(grep -vwFf <(printf '%s\n' "${changed:-none}") <<<"$before")
	test "$(grep -vwFf <(printf '%s\n' "${changed:-none}") <<<"$after")" = "$same" ||
		{ echo "# edit $i: other processes"; continue; }
	ctl health >/dev/null || { echo "# edit $i: not healthy"; continue; }
	good=$((good + 1)) before=$after
done
is "after each of $edits bad edits all is as it was" "$good" "$edits"

# --- Former configurations ---

cat <<<"$ini_before" | config
marks[one]=fourth
tree | config
ok "a reload" ctl reload
ok "the tree is ready" ctl wait --for ready --timeout 60s
like "the configurations have numbers and causes" "$(ctl changes)" '[0-9]+ +20.*asked by pid'
present=$(ctl changes --json | jq '.configurations[-1].number')
is "ten are kept" "$(ctl changes --json | jq '.configurations | length')" 10
like "a dry run is a difference" "$(ctl reload --dry-run --to $((present - 1)))" 'change +one +environment'
ok "a reload to a number" ctl reload --to $((present - 1))
ok "the tree is ready" ctl wait --for ready --timeout 60s
is "has its settings" "$(ctl show one --json | jq -r '.nodes[0].settings[] | select(.key == "environment") | .value')" MARK=first
is "the file is for its user alone" "$(stat -c %a "$dir/state.changes")" 600
ctl reload --to 1 2>"$dir/out"
is "an unknown number is refused" "$?" 1
present=$(ctl changes --json | jq -c '.configurations | map(.number)')
file_has() { grep -aq "$1 [0-9]* 1 [0-9]* asked by" "$dir/state.changes"; }
ok "all are on the disk" wait_for 10 file_has "$(jq '.[-1]' <<<"$present")"
stop_daemon
is "all ends well" "$status" 0
start_daemon
ok "another daemon" ctl wait --for ready --timeout 60s
like "has them, too" "$(ctl changes --json | jq -c '.configurations | map(.number)')" "$(jq -r '.[1:] | join(",")' <<<"$present")"
stop_daemon
is "all ends well" "$status" 0
finish
