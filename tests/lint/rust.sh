#!/bin/sh
# The crates for Rust: the declarations are those of the library, and the safe one keeps its promises.
. "${0%/*}/lib.sh"
hold_libraries -s
libs=$top_builddir/src/swansong/.libs
crate=$top_srcdir/contrib/rust/swansong-sys
safe=$top_srcdir/contrib/rust/swansong
registry=/usr/share/cargo/registry # of Debian

declares_all() {
	grep -o 'swansong_[a-z_]*[a-z];' "$top_srcdir/src/swansong/libswansong.sym" | tr -d ';' |
		sort >"$dir/library"
	sed -n 's/.*pub fn \(swansong_[a-z_]*\)(.*/\1/p' "$crate/src/lib.rs" | sort >"$dir/crate"
	diff "$dir/library" "$dir/crate"
}

versions_agree() {
	version=$(sed -n 's/#define SWANSONG_VERSION "\(.*\)"/\1/p' "$top_srcdir/src/swansong/version.h")
	grep -x "version = \"$version\"" "$crate/Cargo.toml" && grep -x "version = \"$version\"" "$safe/Cargo.toml"
}

compile() { # TYPE [ARGUMENT...]: without a registry, and so without cargo
	rustc --edition 2021 -D warnings -L "$libs" -L "$dir" --out-dir "$dir" "$@"
}

run() { # [PROGRAM]
	LD_LIBRARY_PATH=$libs timeout 60 "$dir/${1:-promises}"
}

crate_of() { # NAME: its file in the registry
	set -- "$registry/$1"-[0-9]*/src/lib.rs
	[ -f "$1" ] && echo "$1"
}

# The traits of streams and readers are in two crates without dependencies.
compile_traits() {
	for name in core io; do
		compile --crate-type rlib --crate-name futures_$name --cap-lints allow --cfg 'feature="std"' \
			--cfg 'feature="alloc"' "$(crate_of futures-$name)" || return
	done
}

# With its executor of one thread, and the pipes of its tests.
compile_tokio() {
	set --
	for name in pin-project-lite bytes memchr; do
		file=$(crate_of $name) || continue # a later tokio needs fewer
		name=$(echo $name | tr - _)
		compile --crate-type rlib --crate-name "$name" --cap-lints allow --cfg 'feature="std"' "$file" || return
		set -- "$@" --extern "$name=$dir/lib$name.rlib"
	done
	compile --crate-type rlib --crate-name tokio --cap-lints allow --cfg 'feature="rt"' --cfg 'feature="io-util"' \
		"$@" "$(crate_of tokio)"
}

compile_safe_with_tokio() {
	set -- --cfg 'feature="tokio"' --extern tokio="$dir/libtokio.rlib"
	compile_safe "$@" &&
		compile --test --extern swansong="$dir/libswansong.rlib" "$@" "$safe/tests/tokio.rs"
}

# The program of swansong-event-loops(7).
runs_page() {
	awk -v file="$dir/page.rs" '
		/^\/\/ tokio/ { in_block = 1 }
		/^\.Ed/ { in_block = 0 }
		in_block { print >file }' "$top_srcdir/man/swansong-event-loops.7"
	compile --extern swansong="$dir/libswansong.rlib" --extern tokio="$dir/libtokio.rlib" "$dir/page.rs" &&
		run page >"$dir/printed" && [ "$(cat "$dir/printed")" = "stopped
complete" ]
}

compile_safe() { # [ARGUMENT...]: the crate, and its tests
	compile --crate-type rlib --crate-name swansong --extern swansong_sys="$dir/libswansong_sys.rlib" "$@" \
		"$safe/src/lib.rs" &&
		compile --test --extern swansong="$dir/libswansong.rlib" "$@" "$safe/tests/promises.rs"
}

awaits_a_node() {
	cat >"$dir/await.rs" <<-'END'
		pub async fn end(swansong: swansong::Swansong) {
			swansong.await
		}
	END
	compile_safe --cfg 'feature="into-future"' &&
		compile --crate-type rlib --extern swansong="$dir/libswansong.rlib" "$dir/await.rs"
}

if is_unchanged "$libs"/*.so "$top_srcdir"/src/swansong/*.h "$top_srcdir/contrib/rust" \
	"$top_srcdir/man/swansong-event-loops.7" "$registry" "$(command -v rustc)"; then
	try "nothing has changed since it passed" true
	finish
	exit
fi
try "each function is declared" declares_all
try "the crate has the version of the library" versions_agree
if ! command -v rustc >/dev/null; then
	skip "the declarations are those of the library" "package rustc"
elif has_sanitizer; then
	skip "the declarations are those of the library" "machine: a program from outside has no sanitizer"
else
	try "the crate is compiled" compile --crate-type rlib --crate-name swansong_sys "$crate/src/lib.rs"
	try "so are its tests" compile --test --extern swansong_sys="$dir/libswansong_sys.rlib" \
		"$crate/tests/promises.rs"
	try "and its build script" compile "$crate/build.rs"
	try "the declarations are those of the library" run
	try "the safe crate is compiled" compile_safe
	try "it keeps its promises" run
	if crate_of futures-io >/dev/null; then
		try "the traits of streams and readers are compiled" compile_traits
		try "so is the safe crate with them" compile_safe --cfg 'feature="futures-core"' --cfg 'feature="futures-io"' \
			--extern futures_core="$dir/libfutures_core.rlib" --extern futures_io="$dir/libfutures_io.rlib"
		try "it keeps its promises with them" run
	else
		skip "the safe crate has streams and readers" "package librust-futures-io-dev"
	fi
	if crate_of tokio >/dev/null; then
		try "tokio is compiled" compile_tokio
		try "so is the safe crate with it" compile_safe_with_tokio
		try "readers, writers and tasks of tokio keep its promises" run tokio
		try "the program of swansong-event-loops(7) stops, and then is complete" runs_page
	else
		skip "readers, writers and tasks of tokio" "package librust-tokio-dev"
	fi
	if rustc --version | grep -q ' 1\.[0-5][0-9]\.\| 1\.6[0-3]\.'; then
		skip "a node can be awaited" "machine: rustc is older than 1.64"
	else
		try "a node can be awaited" awaits_a_node
	fi
fi
passed
finish
