// SPDX-License-Identifier: MIT
// node bench_engines.mjs llama.cpp MODEL TEXT... | hugging-face TOKENIZER.json TEXT...
// What bench_tokenizer prints, of the engines that bench/install_engines installs.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const [engine, model, ...files] = process.argv.slice(2);
const modules = process.env.INGOT_ENGINES ?? path.join(import.meta.dirname, '../build/engines');
const require = createRequire(path.join(path.resolve(modules), 'x.js'));
let count;
if (engine === 'llama.cpp') {
  const { loadModel } = require('@fugood/llama.node');
  const context = await loadModel({ model, vocab_only: true, n_ctx: 64, n_gpu_layers: 0 });
  count = async (text) => (await context.tokenize(text)).tokens.length;
} else {
  const tokenizer = require('@anush008/tokenizers').Tokenizer.fromString(fs.readFileSync(model, 'utf8'));
  count = async (text) => (await tokenizer.encode(text, null, { addSpecialTokens: false })).getLength();
}
const texts = [];
for (const file of files) {
  const text = fs.readFileSync(file, 'utf8');
  let ms = Infinity, ids = 0;
  for (let run = 0; run < 3; ++run) {
    const start = process.cpuUsage();
    ids = await count(text);
    const used = process.cpuUsage(start);
    ms = Math.min(ms, (used.user + used.system) / 1000);
  }
  texts.push({ ms, ids });
}
fs.writeSync(1, JSON.stringify({ texts }) + '\n');
process.exit(0);
