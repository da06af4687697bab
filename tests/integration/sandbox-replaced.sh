#!/bin/bash
# The program swansong-sandbox is replaced or removed while the daemon runs, as by an upgrade of the package: services
# start with the one of the daemon's version.  After an upgrade of the daemon they start with that of the package.
. "${0%/*}/lib.sh"
requires_root

own_program
mkdir "$dir/package"
program=$dir/package/swansong-sandbox
cp "$SWANSONG_SANDBOX" "$program"
# In each a file of the system cannot be written.
sandboxed() { # NODE
	printf '[%s]\nread-only-system = yes\nwrite-paths = %s\nautostart = no\nrestart = never\n' "$1" "$dir"
	printf "command = sh -c 'touch /etc/swansong-test || echo %s >>$dir/limited; exec sleep infinity'\n" "$1"
}
sandboxed web | config
limited() { grep -cx "$1" "$dir/limited"; }
starts() { # NAME [NODE]
	: >"$dir/limited"
	ok "$1: a service starts" ctl restart "${2:-web}"
	ok "$1: in its sandbox" wait_for 10 says "$dir/limited" "^${2:-web}$"
}

SWANSONG_SANDBOX=$program start_daemon
starts "the program is there"
is "a service has no descriptor of the program" \
	"$(find "/proc/$(pid_of web)/fd" -lname '*/package/*' | wc -l)" 0

cat >"$dir/other-version" <<END
#!/bin/sh
echo "\$0" >>"$dir/others"
exec "$SWANSONG_SANDBOX" "\$@"
END
chmod 755 "$dir/other-version"
cp "$dir/other-version" "$dir/package/next"
mv "$dir/package/next" "$program"
starts "it is of another version"
{
	sandboxed web
	sandboxed new
} | config
ok "a service is added" ctl reload
starts "the other version, and a service that is new" new
kill -SEGV "$daemon"
ok "the daemon goes on after a fault" wait_for 10 ctl_answers
starts "the other version, after a fault of the daemon"
rm "$program"
starts "the program is gone"
ok "none of them has executed the other version" not test -e "$dir/others"

# --- An upgrade of the daemon, too ---

cp "$dir/other-version" "$program"
ok "the daemon is upgraded" ctl upgrade
starts "an upgrade of the daemon"
is "it executes the program of the package" "$(wc -l <"$dir/others")" 1
kill -SEGV "$daemon"
ok "the upgrade is undone by a fault" wait_for 10 says "$log" "fault of the new program"
ok "the former daemon answers" wait_for 10 ctl_answers
starts "the former daemon"
is "it executes its former program" "$(wc -l <"$dir/others")" 1
stop_daemon
is "the end is graceful" "$status" 0

# --- A program that is not there at the start of the daemon ---

rm "$program"
SWANSONG_SANDBOX=$program start_daemon
ctl restart web >"$dir/refused" 2>&1
ok "and gives the reason" wait_for 10 says "$log" 'execute swansong-sandbox: No such file or directory'
cp "$SWANSONG_SANDBOX" "$program"
starts "the program that has come since"
stop_daemon
is "the end is graceful with that, too" "$status" 0
finish
