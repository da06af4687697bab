#!/bin/bash
# 'swansongctl check' and the daemon judge the same of paths on which another user has put something: of a log, and of
# a file that root reads for a service.
. "${0%/*}/lib.sh"
requires_root

# Each path is in a place of its own, where "his" is a directory of a user, "team" one of a group, "tmp" one of
# every user, and "ours" one of root's.
n=0
paths=() made=()
hostile() { # SHELL PATH
	n=$((n + 1))
	mkdir -p "$dir/$n/his" "$dir/$n/ours/deep" "$dir/$n/team" "$dir/$n/tmp" "$dir/$n/open"
	chown nobody "$dir/$n/his"
	chgrp adm "$dir/$n/team"
	chmod 775 "$dir/$n/team"
	chmod 1777 "$dir/$n/tmp"
	chmod 777 "$dir/$n/open"
	(cd "$dir/$n" && eval "$1")
	made+=("$1")
	paths+=("$dir/$n/$2")
}
as_nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }

# The directory of a user.
hostile : his/log
hostile : his/a/b/log
hostile 'as_nobody mkdir his/a' his/a/log
hostile 'as_nobody touch his/log' his/log
hostile 'as_nobody ln -s ../ours his/a' his/a/log
hostile 'as_nobody ln -s ../ours his/a' his/a/b/log
hostile 'as_nobody ln -s ../ours/log his/log' his/log
hostile 'echo >ours/log; as_nobody ln -s ../ours/log his/log' his/log
hostile 'echo >ours/log; ln ours/log his/log' his/log
hostile 'as_nobody ln -s missing his/log' his/log
hostile 'as_nobody ln -s missing his/a' his/a/log
hostile 'as_nobody ln -s . his/a' his/a/log
hostile 'as_nobody ln -s a his/a' his/a/log
hostile 'as_nobody ln -s a his/a' his/a
hostile 'as_nobody ln -s /proc/self/root his/a' his/a/log
hostile 'as_nobody ln -s /dev/full his/log' his/log
hostile 'as_nobody mkfifo his/log' his/log
hostile 'as_nobody mkdir his/log' his/log
hostile 'as_nobody touch his/a' his/a/log
hostile 'as_nobody mkdir his/a' his/a/../log
hostile 'mkdir his/a' his/a/log
hostile 'mkdir his/a; ln -s ../../ours his/a/b' his/a/b/log
hostile 'as_nobody mkdir -p his/a/b; as_nobody ln -s ../../../ours his/a/b/c' his/a/b/c/log
hostile 'ln -s his link' link/log
hostile 'as_nobody ln -s ../ours his/a; ln -s his/a link' link/log
# A directory of a group.
hostile : team/log
hostile 'touch team/log; chown nobody team/log' team/log
hostile 'ln -s ../ours team/a' team/a/log
hostile 'ln -s ../ours/log team/log' team/log
hostile 'echo >ours/log; ln ours/log team/log' team/log
hostile 'mkdir team/a; ln -s ../../ours team/a/b' team/a/b/log
# A directory of every user, with the sticky bit and without.
hostile : tmp/log
hostile : tmp/a/log
hostile 'mkdir tmp/a; ln -s ../../ours tmp/a/b' tmp/a/b/log
hostile 'as_nobody ln -s ../ours tmp/a' tmp/a/log
hostile 'as_nobody ln -s ../ours/log tmp/log' tmp/log
hostile 'as_nobody touch tmp/log' tmp/log
hostile 'as_nobody mkdir tmp/a' tmp/a/log
hostile 'as_nobody mkdir tmp/a; as_nobody ln -s ../../ours tmp/a/b' tmp/a/b/log
hostile 'mkdir open/a; ln -s ../../ours open/a/b' open/a/b/log
hostile 'as_nobody touch open/log' open/log
# A directory of root's.
hostile 'ln -s ours link' link/log
hostile 'ln -s ours/log log' log
hostile 'echo >ours/log; ln ours/log log' log
hostile 'mkfifo log' log
hostile 'ln -s /dev/null log' log
hostile 'ln -s log log' log
hostile 'mkdir log' log
# A link of a process.
hostile 'ln -s /proc/1/cwd link' link/log

# The same paths again to be read, as nothing may be made there meanwhile.
mkdir "$dir/read"
cp -a "$dir"/[0-9]* "$dir/read"
for i in "${!paths[@]}"; do
	read_path=$dir/read/${paths[i]#"$dir/"}
	printf '[n%03d]\ncommand = %s/idle\nlog = file:%s\n' "$i" "$helpers" "${paths[i]}"
	printf '[c%03d]\ncommand = %s/idle\ncredential = it:%s\n' "$i" "$helpers" "$read_path"
	printf '[i%03d]\ncommand = %s/idle\nstdin = file:%s\n' "$i" "$helpers" "$read_path"
done | config

# The section, and the reason without the directory, which only check names.
judged() { # FILE REGEX
	sed -nE "s/$2/\1 \2/p" "$1" | sed -E 's/: (user|group|every user) .*//' | sort -u
}
"$swansongctl" check "$ini" >"$dir/check" 2>&1
judged "$dir/check" ".*\[(n[0-9]+)\] log: .* cannot be a log file: (.*)" >"$dir/by-check"
made_nothing() { [ -z "$(find "$dir" -name log -newer "$ini" -type f)" ]; }
ok "check makes nothing" made_nothing
start_daemon
n_reported() { judged "$log" ".* (n[0-9]+): log: cannot write [^:]*: (.*)" | wc -l; }
n_logs() { find "$dir"/[0-9]*/ -type f -name log -newer "$ini" | wc -l; }
all_are_up() { [ "$(ctl status --json | jq '[.nodes[] | select(.service.state == "up" and (.path | startswith("n")))] | length')" = "$n" ]; }
ok "a service runs, whatever its log is" wait_for 30 all_are_up
are_judged() { [ "$(n_reported)" = "$(wc -l <"$dir/by-check")" ]; }
wait_for 30 are_judged
# A file that is missing may come until the start, so check does not report it.
reading='(.*(cannot start: (copy it:|open )[^:]*|cannot be read): .*)'
read_by_daemon() { sed -nE "s/.* ([ci][0-9]{3}): $reading/\1 \2/p" "$log" | grep -v 'No such file' | cut -d' ' -f1 | sort -u; }
sed -nE "s/.*\[([ci][0-9]{3})\] $reading/\1/p" "$dir/check" | sort -u >"$dir/read-by-check"
read_alike() { [ "$(read_by_daemon)" = "$(cat "$dir/read-by-check")" ]; }
wait_for 30 read_alike
is "check refuses the files to be read that the daemon does" "$(cat "$dir/read-by-check")" "$(read_by_daemon)"
stop_daemon 60
judged "$log" ".* (n[0-9]+): log: cannot write [^:]*: (.*)" >"$dir/by-daemon"

ok "there are forty paths and more" test "$n" -ge 40
is "of which so many are refused" "$(wc -l <"$dir/by-daemon")" 34
is "of those to be read likewise" "$(grep -c c "$dir/read-by-check") $(grep -c i "$dir/read-by-check")" "34 31"
for i in "${!paths[@]}"; do
	node=$(printf 'n%03d' "$i")
	is "${made[i]}: ${paths[i]#"$dir"/*/}" "$(grep "^$node " "$dir/by-daemon")" \
		"$(grep "^$node " "$dir/by-check")"
done
is "nothing was written in a place of root's that is behind a link of others" \
	"$(find "$dir"/[0-9]*/ours -name log -size +1)" ""
# The variables are read with the configuration, so each of them that is refused is in one attempt.
for i in "${!paths[@]}"; do
	printf '[e%03d]\ncommand = %s/idle\nenvironment-file = -%s\n' "$i" "$helpers" "$dir/read/${paths[i]#"$dir/"}"
done | config
variables() { sed -nE "s|.*$dir/read/([0-9]*)/.*: cannot be opened: (.*)|\1 \2|p" "$1" | sort -u; }
"$swansongctl" check "$ini" >"$dir/check-variables" 2>&1
"$swansongd" -c "$ini" --socket "$dir/refused" >"$dir/variables" 2>&1 </dev/null
is "check and the daemon refuse the same files of variables" "$(variables "$dir/check-variables")" "$(variables "$dir/variables")"
is "so many of them, as those that are missing count as none" "$(variables "$dir/variables" | wc -l)" 12
is "check names the user and the directory" \
	"$(sed -nE "s|.*\[n004\].*: (user [^:]*)$|\1|p" "$dir/check")" "user nobody may change $dir/5/his"
finish
