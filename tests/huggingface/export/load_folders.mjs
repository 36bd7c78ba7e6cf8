// SPDX-License-Identifier: MIT
// node load_folders.mjs MODULES FOLDER [ORIGINAL]
//
// Loads the configuration and the tokenizer of a model folder with transformers.js (npm package
// @huggingface/transformers below MODULES), and compares the ids of some texts with those of the
// folder that the model was imported from. Fails if they differ. A trial by hand; no test needs it.
import path from 'node:path';
import { createRequire } from 'node:module';

const [modules, folder, original] = process.argv.slice(2).map((name) => path.resolve(name));
const require = createRequire(path.join(modules, 'x.js'));
const { AutoConfig, AutoTokenizer, env } = require('@huggingface/transformers');
env.allowRemoteModels = false;
env.localModelPath = '';

const texts = ['Hello world', " The quick brown fox's jump, 123 4567!", 'F\u00FC\u00DFe \u2014 na\u00EFve \u65E5\u672C\u8A9E \u{1F999}',
  'def f(x):\n    return x + 1\n\n\n', '  two  spaces ', "I'm we'll DON'T", '\t\ttabs\r\n', ''];
const config = await AutoConfig.from_pretrained(folder);
const tokenizer = await AutoTokenizer.from_pretrained(folder);
console.log(`${folder}: ${config.model_type}, ${tokenizer.constructor.name}`);
if (original !== undefined) {
  const expected = await AutoTokenizer.from_pretrained(original);
  for (const text of texts) {
    const ids = [tokenizer, expected].map((one) => JSON.stringify(one.encode(text)));
    if (ids[0] === ids[1]) continue;
    console.log(`${JSON.stringify(text)}: ${ids[0]}, not ${ids[1]}`);
    process.exitCode = 1;
  }
}
