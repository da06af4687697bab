#!/bin/bash
# Six set-ups as people have them, moved by the converter: each comes up, works under load, and is stopped in the midst
# of it.  Every request that was begun gets its answer, every job that was begun is done, every write that redis has
# confirmed is there afterwards, and nothing is killed.
. "${0%/*}/lib.sh"
requires_root
requires_package python3 python3
requires_package nginx nginx-light
requires_package redis-server redis-server
requires_package gunicorn gunicorn
export PYTHONDONTWRITEBYTECODE=1
convert=$(realpath "$top_srcdir")/contrib/convert/swansong-convert
chmod 755 "$dir"

# An application whose answers take a while, and a worker with jobs that take longer than one: it ends after its job.
cat >"$dir/app.py" <<'END'
import os, time
def app(environ, start_response):
    time.sleep(0.1)
    body = f"served by {os.getpid()}\n".encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
END
cat >"$dir/worker" <<'END'
#!/usr/bin/env python3
import os, pathlib, signal, sys, time
ends = []
signal.signal(signal.SIGTERM, lambda *_: ends.append(1))
jobs, n = pathlib.Path(sys.argv[1]), 0
while not ends:
    n += 1
    name = f"{os.getpid()}-{n}"
    (jobs / f"begun-{name}").touch()
    until = time.monotonic() + 1
    while time.monotonic() < until:
        time.sleep(max(0, until - time.monotonic()))
    (jobs / f"done-{name}").touch()
END
# Writes as fast as each write is confirmed, and prints how many were.
cat >"$dir/writer" <<'END'
#!/usr/bin/env python3
import socket, sys
n = 0
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
    answers = s.makefile("rb")
    try:
        while True:
            s.sendall(b"INCR moved\r\n")
            if not answers.readline().startswith(b":"):
                break
            n += 1
            if n == 100:
                print("writes", flush=True)
    except OSError:
        pass
print(n, flush=True)
END
chmod 755 "$dir/worker" "$dir/writer"
nginx_conf=$dir/nginx.conf
cat >"$nginx_conf" <<END
daemon off;
error_log stderr warn;
pid $dir/nginx.pid;
events { worker_connections 512; }
http {
	access_log off;
	$(nginx_folders "$dir")
	server {
		listen 127.0.0.1:8080;
		location / { return 200 "served by 1\n"; }
	}
}
END
web="gunicorn --log-level error --workers 8 --graceful-timeout 30 --bind 127.0.0.1:8080 --chdir $dir app:app"
store="redis-server --port 6380 --bind 127.0.0.1 --appendonly yes --appendfsync always --dir $dir/store"

has_begun() { compgen -G "$dir/jobs/begun-*" >/dev/null; }
has_answers() { grep -q ^answered "$dir/load"; }
answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; } # PORT
has_writes() { [ "$(redis-cli -p "$1" get moved)" -ge "$2" ]; } # PORT LEAST; not while it loads them
is_done() { [ ! -e "$1" ] || [ -e "${1/begun/done}" ]; } # begun-JOB

# The set-up of $ini, which has a web server, may have workers, and a store unless that is ''.
moves() { # NAME PORT-OF-THE-WEB PORT-OF-THE-STORE
	local job lost='' confirmed
	ok "$1: the result is valid" ctl check "$ini"
	: >"$log"
	start_daemon
	wait_for 60 answers "$2" || die "$1: the web answers"
	[ -z "$3" ] || wait_for 60 answers "$3" || die "$1: the store answers"
	: >"$dir/load"
	"$helpers/http-load" "$2" 8 300 >"$dir/load" &
	load=$!
	cleanup_fn end_process "$load"
	if [ -n "$3" ]; then
		: >"$dir/writes"
		"$dir/writer" "$3" >"$dir/writes" &
		cleanup_fn end_process $!
		wait_for 60 grep -q writes "$dir/writes" || die "$1: the store takes writes"
	fi
	wait_for 60 has_answers || die "$1: there are answers"
	[ "$1" = systemd ] || wait_for 60 has_begun || die "$1: there are jobs"
	# Nothing more is asked, and what was asked is under way.
	kill -TERM "$load"
	stop_daemon 60
	is "$1: it stops" "$status" 0
	wait_for 60 gone "$load" || die "$1: the load ends"
	like "$1: each request has its answer" " $(tail -n 1 "$dir/load") " ' failed=0 '
	ok "$1: nothing is killed" not says "$log" 'SIGKILL|forced'
	for job in "$dir"/jobs/begun-*; do
		is_done "$job" || lost+=" ${job##*/}"
	done
	is "$1: each job that was begun is done" "$lost" ''
	if [ -n "$3" ]; then
		confirmed=$(tail -n 1 "$dir/writes")
		start_daemon
		wait_for 60 answers "$3" || die "$1: the store is there again"
		ok "$1: each write that was confirmed is there" wait_for 20 has_writes "$3" "$confirmed"
		stop_daemon 60
	fi
	rm -rf "$dir/jobs" "$dir/store"
	mkdir -m 1777 "$dir/jobs" "$dir/store"
}
mkdir -m 1777 "$dir/jobs" "$dir/store"

# --- The units of a distribution ------------------------------------------------------------------

# As they are installed, with the folders that their packages make, and no trace on the machine.
mount -t tmpfs tmpfs /var/lib && mount -t tmpfs tmpfs /var/log && mkdir -p /var/lib/nginx /var/log/nginx
install -d -o redis -g redis /var/lib/redis /var/log/redis
mkdir "$dir/sites"
printf 'server { listen 80; location / { return 200 "served by 1\\n"; } }\n' >"$dir/sites/default"
mount --bind "$dir/sites" /etc/nginx/sites-enabled
"$convert" systemd -o "$ini" nginx.service redis-server.service 2>"$dir/err"
[ -e "$ini" ] || skip_all "package nginx-light"
moves systemd 80 6379

# --- supervisord ----------------------------------------------------------------------------------

cat >"$dir/supervisord.conf" <<END
[program:web]
command=$web
stopwaitsecs=40
[program:worker]
command=$dir/worker $dir/jobs
numprocs=2
process_name=%(program_name)s_%(process_num)02d
stopwaitsecs=40
[group:app]
programs=web,worker
END
"$convert" supervisord -o "$ini" "$dir/supervisord.conf" 2>"$dir/err"
moves supervisord 8080 ''

# --- A Procfile -----------------------------------------------------------------------------------

printf 'web: %s\nworker: %s\n' "$web" "$dir/worker $dir/jobs" >"$dir/Procfile"
"$convert" procfile -o "$ini" "$dir/Procfile" 2>"$dir/err"
moves Procfile 8080 ''

# --- runit ----------------------------------------------------------------------------------------

mkdir -p "$dir/service"/{web,worker}
printf '#!/bin/sh\nexec 2>&1\nexec %s\n' "$web" >"$dir/service/web/run"
printf '#!/bin/sh\nexec 2>&1\nexec %s\n' "$dir/worker $dir/jobs" >"$dir/service/worker/run"
chmod 755 "$dir/service"/*/run
"$convert" runit -o "$ini" "$dir/service" 2>"$dir/err"
moves runit 8080 ''

# --- s6-rc ----------------------------------------------------------------------------------------

for service in store web worker; do
	mkdir -p "$dir/s6/$service"
	echo longrun >"$dir/s6/$service/type"
done
printf '#!/bin/sh\nexec %s\n' "$store" >"$dir/s6/store/run"
printf '#!/bin/sh\nexec %s\n' "$web" >"$dir/s6/web/run"
printf '#!/bin/sh\nexec %s\n' "$dir/worker $dir/jobs" >"$dir/s6/worker/run"
echo store >"$dir/s6/web/dependencies"
chmod 755 "$dir/s6"/*/run
"$convert" s6-rc -o "$ini" "$dir/s6" 2>"$dir/err"
moves s6-rc 8080 6380

# --- compose --------------------------------------------------------------------------------------

cat >"$dir/compose.yaml" <<END
services:
  store:
    image: redis:7
    command: $store
    stop_grace_period: 30s
    healthcheck:
      test: ["CMD", "redis-cli", "-p", "6380", "ping"]
      interval: 1s
  web:
    image: nginx:1
    command: nginx -e stderr -p $dir -c $nginx_conf
    stop_signal: SIGQUIT
    stop_grace_period: 40s
    depends_on:
      store:
        condition: service_healthy
  worker:
    image: worker:1
    command: $dir/worker $dir/jobs
    stop_grace_period: 40s
END
"$convert" compose -o "$ini" "$dir/compose.yaml" 2>"$dir/err"
moves compose 8080 6380
finish
