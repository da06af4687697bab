#!/bin/bash
# Where the standard streams of a service come from and go to, each by itself.
. "${0%/*}/lib.sh"
requires_package python3 python3

content() { tr '\n' '|' <"$dir/$1"; } # FILE
says_twice='echo out; echo err >&2'

mkfifo "$dir/fifo"
echo given >"$dir/in"
config <<END
[swansong]
log = file:$dir/%n.log
[both]
command = sh -c '$says_twice'
type = oneshot
[parted]
command = sh -c '$says_twice'
type = oneshot
stderr = file:$dir/parted.err
[silent]
command = sh -c '$says_twice'
type = oneshot
stdout = null
[inherit]
command = sh -c 'echo to the daemon >&2; echo and beside it'
type = oneshot
stderr = inherit
[nothing]
command = sh -c 'readlink /proc/self/fd/0; cat'
type = oneshot
[reader]
command = cat
type = oneshot
stdin = file:$dir/in
[fifo]
command = sh -c 'cat; echo end'
type = oneshot
stdin = file:$dir/fifo
[missing]
command = cat
type = oneshot
stdin = file:$dir/none
[directory]
command = cat
type = oneshot
stdin = file:$dir
[link]
command = sh -c 'echo taken >&2'
type = oneshot
stderr = file:$dir/shared/link
END
mkdir -m 1777 "$dir/shared"
ln -s ../in "$dir/shared/link"
start_daemon
for node in both parted silent inherit nothing reader fifo; do
	wait_for 10 has_state "$node" "done" || die "$node does its work"
done
is "both go to the destination of log" "$(content both.log)" "out|err|"
is "standard error has its own file" "$(content parted.err)" "err|"
is "and the other stays" "$(content parted.log)" "out|"
is "nowhere is a place" "$(content silent.log)" "err|"
ok "the daemon's own standard error is one" says "$log" '^to the daemon$'
is "for it alone" "$(content inherit.log)" "and beside it|"
is "there is nothing to read" "$(content nothing.log)" "/dev/null|"
is "but the contents of a file" "$(content reader.log)" "given|"
is "a service that reads a missing FIFO is not held up" "$(content fifo.log)" "end|"
ok "a missing file is named" says "$log" "missing: cannot start: open $dir/none: No such file"
ok "a directory as well" says "$log" "directory: cannot start: open $dir: Is a directory"
ok "a link of another user is not written to" wait_for 10 says "$log" \
	"link: log: cannot write $dir/shared/link: it leads through a symbolic link, or .., below a directory that another"
is "and stays as it was" "$(content in)" "given|"
stop_daemon

# A process does not change the flags of the output of another one, nor of the next run.
cat >"$dir/flags" <<'END'
#!/usr/bin/env python3
import fcntl, os, sys, time
name, folder = sys.argv[1:]
blocks = not fcntl.fcntl(2, fcntl.F_GETFL) & os.O_NONBLOCK
print(name, "has to wait" if blocks else "need not wait", flush=True)
if name == "probe":
    fcntl.fcntl(2, fcntl.F_SETFL, os.O_NONBLOCK | os.O_WRONLY)
    open(folder + "/probed", "w").close()
elif name == "main":
    while not os.path.exists(folder + "/probed"):
        time.sleep(0.01)
    blocks = not fcntl.fcntl(2, fcntl.F_GETFL) & os.O_NONBLOCK
    print("after the probe it", "has to wait" if blocks else "need not wait", flush=True)
    fcntl.fcntl(2, fcntl.F_SETFL, os.O_NONBLOCK | os.O_WRONLY)
    while True:
        time.sleep(100)
END
chmod 755 "$dir/flags"
config <<END
[shared]
command = $dir/flags main $dir
log = file:$dir/flags.log
health = exec:$dir/flags probe $dir
health-interval = 50ms
restart = always
restart-delay = 0
END
start_daemon
have_run() { [ "$(grep -c "after the probe" "$dir/flags.log")" -ge "$1" ]; } # RUNS
wait_for 20 have_run 1 || die "the probe and the service have run"
ctl restart shared >/dev/null
wait_for 20 have_run 2 || die "the next run of the service as well"
ok "each of them may have to wait for its output" not grep -v "has to wait" "$dir/flags.log"
stop_daemon

# Paths of descriptors, where standard output and standard error of the daemon are two.
config <<END
[one]
command = sh -c 'echo one; echo one >&2'
type = oneshot
log = file:/dev/stdout
[two]
command = sh -c 'echo two; echo two >&2'
type = oneshot
stdout = file:/dev/stderr
stderr = file:/dev/fd/1
[three]
command = sh -c 'echo three; echo three >&2'
type = oneshot
log = file:/proc/self/fd/2
[none]
command = sh -c 'echo none; echo none >&2'
type = oneshot
log = file:/dev/null
END
: >"$log"
"$swansongd" -c "$ini" --socket "$socket" >"$dir/own-out" 2>>"$log" </dev/null &
daemon=$!
cleanup_fn end_process "$daemon"
for node in one two three none; do
	wait_for 10 has_state "$node" "done" || die "$node is done"
done
stop_daemon
is "/dev/stdout is the daemon's, for both" "$(sort "$dir/own-out" | xargs)" "one one two"
is "so is /dev/stderr" "$(grep -Ev "$said" "$log" | sort | xargs)" "three three two"
for path in "$dir/" /dev/tty1 /dev/fd/3; do
	printf '[one]\ncommand = true\nlog = file:%s\n' "$path" | config
	like "$path is refused with its line" "$(ctl check "$ini" 2>&1)" ':3: .*(directory|device)'
done

# Streams of the daemon, and values that a group hands down.
cat >"$ini" <<END
[swansong]
log = null
[own]
stdin = inherit
log = inherit
[own/reader]
command = sh -c 'cat; echo read; echo failed >&2'
type = oneshot
[own/none]
command = sh -c 'cat; echo >&2 nothing'
type = oneshot
stdin = null
[null]
command = sh -c 'echo lost; places=\$(readlink /proc/\$\$/fd/1 /proc/\$\$/fd/2); echo "\$places" >$dir/null'
type = oneshot
[parted]
stdout = file:$dir/above.out
[parted/below]
command = sh -c '$says_twice'
type = oneshot
log = file:$dir/below.log
END
echo typed >"$dir/typed"
"$swansongd" -v -c "$ini" --socket "$socket" >"$dir/own.out" 2>"$dir/own.err" <"$dir/typed" &
daemon=$!
cleanup_fn end_process "$daemon"
wait_for 10 ctl_answers || die "swansongd answers"
for node in own/reader own/none null parted/below; do
	wait_for 10 has_state "$node" "done" || die "$node does its work"
done
is "a service that inherits standard input reads that of the daemon" "$(content own.out)" "typed|read|"
ok "its errors go to the daemon's" says "$dir/own.err" '^failed$'
ok "and of several above the nearest counts" says "$dir/own.err" '^nothing$'
is "of standard output and error nothing is left" "$(content null)" "/dev/null|/dev/null|"
is "a nearer log counts, and not a farther stdout" "$(content below.log)" "out|err|"
ok "of which there is no file" not test -s "$dir/above.out"
stop_daemon

# The journal, which is not there at first.
requires_root
mount -t tmpfs tmpfs /run || skip_all "machine: refuses to mount"
mkdir -p /run/systemd/journal
journal=$dir/journal.log
config <<END
[swansong]
log = journal
[web/one]
command = sh -c '$says_twice; echo "stream \$JOURNAL_STREAM"; stat -L -c "is %%d:%%i" /proc/self/fd/2'
type = oneshot
END
start_daemon
wait_for 10 has_state web/one "done" || die "without a journal it does its work"
ok "there is a warning" says "$log" 'web/one: cannot write to the journal: No such file or directory'
ok "its output is the daemon's" says "$log" '^out$'
ok "and JOURNAL_STREAM is not set" says "$log" '^stream $'
is "the warning comes once" "$(grep -c 'cannot write to the journal' "$log")" 1

python3 "$top_srcdir/tests/helpers/fake-journal.py" /run/systemd/journal "$journal" &
cleanup_fn end_process $!
wait_for 10 test -S /run/systemd/journal/stdout || die "there is a journal"
ctl restart web/one >/dev/null
ok "lines arrive as entries of the node" \
	wait_for 10 says "$journal" '^entry: PRIORITY=6 SYSLOG_IDENTIFIER=web/one SWANSONG_NODE=web/one .* MESSAGE=err$'
ok "each is one" says "$journal" ' MESSAGE=out$'
stop_daemon
is "the end is graceful" "$status" 0

# Without the logger the service has a stream to journald itself.
: >"$journal"
SWANSONG_LOGGER=/nonexistent start_daemon
wait_for 10 says "$journal" 'is [0-9]+:' || die "lines arrive without the logger"
is "the service has one stream, with the name of its node" "$(sed -n '1,7s/^1: //p' "$journal" | tr '\n' '|')" "web/one||6|1|0|0|0|"
is "both outputs are in it" "$(sed -n '8,9s/^1: //p' "$journal" | tr '\n' '|')" "out|err|"
is "and JOURNAL_STREAM names it" "$(sed -n 's/^1: stream //p' "$journal")" \
	"$(sed -n 's/^1: is //p' "$journal")"
stop_daemon
is "the end is graceful without the logger" "$status" 0

# Standard error is the journal's by default if that of the daemon is: both share what captures them.
: >"$journal"
sed -i '/^log = journal/d; s/^type = oneshot/&\nstdout = journal/' "$ini"
cat >"$dir/in-journal" <<'END'
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect("/run/systemd/journal/stdout")
s.sendall(b"swansongd\n\n6\n1\n0\n0\n0\n")
os.dup2(s.fileno(), 2)
st = os.fstat(2)
os.environ["JOURNAL_STREAM"] = f"{st.st_dev}:{st.st_ino}"
os.execv(sys.argv[1], sys.argv[1:])
END
launch python3 "$dir/in-journal" "$swansongd" -c "$ini" --socket "$socket"
wait_for 10 ctl_answers || die "a daemon in the journal answers"
for line in out err; do
	ok "standard $line is captured for the journal" \
		wait_for 10 says "$journal" "^entry: .* SYSLOG_IDENTIFIER=web/one .* MESSAGE=$line\$"
done
stop_daemon
finish
