#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# slurm.sh PLAN [SBATCH-OPTION...]: runs what `ingot plan-work` has printed as an array job, and its join when all
# of that is done. Prints the number of the job that joins, which ends last and writes PLAN.joined. A task whose
# node is lost is put back; call it again after failures, and only what is missing runs.
#
#   ingot plan-work --jobs 8 -- quantize m-F16.gguf --to Q8_0 --to Q6_K --to-dir out >work.json
#   slurm.sh work.json --partition cpu --cpus-per-task 16 --mem 8G
#
# All nodes see this folder under the same name. An array has at most MaxArraySize tasks (1,000, unless the
# cluster says otherwise).
set -euo pipefail
(($# >= 1)) || { echo "usage: $0 PLAN [SBATCH-OPTION...]" >&2; exit 2; }
plan=$1
shift

# Jobs inherit the environment, so a PLAN may have any name.
export INGOT_PLAN=$plan
missing=$(ingot run-work "$plan" --missing | paste -sd,)
after=()
if [[ -n $missing ]]; then
  job=$(sbatch --parsable "$@" --array="$missing" --requeue --output="$plan.%a.log" \
    --wrap 'exec ingot run-work "$INGOT_PLAN" --task "$SLURM_ARRAY_TASK_ID"')
  after=(--dependency="afterok:${job%%;*}" --kill-on-invalid-dep=yes)
fi
sbatch --parsable "$@" "${after[@]}" --output="$plan.join.log" \
  --wrap 'ingot run-work "$INGOT_PLAN" --join >"$INGOT_PLAN.joined"'
