#!/bin/sh
# A compiler for cargo (RUSTC_WORKSPACE_WRAPPER): counts which code is reached, as cargo-fuzz does without a sanitizer, so that no nightly
# compiler is needed. A broken assertion is a finding. Cargo knows this file by its name only: after a change of it touch the sources.
case " $* " in
*" build_script_build "* | *" --crate-name ___ "*) exec "$@" ;;
esac
exec "$@" --cfg fuzzing -Cdebug-assertions=on -Copt-level=2 -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table
