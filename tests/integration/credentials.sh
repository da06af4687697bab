#!/bin/bash
# credential: secret files are copied for a service, with its owner; a reload writes them anew, and the end of the run
# removes them.  A file that is missing, too large or of which another user may change the path is a failed start.
. "${0%/*}/lib.sh"
requires_root

user=nobody
group=$(id -gn $user)
trace=$dir/trace
secret=$dir/secret
chmod 711 "$dir"
mkdir -m 700 "$secret"
install -m 666 /dev/null "$trace"
echo first >"$secret/db"
printf 'key\0with\xffbytes' >"$secret/key"
head -c 1048576 /dev/zero >"$secret/most"
head -c 1048577 /dev/zero >"$secret/more"
mkdir "$secret/folder"
mkfifo "$secret/pipe"
mkdir -m 777 "$dir/open"
ln -s "$secret/db" "$dir/open/link"
cat >"$dir/app" <<END
#!/bin/bash
read_it() { echo "\$1 \$(cat "\$CREDENTIALS_DIRECTORY/db")" >>$trace; }
trap 'read_it reload' HUP
trap 'read_it stop; [ ! -p $dir/block ] || read -r _ <$dir/block; exit 0' TERM
read_it start
echo "\$CREDENTIALS_DIRECTORY" >>$trace
while :; do sleep 1000 & wait; done
END
chmod 755 "$dir/app"
{
	cat <<-END
		[swansong]
		shutdown-timeout = 60s
		[web/app]
		command = $dir/app
		user = $user
		credential = db:$secret/db
		credential = key.bin:$secret/key
		credential = most:$secret/most
		runtime-directory = app
		stop-timeout = 50s
		post-stop = sh -c 'echo "post-stop \$(cat "\$CREDENTIALS_DIRECTORY/db")" >>$trace'
		autostart = no
		[web]
		restart = never
		[beside]
		command = $helpers/idle
		credential = db:$secret/db
		[command]
		command = $helpers/idle
		credential = db:$secret/db
		reload-command = sh -c 'echo "command \$(cat "\$CREDENTIALS_DIRECTORY/db")" >>$trace'
	END
	for name in missing more folder pipe link; do
		file=$secret/$name
		[ $name != link ] || file=$dir/open/link
		printf '[%s]\ncommand = %s/idle\ncredential = db:%s/db\ncredential = it:%s\nautostart = no\nrestart = never\n' \
			"$name" "$helpers" "$secret" "$file"
	done
} | sed '/^\[web\]$/,/^restart/d' | config
start_daemon
place=/run/swansong/credentials
owner() { stat -c '%U %G %a' "$1"; }
traced() { says "$trace" "^$1\$"; }

ok "the others are ready" ctl wait --for ready --timeout 30s
ok "a service with credentials starts" ctl start web/app
ok "and reads one" wait_for 10 traced 'start first'
ok "in the directory that its environment names" wait_for 10 traced "$place/web:app"
is "which is its own" "$(owner "$place/web:app")" "$user $group 500"
is "and so is each file" "$(owner "$place/web:app/db")" "$user $group 400"
ok "a copy has each byte" cmp "$secret/key" "$place/web:app/key.bin"
ok "of a file of the largest size, too" cmp "$secret/most" "$place/web:app/most"
is "nothing else is in there" "$(find "$place/web:app" -mindepth 1 -printf '%f\n' | sort | tr '\n' ' ')" "db key.bin most "
is "a service of root has its own" "$(owner "$place/beside") $(owner "$place/beside/db")" "root root 500 root root 400"

echo second >"$secret/db"
ok "a reload of the service" ctl reload web/app
ok "comes after its files were written anew" wait_for 10 traced 'reload second'
ok "as does a reload-command" ctl reload command
ok "of the other" wait_for 10 traced 'command second'
is "a service that is not reloaded keeps its own" "$(cat "$place/beside/db")" first
is "the owner is the same" "$(owner "$place/web:app/db")" "$user $group 400"
mv "$secret/db" "$secret/gone"
ok "a reload without the file" ctl reload web/app
ok "is logged as a failure" wait_for 10 says "$log" "web/app: credential cannot start: copy db:$secret/db: No such file or directory"
is "and leaves the former" "$(cat "$place/web:app/db")" second
is "the service does not reload" "$(grep -c ^reload "$trace")" 1
mv "$secret/gone" "$secret/db"

kill -SEGV "$daemon"
ok "a fault of the daemon" wait_for 10 says "$log" "fault: SIGSEGV"
ok "leaves them" wait_for 10 ctl_answers
echo third >"$secret/db"
ok "a reload after it" ctl reload web/app
ok "writes them anew" wait_for 10 traced 'reload third'

for name in missing:'No such file or directory' more:'File too large' folder:'Is a directory' \
	pipe:'Operation not supported' link:'Too many levels of symbolic links'; do
	ok "a file is refused: ${name%%:*}" not ctl start "${name%%:*}"
	like "with the reason" "$(ctl status "${name%%:*}")" "credential cannot start: copy it:$dir/[a-z]*/${name%%:*}: ${name#*:}"
	ok "and no credential stays" test ! -e "$place/${name%%:*}"
done

ok "a restart" ctl restart web/app
ok "has them until post-stop is over" traced 'post-stop third'
ok "and again" wait_for 10 traced 'start third'
for value in "db:relative" "$secret/db" ".db:/a" "a/b:/a" "db:/a b" "db:"; do
	printf '[a]\ncommand = true\ncredential = %s\n' "$value" >"$dir/bad.ini"
	ok "check refuses: $value" not ctl check "$dir/bad.ini"
done
printf '[a]\ncommand = true\ncredential = db:/a\ncredential = db:/b\n' >"$dir/bad.ini"
like "check refuses a name twice" "$(ctl check "$dir/bad.ini" 2>&1)" "bad.ini:4: \[a\] credential: invalid value 'db:/b': duplicate name"
is "check refuses what the daemon does, and takes none for a program" \
	"$(ctl check "$ini" 2>&1 | sed -n "s|.*\[\([a-z/]*\)\] credential: '[^']*' cannot be read: .*|\1|p; t; s/.*credential: //p" | xargs)" \
	"folder pipe link"

mkfifo "$dir/block"
kill -TERM "$daemon"
ok "a shutdown in the middle" wait_for 10 traced 'stop third'
ok "leaves them while the service ends" test -e "$place/web:app/db"
echo >"$dir/block"
await_daemon 30
is "it ends in order" "$status" 0
is "and no credential stays" "$(find "$place" -mindepth 1)" ""
finish
