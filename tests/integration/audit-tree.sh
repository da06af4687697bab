#!/bin/bash
# The tree of a small shop: a database, a store, a migration, an application of several instances behind
# a web server, a scheduled job, and an administration page that is started on demand.  It is started
# from nothing, rolled out and reloaded under load, and shut down in the midst of work: none is lost.
. "${0%/*}/lib.sh"
requires_root
requires_package python3 python3
requires_package nginx nginx-light
requires_package redis-server redis-server
requires_package gunicorn gunicorn
requires_package curl curl
postgres=$(find /usr/lib/postgresql/*/bin/postgres 2>/dev/null | sort -V | tail -n 1)
[ -n "$postgres" ] || skip_all "package postgresql"
PATH=${postgres%/*}:$PATH

run=$dir/run
mkdir -m 755 "$run" "$dir/redis"
install -d -o postgres -m 700 "$dir/database"
chown postgres "$run"
as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
sql() { psql -h "$run" -U postgres -qtAX -c "$1" postgres; }
store() { redis-cli -s "$run/redis" "$@"; }

# The programs of the services.  Work that is blocked goes on once its pipe block-NAME is removed.
cat >"$dir/app.py" <<'END'
import os, socket, subprocess
def store(command):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(os.environ["STORE"])
        s.sendall(command.encode() + b"\r\n")
        return s.makefile().readline()
def application(environ, start_response):
    if environ["PATH_INFO"] == "/slow":
        open(os.environ["WORK"] + "/slow-began", "w").close()
        with open(os.environ["WORK"] + "/block-slow") as pipe:
            pipe.read()
        subprocess.run(["psql", "-h", os.environ["RUN"], "-U", "postgres", "-qX", "-c",
                        "INSERT INTO work VALUES ('slow request')", "postgres"], check=True)
    store("INCR requests")
    body = f"served by {os.getpid()} of {os.environ['VERSION']}\n".encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
END
cat >"$dir/job" <<END
#!/bin/bash
trap '' TERM
[ ! -p $dir/block-job ] || { echo blocked; read -r _ <$dir/block-job; }
exec psql -h $run -U postgres -qX -c "INSERT INTO work VALUES ('job')" postgres
END
chmod 755 "$dir/job"
cat >"$dir/nginx.conf" <<END
daemon off;
user root;
error_log stderr warn;
pid $run/nginx.pid;
events { worker_connections 512; }
http {
	access_log off;
	$(nginx_folders "$dir")
	upstream app { $(printf "server unix:$run/app-%s max_fails=0; " 1 2 3) }
	server {
		listen 127.0.0.1:8080;
		location / { proxy_pass http://app; proxy_next_upstream off; }
	}
}
END

# Of gunicorn's workers those of class sync lose nothing: a stop of one with threads resets connections that it has
# accepted and not begun to answer (gunicorn 23).  Its master may fail, and wait for 30 seconds, when it logs the end
# of a worker in the middle of another line (gunicorn 20).
tree() { # VERSION [LINE-OF-THE-JOB]
	cat <<-END
	[swansong]
	shutdown-timeout = 60s
	state = $dir/state

	[data/postgres]
	command = $postgres -D $dir/database -k $run -c listen_addresses= -c dynamic_shared_memory_type=mmap
	user = postgres
	stop-signal = INT
	ready = exec:${postgres%/*}/pg_isready -q -h $run

	[data/redis]
	command = redis-server --port 0 --unixsocket $run/redis --dir $dir/redis --appendonly yes
	ready = unix:$run/redis

	[migrate]
	command = ${postgres%/*}/psql -h $run -U postgres -qX -c "CREATE TABLE IF NOT EXISTS work (what text)" postgres
	type = oneshot
	requires = data/postgres

	[app@]
	instances = 3
	command = gunicorn --log-level error --workers 4 --timeout 0 --graceful-timeout 30 --chdir $dir app
	listen = unix:$run/app-%i
	environment = VERSION=$1 STORE=$run/redis RUN=$run WORK=$dir PATH=$PATH
	requires = data migrate
	ready = notify
	stop-timeout = 40s
	restart = always

	[nginx]
	command = nginx -e stderr -p $dir -c $dir/nginx.conf
	wants = app@
	after = app@
	ready = tcp:127.0.0.1:8080
	stop-signal = QUIT
	stop-timeout = 40s

	[job]
	command = $dir/job
	schedule = 300ms
	requires = data/postgres migrate
	stop-timeout = 40s
	${2:-}

	[admin]
	command = $top_builddir/contrib/examples/http-server
	listen = tcp:127.0.0.1:8090
	autostart = on-demand
	idle-timeout = 500ms
	ready = notify
	END
}

# The load, in the background: it counts, and prints a line for each 200 answers.
answered_more_than() { [ "$(grep -c ^answered "$dir/load")" -gt "$1" ]; } # N
more_answers() { wait_for 60 answered_more_than "$(grep -c ^answered "$dir/load")" || die "there are answers"; }
begin_load() {
	: >"$dir/load"
	"$helpers/http-load" 8080 40 300 >"$dir/load" &
	asking=$!
	cleanup_fn end_process "$asking"
	more_answers
}
end_load() { # sets $counts, and adds to $answered
	more_answers
	kill -TERM "$asking"
	wait_for 60 gone "$asking" || die "the load ends"
	counts=" $(tail -n 1 "$dir/load") "
	echo "$counts" | comment
	answered=$((answered + $(count answered)))
}
count() { # NAME
	local after=${counts#* "$1"=}
	echo "${after%% *}"
}
answered=0
serves() { curl -s --max-time 5 http://127.0.0.1:8080/ >"$dir/served" && answered=$((answered + 1)); }

# --- From nothing --------------------------------------------------------------------------------

as_postgres initdb -D "$dir/database" -U postgres -A trust --no-sync >"$dir/initdb" 2>&1 || die "there is a database"
tree one | config
ok "the tree is valid" "$swansongctl" check "$ini"
start_daemon
ok "it starts from nothing" ctl wait --for ready --timeout 60s
ok "in the order of the needs" in_order 'data/postgres: .* -> up' 'migrate: started' 'migrate: .* -> done' \
	'app@1: started' 'nginx: started'
ok "it serves" serves
like "with the application" "$(cat "$dir/served")" 'of one$'
jobs_done() { [ "$(sql "SELECT count(*) FROM work WHERE what = 'job'")" -ge "$1" ]; } # NUMBER
ok "the job runs" wait_for 20 jobs_done 2
is "the administration page has no process" "$(pid_of admin)" null
like "until it is asked" "$(curl -s --max-time 20 http://127.0.0.1:8090/)" 'served by'
no_process() { [ "$(pid_of "$1")" = null ]; } # NODE
ok "and again after a while" wait_for 20 no_process admin

# --- Under load ----------------------------------------------------------------------------------

begin_load
pids() { for i in 1 2 3; do pid_of "app@$i"; done | paste -sd ' '; }
before=$(pids) redis=$(pid_of data/redis)
tree two | config
ok "a rollout of another version" "$swansongctl" rollout app@ --settle 200ms --timeout 120s
is "replaces each instance" "$(comm -12 <(tr ' ' '\n' <<<"$before" | sort) <(pids | tr ' ' '\n' | sort))" ''
is "and nothing else" "$(pid_of data/redis)" "$redis"
more_answers
before=$(pids)
tree two 'schedule-jitter = 10ms' | config
ok "a reload of the daemon" ctl reload
ok "and of the application" ctl reload 'app@*'
more_answers
is "replaces no instance" "$(pids)" "$before"
end_load
is "no request is lost" "$(count failed)" 0
is "each has its answer" "$(count answered)" "$(count requests)"
is "and each was counted, once" "$(store GET requests)" "$answered"

# --- A shutdown in the midst of work -------------------------------------------------------------

ok "so far nothing was killed" not says "$log" 'killing|forced'
mkfifo "$dir/block-slow" "$dir/block-job"
curl -s --max-time 60 http://127.0.0.1:8080/slow >"$dir/slow" &
slow=$!
ok "a slow request is under way" wait_for 20 test -e "$dir/slow-began"
ok "and a job" wait_for 20 says "$log" 'job +\| blocked'
: >"$log"
ctl shutdown --no-wait -q
ok "the shutdown waits" wait_for 20 says "$log" 'nginx: SIGQUIT'
guards=$(ctl guards)
like "for the web server" "$guards" 'nginx +process'
like "and the job" "$guards" 'job +process'
jobs=$(sql "SELECT count(*) FROM work WHERE what = 'job'")
: >"$dir/block-slow"
: >"$dir/block-job"
await_daemon 60
is "it is graceful" "$status" 0
wait "$slow"
like "the slow request has its answer" "$(cat "$dir/slow")" 'served by [0-9]+ of two'
answered=$((answered + 1))
ok "the services end before the ones that they require" in_order 'nginx: .* -> down' 'app@1: .* -> down' 'data/postgres: SIGINT'
ok "none by force" not says "$log" 'killing|forced'

# --- Again ---------------------------------------------------------------------------------------

rm "$dir/block-slow" "$dir/block-job"
: >"$log"
start_daemon
ok "it starts again" ctl wait --for ready --timeout 60s
is "with the work of the slow request" "$(sql "SELECT count(*) FROM work WHERE what = 'slow request'")" 1
ok "and of the job" jobs_done $((jobs + 1))
is "and with every request counted" "$(store GET requests)" "$answered"
stop_daemon 60
is "and ends" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
finish
