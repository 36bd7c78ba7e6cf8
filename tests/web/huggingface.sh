#!/bin/bash
# SPDX-License-Identifier: MIT
# huggingface.sh PROGRAM: ingot-gguf/huggingface gives what @huggingface/gguf gives, and the types of the package are strict.
# Both need packages of npm.
set -euo pipefail
program=$(realpath "$1")
package=$PWD/build/web/ingot-gguf
if ! command -v npm > /dev/null || [[ ! -f $package/ingot-full.wasm ]]; then
  echo "skipped: there is no npm, or scripts/web was not run"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp tests/web/uses_types.ts "$folder"
echo '{"type": "module", "private": true}' > "$folder/package.json"
# No scripts of others run.
if ! npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --fetch-retries 0 --fetch-timeout 20000 \
     @huggingface/gguf@0.4.6 typescript@5.9.3 > "$folder/npm.log" 2>&1; then
  tail -n 3 "$folder/npm.log"
  echo "skipped: npm does not give @huggingface/gguf"
  exit 77
fi
mkdir "$folder/models"
for architecture in llama qwen3 gemma3 bert; do
  "$program" sample "$folder/models/$architecture.gguf" --architecture "$architecture" --quiet
done
"$program" split "$folder/models/llama.gguf" "$folder/models/set" --max-tensors 3 --quiet
node tests/web/equal_to_huggingface.mjs "$package" "$folder/node_modules/@huggingface/gguf" "$folder"/models/*.gguf \
  "${INGOT_SHARED:-../shared}"/models/*.gguf

cp -r "$package" "$folder/node_modules/ingot-gguf"
cd "$folder"
node_modules/.bin/tsc --strict --noEmit --target es2022 --lib es2022,dom --module nodenext uses_types.ts
echo "the types are strict"
