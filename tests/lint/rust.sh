#!/bin/sh
# The declarations for Rust are those of the library, and programs that use them work.
. "${0%/*}/lib.sh"
libs=$top_builddir/src/swansong/.libs
crate=$top_srcdir/contrib/rust/swansong-sys

declares_all() {
	grep -o 'swansong_[a-z_]*[a-z];' "$top_srcdir/src/swansong/libswansong.sym" | tr -d ';' |
		sort >"$dir/library"
	sed -n 's/.*pub fn \(swansong_[a-z_]*\)(.*/\1/p' "$crate/src/lib.rs" | sort >"$dir/crate"
	diff "$dir/library" "$dir/crate"
}

versions_agree() {
	grep -x "version = \"$(sed -n 's/#define SWANSONG_VERSION "\(.*\)"/\1/p' \
		"$top_srcdir/src/swansong/version.h")\"" "$crate/Cargo.toml"
}

compile() { # TYPE [ARGUMENT...]: without a registry, and so without cargo
	rustc --edition 2021 -D warnings -L "$libs" -L "$dir" --out-dir "$dir" "$@"
}

run() {
	LD_LIBRARY_PATH=$libs timeout 60 "$dir/promises"
}

try "each function is declared" declares_all
try "the crate has the version of the library" versions_agree
if ! command -v rustc >/dev/null; then
	skip "the declarations are those of the library" "package rustc"
elif grep -q -e __asan_init -e __tsan_init -e __ubsan_handle "$libs/libswansong.so"; then
	skip "the declarations are those of the library" "machine: a program from outside has no sanitizer"
else
	try "the crate is compiled" compile --crate-type rlib --crate-name swansong_sys "$crate/src/lib.rs"
	try "so are its tests" compile --test --extern swansong_sys="$dir/libswansong_sys.rlib" \
		"$crate/tests/promises.rs"
	try "and its build script" compile "$crate/build.rs"
	try "the declarations are those of the library" run
fi
finish
