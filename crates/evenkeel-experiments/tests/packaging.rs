//! A packaged crate can be built: the data that its build script packs lie inside the package.

use std::process::Command;

#[test]
fn the_package_holds_the_data_that_ship() {
    let listed = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let files = String::from_utf8(listed.stdout).unwrap();
    for file in [
        "build.rs",
        "data/demo/calibration_probs.npy",
        "data/demo/fog_3_unlabeled.npy",
        "data/classifier.safetensors",
    ] {
        assert!(files.lines().any(|line| line == file), "{file} is missing");
    }
}
