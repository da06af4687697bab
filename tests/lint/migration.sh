#!/bin/sh
# swansong-migration(7) names only keys that exist, all of those that others have, too, and its examples are
# configurations.
. "${0%/*}/lib.sh"
page=${top_srcdir:?}/man/swansong-migration.7

# The keys of swansong.ini follow .Ic, separated by commas.
sed -n 's/^\.//; /Ic /{s/ Ta /\n/g; p;}' "$page" | grep -oE 'Ic [a-z]+[-a-z]*( , [a-z]+[-a-z]*)*' |
	sed 's/^Ic //; s/ , /\n/g' | sort -u >"$dir/named"
keys | sort -u >"$dir/keys"
comm -23 "$dir/named" "$dir/keys" >"$dir/unknown"
try "keys are named" test -s "$dir/named"
try "and every one exists" is_empty "$dir/unknown"

# A key that is not on the page is one that no other supervisor has a word for, or a detail of one that is.
sort >"$dir/own" <<-END
	agent
	attach
	control
	control-run-group
	control-socket
	drain-quiet
	exit-on-signal
	exit-when
	final-timeout
	handover
	handover-max
	history
	inhibit
	idle-timeout
	log-format
	log-full
	log-user
	log-group
	notify
	notify-user
	on-failure-interval
	on-failure-timeout
	pressure-stop
	on-sleep
	recycle-age
	recycle-memory
	read-paths
	report
	restart-reset
	restart-jitter
	sandbox
	settle-time
	start-parallel
	stop-priority
	stop-warning
	tcp-bind
	tcp-connect
	$(grep '^limit-' "$dir/keys")
END
comm -23 "$dir/keys" "$dir/named" | comm -23 - "$dir/own" >"$dir/denied"
try "each key that others have is named" is_empty "$dir/denied"

# The page and the converter agree on the keys of systemd: no key in the table is one that the converter names as without
# a counterpart, and no key of the list below the table is one that it converts.
cat >"$dir/agree.py" <<'END'
import re
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from swansong_convert import systemd_keys
text = re.search(r"^\.Sh FROM SYSTEMD\n(.*?)^\.Sh ", open(sys.argv[2]).read(), re.S | re.M).group(1)
table, rest = re.search(r"^\.Bl -column.*?^\.El(.*)", text, re.S | re.M).group(0).split(".Ss Without a counterpart")
rest = rest.split("Keys of the converter")[0]
table = "\n".join(line.split(" Ta ")[0] for line in table.split("\n") if line.startswith(".It"))
lost = {**systemd_keys.SERVICE, **systemd_keys.UNIT}
# It depends on another key whether there is one, or it is without one in a part of its values.
either = {"TTYPath", "SendSIGKILL", "RuntimeDirectory", "ConfigurationDirectory", "RuntimeDirectoryPreserve", "Type", "PIDFile", "FileDescriptorStorePreserve"}
for key in set(re.findall(r"([A-Z][A-Za-z]+)=", table)) - either:
    if key in lost:
        print(key, "has a counterpart on the page; the converter:", lost[key])
for key in set(re.findall(r"([A-Z][A-Za-z]+)=", rest)) - either:
    if key not in lost:
        print(key, "has no counterpart on the page, and is converted")
END
if command -v python3 >/dev/null; then
	python3 "$dir/agree.py" "$top_srcdir/contrib/convert" "$page" >"$dir/disagree" 2>&1 || :
	try "and the converter of systemd agrees with it" is_empty "$dir/disagree"
	python3 "$top_srcdir/tests/helpers/migration-page.py" "$top_srcdir/contrib/convert" "$page" "$dir/keys" >"$dir/other" 2>&1 || :
	try "it has the keys of the converter without a counterpart, and none of them is one of swansong.ini(5)" is_empty "$dir/other"
else
	skip "and the converter of systemd agrees with it" "package python3"
fi

# An example is the result of a migration.
awk -v dir="$dir" '
	/^becomes$/ { wanted = 1 }
	/^\.Bd -literal/ && wanted { wanted = 0; on = 1; file = dir "/" ++n ".ini"; next }
	/^\.Ed/ { on = 0 }
	on { print >file }
' "$page"
for example in "$dir"/*.ini; do
	try "example ${example##*/}: $(sed -n '/^\[/{p;q;}' "$example")" \
		"${top_builddir:?}/swansongctl" check "$example"
done

if command -v mandoc >/dev/null; then
	try "the page is clean" mandoc -Tlint -Wwarning "$page"
else
	skip "the page is clean" "package mandoc"
fi
finish
