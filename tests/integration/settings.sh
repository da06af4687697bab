#!/bin/bash
# The configuration of the running daemon: show prints a section that can be pasted, with the source of each
# setting; cat prints the text of the files; deps prints a tree.
. "${0%/*}/lib.sh"

mkdir "$dir/conf"
cat >"$dir/conf/a.ini" <<END
; the first file
[swansong]
shutdown-timeout = 20s

[web]
directory = /
environment = A=1 SECRET="two words" C=100%%
stop-timeout = 5s
requires = db

[web/nginx]
; the only service of its kind
command = sh -c 'echo "x ; y"; exec $helpers/idle' %n %% "it's" ''
stop-timeout = 7s
start-command = true a
start-command = true "b ; c" 100%%
after = web/app
umask = 027


[web/app]
command = $helpers/idle
END
cat >"$dir/conf/b.ini" <<END
[web/app@]
instances = one two
command = $helpers/idle
autostart = no
wants = db
environment = A=%i
log = file:$dir/%i.log
log-size = 1M
[web/app@two]
autostart = yes
[db]
command = $helpers/idle
capabilities = none
health = exec:true "a  b"
limit-nofile = 100:200
listen = tcp:127.0.0.1:5555
success-status = 3 SIGINT
[script]
command = sh -c 'echo one
	echo two
	exec $helpers/idle'
END
launch "$swansongd" -v -c "$dir/conf" --socket "$socket"
wait_for 10 ctl_answers || die "swansongd answers"
ok "all is up" ctl wait --for ready --timeout 60s

line() { grep -n -m "${3:-1}" "^$2" "$dir/conf/$1" | tail -n 1 | cut -d: -f1; } # FILE BEGINNING [NUMBER]
shows() { # NODE KEY VALUE SOURCE
	ctl show --all "$1" | grep -qxF "$(printf "%s = %-$((37 - ${#2}))s ; %s" "$2" "$3" "$4")"
}
ok "a setting of its own" shows web/nginx stop-timeout 7s "$dir/conf/a.ini:$(line a.ini stop-timeout 2)"
ok "an inherited one" shows web/nginx directory / "inherited from [web], $dir/conf/a.ini:$(line a.ini directory)"
ok "a setting of the template has its source" shows web/app@one autostart no "template, $dir/conf/b.ini:$(line b.ini autostart)"
ok "an instance may have its own" shows web/app@two autostart yes "$dir/conf/b.ini:$(line b.ini autostart 2)"
ok "a default" grep -qx '# ready = started' <(ctl show --all web/nginx)
ok "a group has its own settings" shows web stop-timeout 5s "$dir/conf/a.ini:$(line a.ini stop-timeout)"
ok "and the root" shows / shutdown-timeout 20s "$dir/conf/a.ini:$(line a.ini shutdown-timeout)"
ok "without --all there is no default" not grep -q '^# ' <(ctl show web/nginx web / db)
is "a name is enough" "$(ctl show nginx | head -n 1)" "[web/nginx]"
is "as JSON" "$(ctl show nginx --json | jq -r '.nodes[0].settings[] | select(.key == "umask") | [.value, .origin, .line] | join(" ")')" \
	"0027 section $(line a.ini umask)"
is "a node that is not there" "$(ctl show nothing >/dev/null 2>&1; echo $?)" 4

# --- It can be pasted ----------------------------------------------------------------------------

nodes=(/ web web/nginx web/app web/app@one web/app@two db script)
values() { ctl show --all "${nodes[@]}" --json | jq -S '[.nodes[] | [.node, [.settings[] | select(.key != "instances") | [.key, .value]]]]'; }
values >"$dir/before"
for all in "" --all; do
	# shellcheck disable=SC2086  # none, or one
	ctl show $all "${nodes[@]}" >"$dir/pasted$all"
done
for all in "" --all; do
	mv "$dir/conf" "$dir/conf.was" && mkdir "$dir/conf" && cp "$dir/pasted$all" "$dir/conf/a.ini"
	ok "the output is a valid configuration${all:+, with $all}" ctl check "$dir/conf"
	is "and changes nothing" "$(ctl reload --dry-run)" "nothing would change"
	ctl reload >/dev/null
	values >"$dir/after"
	ok "it is the same then" diff "$dir/before" "$dir/after"
	rm -rf "$dir/conf" && mv "$dir/conf.was" "$dir/conf"
	ctl reload >/dev/null
done

is "files without a daemon have the same settings" \
	"$(SWANSONG_SOCKET=/nowhere "$swansongctl" show --config "$dir/conf" web/nginx web/app@two)" \
	"$(ctl show web/nginx web/app@two)"
is "and the same text" "$(SWANSONG_SOCKET=/nowhere "$swansongctl" cat --config "$dir/conf" web/app@two)" \
	"$(ctl cat web/app@two)"
"$swansongctl" show --config "$dir/conf" nothing >/dev/null 2>&1
is "a node that they do not have has its exit status" "$?" 4

# --- cat -----------------------------------------------------------------------------------------

is "the text of a section, with its file" "$(ctl cat nginx)" \
	"# $dir/conf/a.ini"$'\n'"$(sed -n '/^\[web.nginx/,/^umask/p' "$dir/conf/a.ini")"
is "a template and then its instance" "$(ctl cat web/app@two)" \
	"# $dir/conf/b.ini"$'\n'"$(sed -n '/^\[web.app@\]/,/^log-size/p' "$dir/conf/b.ini")"$'\n'"# $dir/conf/b.ini"$'\n'"$(sed -n '/^\[web.app@two/,/^autostart/p' "$dir/conf/b.ini")"
is "of an instance without a section the template" "$(ctl cat web/app@one | grep -c '^\[')" 1
is "the root" "$(ctl cat / | sed -n 2p)" "[swansong]"
mv "$dir/conf" "$dir/conf.away"
is "a missing file is reported" "$(ctl cat db 2>&1; echo $?)" \
	"swansongctl: db: cannot read $dir/conf/b.ini: No such file or directory"$'\n'1
mv "$dir/conf.away" "$dir/conf"
ctl run other --property stop-timeout=3s -- "$helpers/idle" >/dev/null
is "so is a node without a section" "$(ctl cat other 2>&1; echo $?)" $'swansongctl: other: no file has a section of this node\n1'
ok "but it is shown" shows other stop-timeout 3s "of the client that has run it"

# --- deps ----------------------------------------------------------------------------------------

edges() { ctl deps "$@" --json | jq -r '[.nodes[].dependencies[] | "\(.from) \(.kind) \(.to)"] | join(", ")'; }
is "the requirements of a node and of its groups" "$(edges web/nginx)" "web requires db, web/nginx after web/app, web requires db"
is "the dependents of a node" "$(edges --reverse db)" "web requires db, web/app@one wants db, web/app@two wants db"
is "as a tree" "$(LC_ALL=C.UTF-8 ctl deps web/nginx | sed 's/ *$//')" "$(cat <<-'END'
	web/nginx            up
	├─db       requires  up  of web
	└─web/app  after     up
	  └─db     requires  up  of web
	END
)"
is "nothing" "$(edges db)" ""
stop_daemon
is "the end is graceful" "$status" 0

# --- Users that may see it -----------------------------------------------------------------------

if is_root && command -v setpriv >/dev/null; then
	cat >"$dir/conf/c.ini" <<-END
		[late]
		command = $helpers/idle
		environment = PASSWORD=x
	END
	sed -i 's/^shutdown-timeout.*/&\ncontrol-mode = 0666/' "$dir/conf/a.ini"
	launch "$swansongd" -v -c "$dir/conf" --socket "$socket"
	wait_for 10 ctl_answers || die "swansongd answers"
	cp "$(program swansongctl)" "$dir/ctl"
	chmod 755 "$dir/ctl"
	setpriv --reuid 12345 --regid 12345 --clear-groups "$dir/ctl" show late >"$dir/seen" 2>&1
	ok "a user that may look sees the settings" says "$dir/seen" '^command = '
	ok "but no environment" not says "$dir/seen" PASSWORD
	ok "and the output names them" says "$dir/seen" '^# hidden: .*c.ini:3'
	stop_daemon
else
	skip "users that may see it" "machine: needs root"
fi
finish
