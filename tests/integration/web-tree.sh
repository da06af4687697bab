# shellcheck shell=bash
# The tree that three tests run: nginx in front of a python worker in front of redis.  After lib.sh.

requires_web_tree() {
	requires_package nginx nginx-light
	requires_package redis-server redis-server
	[ -x /usr/bin/python3 ] || skip_all "package python3"
	requires_package curl curl
}

# Writes FOLDER/nginx.conf and prints the configuration of the tree.  STATE is the folder for their files.
web_tree() { # FOLDER [STATE]
	local state=${2:-$1}
	cat >"$1/nginx.conf" <<-END
	user root;
	worker_processes 1;
	pid $state/nginx.pid;
	error_log stderr notice;
	events { worker_connections 64; }
	http {
		access_log off;
		$(nginx_folders "$state")
		server {
			listen 127.0.0.1:8080;
			location / { proxy_pass http://127.0.0.1:8081; }
		}
	}
	END
	cat <<-END
	[data/redis]
	command = redis-server --bind 127.0.0.1 --port 6379 --save "" --appendonly no --dir $state
	ready = tcp:127.0.0.1:6379

	[web/worker]
	command = /usr/bin/python3 $top_srcdir/tests/helpers/worker.py 8081 6379
	requires = data/redis
	ready = tcp:127.0.0.1:8081

	[web/nginx]
	command = nginx -e stderr -c $1/nginx.conf -g "daemon off;"
	requires = web/worker
	ready = tcp:127.0.0.1:8080
	stop-signal = SIGQUIT
	END
}

# A slow request, in the background; await_answer gives its status and size as $answer.
ask_slowly() {
	curl -s -o "$dir/answer.body" -w '%{http_code} %{size_download}' \
		http://127.0.0.1:8080/slow >"$dir/answer" &
	asker=$!
	cleanup_fn end_process "$asker"
}

await_answer() {
	wait "$asker"
	# shellcheck disable=SC2034  # for the caller
	answer=$(cat "$dir/answer")
}
