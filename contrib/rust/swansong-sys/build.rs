//! Asks pkg-config where libswansong is; SWANSONG_LIB_DIR names a folder instead.
use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=SWANSONG_LIB_DIR");
    println!("cargo:rustc-link-lib=swansong");
    if let Ok(dir) = env::var("SWANSONG_LIB_DIR") {
        println!("cargo:rustc-link-search=native={dir}");
        return;
    }
    let output = Command::new("pkg-config")
        .args(["--variable=libdir", "libswansong"])
        .output()
        .expect("pkg-config cannot be run: install it, or set SWANSONG_LIB_DIR");
    if !output.status.success() {
        panic!("libswansong was not found by pkg-config: install it, or set SWANSONG_LIB_DIR");
    }
    let dir = String::from_utf8(output.stdout).expect("a folder in UTF-8");
    println!("cargo:rustc-link-search=native={}", dir.trim());
}
