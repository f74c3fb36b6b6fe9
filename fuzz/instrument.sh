#!/bin/sh
# Wraps the compiler for the crates of the workspace (RUSTC_WORKSPACE_WRAPPER): adds libFuzzer's coverage counters, as cargo-fuzz does
# without a sanitizer, which needs no nightly compiler, and turns assertions on. Cargo does not notice a change of this file: touch the
# sources then.
case " $* " in
*" build_script_build "* | *" --crate-name ___ "*) exec "$@" ;;
esac
exec "$@" --cfg fuzzing -Cdebug-assertions=on -Copt-level=2 -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table
