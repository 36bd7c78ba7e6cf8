#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# parallel.sh PLAN [PARALLEL-OPTION...]: runs what `ingot plan-work` has printed by GNU parallel, here or on the
# machines of --sshlogin, and joins it. A task that fails is tried again twice; call it again after failures, and
# only what is missing runs.
#
#   parallel.sh work.json --jobs 1 --sshlogin a,b,c --workdir .
set -euo pipefail
(($# >= 1)) || { echo "usage: $0 PLAN [PARALLEL-OPTION...]" >&2; exit 2; }
plan=$1
shift

ingot run-work "$plan" --missing |
  parallel --retries 3 "$@" ingot run-work "$(printf %q "$plan")" --task {} >&2
ingot run-work "$plan" --join
