//! A packaged command line can be built: what is compiled in lies inside the package.

use std::process::Command;

#[test]
fn the_package_holds_the_demo_data() {
    let listed = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let files = String::from_utf8(listed.stdout).unwrap();
    let source = include_str!("../../src/commands/demo.rs");
    assert!(source.contains("\"/data/demo/\""), "the data are compiled in from inside the package");
    for file in ["data/demo/calibration_probs.npy", "data/demo/fog_3_unlabeled.npy"] {
        assert!(files.lines().any(|line| line == file), "{file} is missing");
    }
}
