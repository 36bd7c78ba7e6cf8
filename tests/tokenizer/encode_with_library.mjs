// SPDX-License-Identifier: MIT
// node encode_with_library.mjs native|js MODULES TOKENIZER.json < TEXTS > IDS
//
// TEXTS is a JSON list of strings; IDS has a pair for each: its ids without and with special tokens.
// native: npm package @anush008/tokenizers, the original library compiled; js: @huggingface/tokenizers.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const [kind, modules, file] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), 'x.js'));
const document = fs.readFileSync(file, 'utf8');
let encode;
if (kind === 'native') {
  const tokenizer = require('@anush008/tokenizers').Tokenizer.fromString(document);
  encode = async (text, special) =>
    Array.from((await tokenizer.encode(text, null, { addSpecialTokens: special })).getIds());
} else {
  const { Tokenizer } = require('@huggingface/tokenizers');
  const tokenizer = new Tokenizer(JSON.parse(document), { clean_up_tokenization_spaces: false });
  encode = async (text, special) =>
    Array.from(tokenizer.encode(text, { add_special_tokens: special }).ids);
}
const rows = [];
for (const text of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  rows.push([await encode(text, false), await encode(text, true)]);
}
process.stdout.write(JSON.stringify(rows));
