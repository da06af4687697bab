#!/bin/bash
# Directories that a service gets: made before its start, with its owner, and removed after its end; a user
# of the service who puts something else in their place gains nothing.
. "${0%/*}/lib.sh"
requires_root
requires_package setpriv util-linux
requires_package python3 python3

for folder in /var/lib /var/cache /var/log; do
	mount -t tmpfs -o mode=755 tmpfs "$folder" || skip_all "machine: refuses to mount"
done
user=nobody
group=$(id -gn $user)
as_user() { setpriv --reuid="$user" --regid="$group" --clear-groups "$@"; }
owner() { stat -c '%U %G %a' "$1"; } # PATH
absent() { [ ! -e "$1" ] && [ ! -L "$1" ]; } # PATH
mkdir "$dir/etc"
touch "$dir/etc/root"
in_etc() { (cd "$dir/etc" && find . -printf '%p %u %m\n' | sort | tr '\n' ' '); }
etc=$(in_etc)

chmod 711 "$dir"
cat >"$dir/service" <<'END'
#!/bin/sh
env | sort >"$RUNTIME_DIRECTORY/environment" || exit 1
pwd >"$RUNTIME_DIRECTORY/pwd"
exec sleep 1000
END
chmod 755 "$dir/service"
config <<END
[web/app]
command = $dir/service
user = $user
runtime-directory = %n:0750
state-directory = app:0750 app/nested
cache-directory = app/cache:2750
log-directory = app
directory = /var/lib/app
start-command = sh -c 'echo "start \$STATE_DIRECTORY" >>/var/lib/app/trace'
post-stop = sh -c 'ls -d \$RUNTIME_DIRECTORY >>/var/lib/app/trace'
autostart = no
[plain]
command = $helpers/idle
runtime-directory = plain
autostart = no
[work]
command = sh -c 'touch \$RUNTIME_DIRECTORY/a && touch /run/worked'
type = oneshot
runtime-directory = work
autostart = no
[broken]
command = false
runtime-directory = broken
restart-delay = 10ms
restart-limit = 3/1min
autostart = no
[nested]
command = $helpers/idle
user = $user
state-directory = nested nested/inner
restart = never
autostart = no
[link]
command = $helpers/idle
user = $user
state-directory = link
restart = never
autostart = no
[hung]
command = $helpers/idle
state-directory = hung/app
autostart = no
restart = never
[inside]
command = /bin/sh -c 'ls / >/usr-of; exec sleep 1000'
root-directory = $dir/root
directory = /usr
user = $user
autostart = no
[outside]
command = $helpers/idle
root-directory = $dir/no-root
restart = never
autostart = no
[slow]
command = $helpers/idle
runtime-directory = slow
autostart = no
stop-timeout = 1s
END
umask 077
start_daemon

# --- Made ------------------------------------------------------------------------------------------------

ok "a service with directories starts" ctl start web/app
wait_for 10 test -s /run/web/app/pwd
is "its runtime directory is its own" "$(owner /run/web/app)" "$user $group 750"
is "the one in front of it is root's" "$(owner /run/web)" "root root 755"
is "its state directory is its own" "$(owner /var/lib/app)" "$user $group 750"
is "and so is a directory in it" "$(owner /var/lib/app/nested)" "$user $group 755"
is "its cache" "$(owner /var/cache/app/cache)" "$user $group 2750"
is "its log" "$(owner /var/log/app)" "$user $group 755"
is "the service finds them by variables" "$(grep -E '_DIRECTORY=' /run/web/app/environment | tr '\n' ' ')" \
	"CACHE_DIRECTORY=/var/cache/app/cache LOGS_DIRECTORY=/var/log/app RUNTIME_DIRECTORY=/run/web/app STATE_DIRECTORY=/var/lib/app:/var/lib/app/nested "
is "and may begin in one" "$(cat /run/web/app/pwd)" /var/lib/app
is "a start-command has them" "$(cat /var/lib/app/trace)" "start /var/lib/app:/var/lib/app/nested"

# --- Removed ---------------------------------------------------------------------------------------------

# A tree that no recursion removes, with links and files that nobody may read.
python3 - "$dir/etc" <<'END'
import os, sys
os.chdir("/run/web/app")
os.symlink(sys.argv[1], "link")
os.mkfifo("fifo")
os.mkdir("closed")
open("closed/file", "w").close()
os.chmod("closed", 0)
for i in range(3000):
    os.mkdir("d")
    os.mkdir("e")
    open("e/file", "w").close()
    os.chdir("d")
END
ok "it stops" ctl stop web/app
is "post-stop still has the runtime directory" "$(tail -n 1 /var/lib/app/trace)" /run/web/app
ok "then it is removed, with all that is in it" absent /run/web/app
is "and nothing that a link in it leads to" "$(in_etc)" "$etc"
is "the state stays" "$(owner /var/lib/app)" "$user $group 750"
ok "the next start makes a new one" ctl start web/app
touch /run/web/app/old
ok "and so does a restart" ctl restart web/app
ok "without the files of the run before" absent /run/web/app/old

ok "a service of root has directories as well" ctl start plain
is "of root" "$(owner /run/plain)" "root root 755"
ok "a oneshot does its work" ctl start work
ok "in its directory" wait_for 10 test -e /run/worked
ok "and that is removed after it" wait_for 10 absent /run/work
ok "without staying up for that" wait_for 10 has_state work 'done'
ctl start broken --no-wait >/dev/null
ok "a service that fails is given up" wait_for 10 has_state broken failed
ok "and leaves no directory" absent /run/broken

# Another root, with the programs of this one.
mkdir "$dir/root"
chmod 777 "$dir/root"
for folder in usr bin lib lib64; do
	if [ -L "/$folder" ]; then
		cp -P "/$folder" "$dir/root/"
	elif [ -d "/$folder" ]; then
		mkdir "$dir/root/$folder" && mount --bind "/$folder" "$dir/root/$folder"
	fi
done
ok "a service starts in another root" ctl start inside
inside=$(pid_of inside)
is "which is its /" "$(readlink "/proc/$inside/root")" "$dir/root"
is "its directory is in there" "$(readlink "/proc/$inside/cwd")" "$dir/root/usr"
ok "so is what it writes" wait_for 10 test -s "$dir/root/usr-of"
is "it has its user" "$(stat -c %U "$dir/root/usr-of")" "$user"
ok "it stops" ctl stop inside
umount "$dir"/root/* 2>"$dir/why"
ok "a root that is missing is refused" not ctl start outside
like "with the reason" "$(ctl status outside)" "cannot start: enter the root $dir/no-root: No such file or directory"

# A mount point stays: that is logged, and holds up nothing.
ok "a mount in the directory" mount -t tmpfs tmpfs /run/plain
ok "does not keep the service from its stop" ctl stop plain
ok "and is logged" says "$log" "plain: runtime-directory cannot start: remove /run/plain: Device or resource busy"
umount /run/plain

# --- Places that the user of the service has changed -----------------------------------------------------

ok "a service starts" ctl start nested
ctl stop nested >/dev/null
as_user sh -c "rmdir /var/lib/nested/inner && ln -s $dir/etc /var/lib/nested/inner"
ok "a directory of which its user has made a link is refused" not ctl start nested
like "with the reason" "$(ctl status nested)" \
	"state-directory cannot start: make /var/lib/nested/inner: Too many levels of symbolic links"
is "and the other place is untouched" "$(in_etc)" "$etc"
as_user rm /var/lib/nested/inner
mkdir /var/lib/nested/inner
chown daemon /var/lib/nested/inner
ok "so is a directory of a third user in one of the user" not ctl start nested
is "which stays as it is" "$(owner /var/lib/nested/inner)" "daemon root 700"
rmdir /var/lib/nested/inner
ok "without it the service starts again" ctl start nested
mkdir "$dir/srv"
ln -s "$dir/srv" /var/lib/link
ok "a link of root's is followed" ctl start link
is "and what it leads to belongs to the user" "$(owner "$dir/srv")" "$user $group 755"

# --- A file system that hangs, a stop in the middle, a fault of the daemon --------------------------------

mkdir /var/lib/hung
mount_hanging /var/lib/hung
ctl start hung --no-wait >/dev/null
began=$(now)
ok "the daemon answers while a directory cannot be made" timeout 10 "$swansongctl" status plain
within "at once" $(($(now) - began)) 0 5000
is "the service is at its preparations" "$(state hung)" preparing
ok "a stop ends the start" ctl stop hung

ok "a service that runs has its directory" ctl start slow
# Files come as fast as they are removed.
python3 - <<'END' &
import os
while True:
    for i in range(1000):
        try:
            open("/run/slow/%d" % i, "w").close()
        except OSError:
            pass
END
filling=$!
cleanup_fn end_process "$filling"
wait_for 10 test -e /run/slow/999
ok "it stops while another process fills the directory" ctl stop slow
end_process "$filling"

old=$(pid_of web/app)
kill -SEGV "$daemon"
ok "the daemon has a fault" wait_for 10 says "$log" "fault: SIGSEGV"
ok "and goes on" wait_for 10 ctl_answers
is "so does the service" "$(pid_of web/app)" "$old"
ok "with its directory" test -d /run/web/app
stop_daemon
is "a shutdown ends all" "$status" 0
is "and removes what they had" "$(ls -A /run/web)" ""

# --- Without root ------------------------------------------------------------------------------------------

home=$dir/home
mkdir "$home"
chown "$user:$group" "$home"
(umask 022 && cat >"$dir/user.ini") <<'END'
[own]
command = sh -c 'env >$STATE_DIRECTORY/environment; exec sleep 1000'
runtime-directory = own
state-directory = own/data
cache-directory = own
log-directory = own
END
setpriv --reuid="$user" --regid="$group" --clear-groups env HOME="$home" XDG_RUNTIME_DIR="$home" XDG_CACHE_HOME="$home/the cache" \
	"$(program swansongd)" -v --trust-config -c "$dir/user.ini" --socket "$home/socket" >>"$log" 2>&1 </dev/null &
daemon=$!
cleanup_fn end_process "$daemon"
ok "a daemon of a user makes them in the user's folders" wait_for 10 test -s "$home/.local/state/own/data/environment"
is "by the variables of XDG" "$(grep _DIRECTORY= "$home/.local/state/own/data/environment" | sort)" \
	"CACHE_DIRECTORY=$home/the cache/own
LOGS_DIRECTORY=$home/.local/state/log/own
RUNTIME_DIRECTORY=$home/own
STATE_DIRECTORY=$home/.local/state/own/data"
stop_daemon
is "it ends" "$status" 0
ok "and removes the runtime directory" absent "$home/own"
ok "alone" test -d "$home/the cache/own"
finish
