#!/bin/bash
# SPDX-License-Identifier: MIT
# web.sh PROGRAM: the npm package that scripts/web made gives what the program gives, and can be installed.
set -euo pipefail
program=$(realpath "$1")
package=$PWD/build/web/ingot-gguf
if ! command -v node > /dev/null || [[ ! -f $package/ingot-full.wasm ]]; then
  echo "skipped: there is no node, or scripts/web was not run"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for architecture in llama qwen3 gemma3 bert; do
  "$program" sample "$folder/$architecture.gguf" --architecture "$architecture" --quiet
done
head -c 3000 "$folder/llama.gguf" > "$folder/cut.gguf"
echo "no model" > "$folder/text.gguf"
node tests/web/equal_to_native.mjs "$package" "$program" "$folder"/*.gguf
node tests/web/equal_rows.mjs "$package" "$program"
node tests/web/behaviour.mjs "$package" "$folder/llama.gguf"

# In a project of its own, by the name that users write.
mkdir "$folder/project"
cd "$folder/project"
echo '{"type": "module", "private": true}' > package.json
npm install --no-audit --no-fund --offline "$(npm pack --silent --pack-destination "$folder" "$package" | sed "s|^|$folder/|")" > /dev/null
cat > example.js <<'EXAMPLE'
import {open} from 'ingot-gguf';
const model = await open(process.argv[2]);
console.log(model.metadata.get('general.architecture'));
const tensor = model.tensor('token_embd.weight');
console.log((await tensor.rows(0, 2)).length === 2 * tensor.shape[0]);
const ids = await model.tokenizer.encode('Hello');
console.log((await model.tokenizer.decode(ids, {removeSpecial: true})).trim());
await model.close();
EXAMPLE
node example.js "$folder/llama.gguf"
