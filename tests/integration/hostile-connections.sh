#!/bin/bash
# Other users, and a client that never closes its connections, do not lock root out of the control socket;
# operators run no programs of their own.
. "${0%/*}/lib.sh"
requires_root
requires_package setpriv util-linux
requires_package python3 python3

config <<END
[swansong]
control-mode = 0666
control-group = 54321
control-run-group = 54322
$(service web)
END
start_daemon

# Opens as many connections as asked for, and holds them.
cat >"$dir/hold" <<'END'
import signal, socket, sys
call = b'{"method":"io.swansong.Status"}\0'
held = []
for _ in range(int(sys.argv[2])):
    link = socket.socket(socket.AF_UNIX)
    held.append(link)
    try:
        link.connect(sys.argv[1])
        if sys.argv[3:]:
            link.sendall(call)
            link.recv(1 << 20)
    except OSError:
        pass  # refused, or made room
print("held", flush=True)
signal.pause()
END
hold() { # UID NUMBER [once called]
	setpriv --reuid "$1" --regid "$1" --clear-groups /usr/bin/python3 "$dir/hold" "$socket" "${@:2}" \
		>"$dir/held.$1" 2>&1 &
	cleanup_fn end_process $!
	wait_for 60 says "$dir/held.$1" held
}
answers() { timeout 60 "$swansongctl" "$@"; }

ok "a user opens as many connections as it can" hold 65534 600
ok "and so does another" hold 65533 600
ok "and a third" hold 65532 600
ok "and a fourth" hold 65531 600
ok "root looks" answers status
ok "and stops" answers stop web
ok "and starts" answers start web
as_user() { setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; }
ok "a client of root's that leaks connections" hold 0 600 called
ok "does not lock root out" wait_for 5 answers status
ok "ever" wait_for 5 answers restart web

# --- Tiers -----------------------------------------------------------------------------------------

pkill -KILL -f "^/usr/bin/python3 $dir/hold"
in_group() { setpriv --reuid 65534 --regid 65534 --groups "$1" "${@:2}"; } # GROUP COMMAND...
ok "others look" wait_for 10 as_user 65534 "$swansongctl" status
as_user 65534 "$swansongctl" stop web >"$dir/denied" 2>&1
is "and stop nothing" "$?" 5
ok "the control-group stops" in_group 54321 "$swansongctl" stop web
ok "and starts" in_group 54321 "$swansongctl" start web
in_group 54321 "$swansongctl" run mine -- sh -c "id -u >$dir/root" >"$dir/denied" 2>&1
is "and runs nothing of its own" "$?" 5
like "and the reason is reported" "$(cat "$dir/denied")" 'control-run-group may run programs of no file'
ok "which would be as root" not test -e "$dir/root"
ok "the control-run-group does" in_group 54322 "$swansongctl" run mine -- true
stop_daemon
is "the daemon ends" "$status" 0
finish
