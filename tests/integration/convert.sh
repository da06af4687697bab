#!/bin/bash
# supervisord2swansong: swansongd behaves as a supervisord.conf asks.
. "${0%/*}/lib.sh"
requires_package python3 python3
convert=$top_srcdir/contrib/convert/supervisord2swansong
confs=$(realpath "$top_srcdir/tests/integration/convert")

# Converts NAME.conf: $converted is the exit status, $dir/NAME.ini the result, $dir/NAME.err the messages.
convert() { # NAME
	VENV=/opt/venv WORLD=$dir/world "$convert" -o "$dir/$1.ini" "$confs/$1.conf" 2>"$dir/$1.err"
	converted=$?
}

converts() { # NAME STATUS
	convert "$1"
	is "$1.conf: exit status $2" "$converted" "$2"
	ok "$1.conf: the result is valid for swansongctl" ctl check "$dir/$1.ini"
}

has() { # NAME NODE LINE: in the section of the node; the lines of a value are one
	local got
	got=$(sed -z 's/\n  */ /g' "$dir/$1.ini" | awk -v section="$2" '/^\[/ { on = $0 == section } on')
	ok "$1.conf: $2 $3" grep -Fxq -- "$3" <<<"$got"
}

says_and_notes() { # NAME LINE TEXT: on standard error with its line, and in a comment
	ok "$1.conf:$2: $3" grep -Eq "^$confs/$1\.conf:$2: .*$3" "$dir/$1.err"
	ok "and in the result" grep -Eq "^; $confs/$1\.conf:$2: .*$3" "$dir/$1.ini"
}

# --- Configurations of many kinds ----------------------------------------------------------------

converts web 0
is "web.conf: there are no messages" "$(cat "$dir/web.err")" ""
has web '[nginx]' "command = /usr/sbin/nginx -g 'daemon off;error_log /dev/stderr info;'"
has web '[nginx]' 'after = php-fpm'
has web '[nginx]' 'log = inherit'
has web '[php-fpm]' 'stop-signal = QUIT'
has web '[php-fpm]' 'after = poolcounter'
has web '[poolcounter]' 'user = www-data'
has web '[poolcounter]' 'signal-scope = main'

converts queue 1
has queue '[swansong]' 'control-mode = 0770'
has queue '[swansong]' 'control-group = www-data'
has queue '[swansong]' 'shutdown-timeout = 3610s'
like "a budget that the unit would cut is named" "$(cat "$dir/queue.err")" \
	'note: shutdown-timeout: .*100s.*TimeoutStopSec=3800s and SWANSONG_GRACE=3800s'
has queue '[queue-worker@]' 'instances = 00 01 02 03 04 05 06 07'
has queue '[queue-worker@]' 'stop-timeout = 3600s'
has queue '[queue-worker@]' 'log = file:/var/www/app/storage/logs/worker.log'
has queue '[queue-worker@]' 'restart-limit = 3/6s'
is "queue.conf: stopasgroup is the default" \
	"$(sed -n '/^\[queue-worker@\]/,/^$/p' "$dir/queue.ini" | grep -c signal-scope)" 0
says_and_notes queue 5 'not carried over: chown'
says_and_notes queue 9 'not carried over: pidfile'
has queue '[queue-worker@]' 'log-size = 10M'
has queue '[queue-worker@]' 'log-keep = 5'
has queue '[scheduler]' 'log-size = infinity'

converts bench 1
has bench '[web]' 'after = redis'
has bench '[workers]' 'after = redis'
has bench '[workers/site-long-worker@]' 'after = workers/site-schedule'
has bench '[workers/site-long-worker@]' 'stderr = file:/srv/site/logs/worker.error.log'
has bench '[swansong]' 'shutdown-timeout = 1590s'
has bench '[web/site-web]' 'log-size = 50M'
has bench '[web/site-web]' 'log-keep = 10'
says_and_notes bench 53 'not carried over: autorestart'
says_and_notes bench 57 'not carried over: numprocs = 0'
ok "bench.conf: a program that never runs is no node" not grep -q '^\[site-old' "$dir/bench.ini"

converts asgi 1
has asgi '[asgi@]' 'listen = tcp:localhost:8000'
has asgi '[asgi@]' "environment = DJANGO_SETTINGS_MODULE=site.settings\
 'GREETING=100%% \"quoted\", with a comma' 'SHARD=%i of 4'"
has asgi '[images]' 'listen = unix:/run/images.sock,mode=0770,owner=www-data,group=www-data'
says_and_notes asgi 28 'not carried over: socket_backlog'

converts switch 1
has switch '[rsyslogd]' 'autostart = no'
has switch '[rsyslogd]' 'success-status = 3'
has switch '[rsyslogd]' 'log = syslog'
has switch '[start]' 'stdout = syslog'
has switch '[start]' 'restart = never'
has switch '[start]' 'stderr = null'
has switch '[teamsyncd]' 'restart-limit = 1/6s'
says_and_notes switch 7 'not carried over: the section'
says_and_notes switch 24 'not carried over: dependent_startup'
says_and_notes switch 38 'not carried over: startretries'
says_and_notes switch 40 'not carried over: stdout_events_enabled'
is "switch.conf: the event listener runs nowhere" "$(grep -c '^[^;].*exit-listener' "$dir/switch.ini")" 0

converts celery 1
has celery '[swansong]' 'limit-nofile = 65536'
has celery '[swansong]' 'user = www-data'
has celery '[celery]' \
	'command = /opt/venv/bin/celery -A site worker -n worker@%%h --loglevel=info'
has celery '[celery]' "directory = $(realpath "$confs/../..")"
has celery '[celery-beat]' 'restart-limit = none'
has celery '[celery-beat]' 'umask = 0027'
has celery '[celery-beat]' \
	"command = /opt/venv/bin/celery -A site beat --schedule $confs/celery.d/schedule"
says_and_notes celery 24 'not carried over: stderr_logfile = AUTO'
says_and_notes celery 10 'not carried over: password'
ok "celery.conf: no password comes out" not grep -q secret "$dir/celery.ini" "$dir/celery.err"

converts odd 1
has odd '[two_marks]' "command = bash -c 'fetch; pack ; send'"
has odd '[two_marks]' 'stop-signal = INT'
has odd '[two_marks]' 'log = null'
has odd '[limits]' 'stdout = file:/var/log/limits.out'
has odd '[limits]' 'stderr = file:/var/log/limits.err'
has odd '[limits]' 'log-size = 1025K'
has odd '[limits]' 'log-keep = 7'
says_and_notes odd 35 'note: stderr_logfile: log-size and log-keep are the same for both files'
has odd '[redirected]' 'log = file:/var/log/redirected.log'
has odd '[redirected]' 'log-size = 1000'
has odd '[redirected]' 'log-keep = 0'
has odd '[Upper]' "command = /bin/true -c 'a#b;c'"
has odd '[Upper]' 'stop-timeout = 0'
has odd '[swansong_]' 'command = ./own --name=swansong'
has odd '[swansong_]' 'stop-signal = ABRT'
has odd '[root_]' 'command = ./root'
has odd '[nobody]' '[nobody]'
says_and_notes odd 3 'note: minfds: limit-nofile also lowers a limit'
says_and_notes odd 5 'note: name: the node is called two_marks'
says_and_notes odd 13 'not carried over: exitcodes'
says_and_notes odd 20 'not carried over: the section: swansongctl has no plugins'
says_and_notes odd 23 'note: name: the node is called swansong_'
says_and_notes odd 27 'note: name: the node is called root_'
is "odd.conf: there is no message about /dev/null" "$(grep -Ec 'conf:[89]:' "$dir/odd.err")" 0

# A mark of the byte order and carriage returns change nothing.
{ printf '\357\273\277' && sed 's/$/\r/' "$confs/web.conf"; } >"$dir/marked.conf"
"$convert" -o "$dir/marked.ini" "$dir/marked.conf"
is "a file of another system comes out the same" "$(tail -n +2 "$dir/marked.ini")" "$(tail -n +2 "$dir/web.ini")"

convert bad
is "bad.conf: exit status 2" "$converted" 2
ok "bad.conf: nothing is written" not test -e "$dir/bad.ini"
is "bad.conf: all mistakes are reported" "$(grep -oE 'conf:[0-9]+' "$dir/bad.err" | xargs)" \
	"conf:4 conf:7 conf:9 conf:15 conf:19"

# A value that is another one for each process, and names that are no format.
tricky() { # LINE...: $converted is the exit status, and the messages are printed
	printf '%s\n' '[supervisord]' '[program:p]' 'command=true' 'numprocs=2' "$@" >"$dir/tricky.conf"
	"$convert" -o "$dir/tricky.ini" "$dir/tricky.conf" 2>&1
	converted=$?
}
for numbered in 'exitcodes=%(process_num)s' 'startretries=%(process_num)d' 'umask=02%(process_num)d' \
	'directory=/%(process_num)d'; do
	for name in '%(process_num)d' '%(program_name)s_%(process_num)02d'; do
		tricky "process_name=$name" "$numbered" >"$dir/tricky.err"
		ok "$name, $numbered: no traceback" not grep -v "^$dir/tricky.conf:[0-9]*: " "$dir/tricky.err"
		ok "and a valid result" ctl check "$dir/tricky.ini"
	done
done
tricky 'process_name=%(process_num)d' 'exitcodes=%(process_num)s' >/dev/null
is "only the process with that status has success-status" \
	"$(grep -B 1 success-status "$dir/tricky.ini")" "[p@1]
success-status = 1"
for name in '%(process_num)%%02d' '%(process_num)99999999d' '%(process_num)d%(process_num)'; do
	tricky "process_name=$name" >"$dir/tricky.err"
	is "$name is reported with its line" "$converted $(cut -d: -f2 "$dir/tricky.err" | sort -u)" "2 5"
done
like "so are too many processes" "$(tricky 'numprocs=100000000' 'process_name=%(process_num)d')" \
	'tricky.conf:5: numprocs is 100000000: expected 1000 at most'

# Mutations of these files, the same ones each time as far as the time allows.
is_survived() {
	timeout 60 /usr/bin/python3 "$top_srcdir/tests/helpers/fuzz-convert.py" "${convert%/*}" supervisord 10 1 \
		"$confs"/*.conf >"$dir/fuzz"
}
ok "mutated files end with a result, or with lines for their mistakes" is_survived
tail -n 100 "$dir/fuzz" | sed 's/^/# /'

# The example of the manual.
sed -n '/^\[program:worker\]/,/^\.Ed/{/^\.Ed/!p;}' "$top_srcdir/man/swansong-migration.7" \
	>"$dir/manual.conf"
"$convert" -o "$dir/manual.ini" "$dir/manual.conf" 2>"$dir/manual.err"
is "the manual's example: exit status 0" $? 0
is "the manual's example comes out as it is there" \
	"$(sed -n '/^\[worker@\]/,/^$/{/^$/!p;}' "$dir/manual.ini")" \
	"$(sed -n '/^\[worker@\]/,/^\.Ed/{/^\.Ed/!p;}' "$top_srcdir/man/swansong-migration.7" |
		sed "s/  *= / = /; s/\"/'/g")"

# --- The same behaviour --------------------------------------------------------------------------

# Both get the same file, and WORLD in the environment; the output of the programs must be this.
wanted=$(
	cat <<-'END'
	back: started in <> umask 0022 <said once, for all> <>
	back: stopped by TERM
	crash: started <3> in <> umask 0022 <said once, for all> <>
	crash: started <3> in <> umask 0022 <said once, for all> <>
	crash: started <3> in <> umask 0022 <said once, for all> <>
	front: started in <> umask 0022 <said once, for all> <>
	front: stopped by INT
	job: started <2> in <> umask 0022 <said once, for all> <>
	lines: started <one|two; %i> <and> <three> in <> umask 0022 <said once, for all> <>
	lines: stopped by TERM
	socket: started standard input is a socket in <> umask 0022 <said once, for all> <>
	socket: stopped by TERM
	store: started <two  blanks> <a;b> <;> <100%> <$HOME> <it's> <> <*> in </sub> umask 0027 <mine> <x=1; \o/ %n>
	store: stopped by TERM
	worker-01: started <number> <1> <of> <3> in <> umask 0022 <said once, for all> <001>
	worker-01: stopped by USR1
	worker-02: started <number> <2> <of> <3> in <> umask 0022 <said once, for all> <002>
	worker-02: stopped by USR1
	worker-03: started <number> <3> <of> <3> in <> umask 0022 <said once, for all> <003>
	worker-03: stopped by USR1
	writer: started in <> umask 0022 <said once, for all> <>
	END
)
n_starts=$(grep -c ': started' <<<"$wanted")

export WORLD
new_world() { # NAME
	WORLD=$dir/$1
	mkdir -p "$WORLD/sub"
	cp "$confs/tell" "$WORLD/tell"
	: >"$WORLD/said"
	cd "$WORLD" || exit 1
}

all_started() { [ "$(grep -c ': started' "$WORLD/said")" -ge "$n_starts" ]; }

last_line() { # REGEX: the number of the last line of the output that matches
	grep -En -- "$1" "$WORLD/said" | tail -n 1 | cut -d: -f1
}

# The lower its priority, the later it is stopped.
stopped_in_order() {
	local name last=0 n
	for name in socket '(front|back)' '(worker-..|lines)' store; do
		n=$(last_line "^$name: stopped")
		[ "${n:-0}" -gt "$last" ] || { cat "$WORLD/said"; return 1; }
		last=$n
	done
}

# The comparison, after the end.
compare() { # PROGRAM
	is "$1: the same processes, arguments, environment and signals" "$(sort "$WORLD/said")" "$wanted"
	is "$1: a single file has both outputs" "$(cat "$WORLD/writer.log")" "to its output
and its errors"
	ok "$1: the order of the stop" stopped_in_order
}

umask 022
new_world ours
"$convert" -o "$ini" "$confs/run.conf" 2>/dev/null
start_daemon
ok "swansongd: all have started" wait_for 60 all_started
ok "swansongd: the one that crashes is given up" wait_for 60 has_state crash failed
is "swansongd: the one that is not started" "$(state spare)" down
stop_daemon 60
compare swansongd

if command -v supervisord >/dev/null; then
	has_given_up() { supervisorctl -c "$confs/run.conf" status crash | grep -q FATAL; }
	new_world theirs
	launch supervisord -n -c "$confs/run.conf"
	ok "supervisord: all have started" wait_for 60 all_started
	ok "supervisord: the one that crashes is given up" wait_for 60 has_given_up
	kill -TERM "$daemon"
	await_daemon 60
	compare supervisord
else
	skip "supervisord does the same" "package supervisor"
fi
finish
