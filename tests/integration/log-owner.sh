#!/bin/bash
# The owner, the group and the mode of a log file are those of its successors; log-group is for new files.
. "${0%/*}/lib.sh"
requires_root
requires_package zstd zstd

writer() { # NODE [LINE...]
	cat <<-END
		[$1]
		command = sh -c 'seq 1 20000; exec $helpers/idle'
		log = file:$dir/logs/$1
		log-size = 20K
		log-keep = 1000
		log-compress = yes
		autostart = no
	END
	shift
	[ $# = 0 ] || printf '%s\n' "$@"
}
mkdir "$dir/logs"
for file in adm other grouped; do
	echo 0 >"$dir/logs/$file"
done
chown root:adm "$dir/logs/adm"
chmod 640 "$dir/logs/adm"
chown nobody:daemon "$dir/logs/other" "$dir/logs/grouped"
chmod 660 "$dir/logs/other"
chmod 600 "$dir/logs/grouped"
{
	writer adm
	writer other
	writer grouped 'log-group = adm'
	writer made/new 'log-group = adm'
	writer plain
} | config
mkdir "$dir/logs/made"
start_daemon

is_written() { [ "$(tail -n 1 "$dir/logs/$1")" = 20000 ]; } # FILE
is_compressed() { [ "$(find "$dir/logs" -name "${1##*/}.*" ! -name '*.zst' | wc -l)" = 1 ]; }
# A helper of the logger compresses the rotated files of one path at a time.
for file in adm other grouped made/new plain; do
	ctl start "$file" >/dev/null
	ok "$file is written" wait_for 30 is_written "$file"
	ok "and compressed but for one" wait_for 30 is_compressed "$file"
done
cd "$dir/logs" || exit
of() { find . -path "./$1*" -type f -printf '%u:%g %m\n' | sort -u | tr '\n' ' '; } # FILE
is "a file of a group keeps it when it is rotated and compressed" "$(of adm)" "root:adm 640 "
is "a file of another user keeps this user" "$(of other)" "nobody:daemon 660 "
is "log-group is for the files that follow" "$(stat -c '%U:%G %a' grouped)" "nobody:adm 600"
is "it is for new files" "$(of made/new)" "root:adm 640 "
is "without it they are the daemon's" "$(of plain)" "root:root 640 "
cd / || exit
stop_daemon
is "the end is graceful" "$status" 0
sed -i 's/^log-group = adm/log-group = no-such-group/' "$ini"
like "a group that is not there is refused" "$("$swansongctl" check "$ini" 2>&1)" \
	"log-group: invalid value 'no-such-group'"
finish
