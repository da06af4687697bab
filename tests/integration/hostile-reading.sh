#!/bin/bash
# Root reads no file of its own for the user of a service that puts a link, or a mount of its own (FUSE), on the path:
# in $dir/etc is a file that only root may read.
. "${0%/*}/lib.sh"
requires_root

user=nobody
as_user() { setpriv --reuid="$user" --regid=nogroup --clear-groups "$@"; }
mkdir "$dir/etc" "$dir/home" "$dir/tmp"
chown "$user" "$dir/home"
chmod 1777 "$dir/tmp"
echo "SECRET=of-root" >"$dir/etc/secret"
chmod 600 "$dir/etc/secret"
refused='it leads through a symbolic link, or \.\., below a directory that another user may change'
shows() { printf "sh -c 'echo \"read: \$(cat)\"; exec %s/idle'" "$helpers"; }
checked() { "$swansongctl" check "$ini" 2>&1; }

as_user ln -s "$dir/etc" "$dir/home/folder"
as_user ln -s "$dir/etc/secret" "$dir/home/secret"
as_user ln -s "$dir/etc/secret" "$dir/tmp/secret"
as_user sh -c "echo its own >$dir/home/own"
ln -s etc/secret "$dir/link"

# --- stdin ---------------------------------------------------------------------------------------------------

stdin() { printf '[%s]\ncommand = %s\nuser = %s\nstdin = file:%s\n' "$1" "$(shows)" "$user" "$2"; } # NODE FILE
{
	stdin link "$dir/home/secret"
	stdin folder "$dir/home/folder/secret"
	stdin shared "$dir/tmp/secret"
	stdin process "/proc/$$/root$dir/etc/secret"
	stdin own "$dir/home/own"
	stdin ours "$dir/link"
} | config
ok "check refuses links of the user as standard input" not checked
is "with the directory, and the user that may change it" \
	"$(checked | sed -nE "s|.*\[([a-z]*)\] stdin: '.*' cannot be read: $refused: (.*)|\1: \2|p" | sed "s|$dir|DIR|")" \
	"link: user $user may change DIR/home
folder: user $user may change DIR/home
shared: every user may change DIR/tmp
process: every user may change /proc"
start_daemon
for node in link folder shared process; do
	ok "the daemon refuses the same: $node" wait_for 20 says "$log" \
		"$node: cannot start: open .*: Too many levels of symbolic links"
done
ok "a file of the user is read" wait_for 20 says "$log" 'read: its own'
ok "and by a link of root's one of root" wait_for 20 says "$log" 'read: SECRET=of-root'
stop_daemon
is "by that alone" "$(grep -c 'read: SECRET' "$log")" 1

# --- environment-file ----------------------------------------------------------------------------------------

environment() { # FILE
	config <<-END
		[env]
		command = sh -c 'echo "read: \$SECRET"; exec $helpers/idle'
		user = $user
		environment-file = $1
	END
}
refuses_environment() { # FILE DOUBT
	environment "$1"
	ok "check refuses a file with variables: $1" not checked
	like "with the directory, and the user that may change it" "$(checked)" "$1: cannot be opened: $refused: $2"
	"$swansongd" -c "$ini" --socket "$dir/refused" >"$dir/out" 2>&1 </dev/null
	ok "the daemon does not start with it" says "$dir/out" "$1: cannot be opened: $refused: $2"
	ok "and shows nothing of it" not says "$dir/out" of-root
}
refuses_environment "$dir/home/secret" "user $user may change $dir/home"
refuses_environment "$dir/home/folder/secret" "user $user may change $dir/home"
refuses_environment "$dir/tmp/secret" "every user may change $dir/tmp"
environment "$dir/link"
ok "check accepts a link of root's" checked
start_daemon
ok "which is read" wait_for 20 says "$log" 'read: of-root'
environment "$dir/home/secret"
ok "a reload with a link of the user is refused" not ctl reload
ok "with the reason" says "$log" "$dir/home/secret: cannot be opened: $refused"
stop_daemon

# --- a mount of the user's -------------------------------------------------------------------------------------

lie() { # FOLDER TARGET
	[ -w /dev/fuse ] || skip_all "machine: no /dev/fuse"
	python3 "$top_srcdir/tests/helpers/lying-mount.py" "$1" "$(id -u "$user")" "$2" 2>"$dir/why" &
	lying=$!
	cleanup_fn end_process "$lying"
	is_mounted() { grep -q " $1 " /proc/self/mountinfo || gone "$lying"; }
	wait_for 10 is_mounted "$1" || die "the file system is mounted"
	! gone "$lying" || skip_all "machine: refuses a FUSE mount: $(tail -n 1 "$dir/why")"
}
as_user mkdir "$dir/tmp/app"
mkdir "$dir/tmp/roots"
lie "$dir/tmp/app" "$dir/etc/written"
lie "$dir/home" "$dir/etc/written"
mount -t tmpfs tmpfs "$dir/tmp/roots"
ln -s "$dir/etc/written" "$dir/tmp/roots/log"
{
	for place in tmp/app home tmp/roots; do
		printf '[%s]\ncommand = sh -c "echo evil; exec %s/idle"\nlog = file:%s/log\n' "${place##*/}" "$helpers" "$dir/$place"
	done
} | config
ok "check refuses the files in a mount of a user, which shows root as their owner" not checked
is "with the directory, and the user that may change it" \
	"$(checked | sed -nE "s|.*\[([a-z]*)\] log: '.*' cannot be a log file: $refused: (.*)|\1: \2|p" | sed "s|$dir|DIR|")" \
	"app: every user may change DIR/tmp
home: user $user may change DIR/home
roots: every user may change DIR/tmp"
start_daemon
for node in app home roots; do
	ok "the daemon refuses the same: $node" wait_for 20 says "$log" "$node: log: cannot write .*: $refused"
done
ok "and writes nothing there" test ! -e "$dir/etc/written"
stop_daemon
umount "$dir/tmp/roots" "$dir/tmp/app" "$dir/home"
finish
