// SPDX-License-Identifier: MIT
// equal_to_huggingface.mjs PACKAGE REAL FILE...: ingot-gguf/huggingface gives what the package @huggingface/gguf gives.
// REAL is its folder.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {isDeepStrictEqual} from 'node:util';
import {pathToFileURL} from 'node:url';

const [folder, real, ...files] = process.argv.slice(2);
const ours = await import(pathToFileURL(`${folder}/huggingface.js`).href);
const theirs = await import(pathToFileURL(`${real}/dist/index.mjs`).href);

assert.deepEqual(Object.keys(ours).sort(), Object.keys(theirs).sort());
for (const name of ['GGUFValueType', 'GGMLQuantizationType', 'GGMLFileQuantizationType', 'GGUF_QUANT_ORDER', 'GGUF_QUANT_RE',
  'GGUF_QUANT_RE_GLOBAL', 'RE_GGUF_FILE', 'RE_GGUF_SHARD_FILE']) {
  assert.deepEqual(ours[name], theirs[name], name);
}
assert.deepEqual(Object.keys(ours.GGUF_QUANT_DESCRIPTIONS), Object.keys(theirs.GGUF_QUANT_DESCRIPTIONS));
for (const name of ['m-Q4_K_M.gguf', 'UD-Q4_K_XL', 'foo-f16.gguf', 'q4_0', 'Q4_0_4_4', 'x.Q8_0-Q4_0.gguf', 'mxfp4', 'none', 'BF16-00001-of-00002.gguf']) {
  assert.equal(ours.parseGGUFQuantLabel(name), theirs.parseGGUFQuantLabel(name), name);
  assert.deepEqual(ours.parseGgufShardFilename(name), theirs.parseGgufShardFilename(name), name);
}
for (const wanted of [...theirs.GGUF_QUANT_ORDER, 99]) {
  for (const available of [[], [7, 10], [24], [17, 14, 1003], [29, 7, 0]]) {
    assert.equal(ours.findNearestQuantType(wanted, available), theirs.findNearestQuantType(wanted, available));
  }
}

/** A value as the package reads it: without the mark U+FEFF that a text may begin with. */
function withoutMarks(value) {
  if (typeof value === 'string') return value.replace(/^\ufeff/, '');
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutMarks(one)]));
}

const all = {allowLocalFile: true, typedMetadata: true, computeParametersCount: true};
for (const file of files) {
  const [found, wanted] = [await ours.gguf(file, all), await theirs.gguf(file, all)];
  assert.ok(isDeepStrictEqual(withoutMarks(found), wanted), file);
  assert.deepEqual(Object.keys(found.metadata), Object.keys(wanted.metadata), file);
  for (const name of ['gguf', 'ggufAllShards']) {
    const results = await Promise.all([ours, theirs].map((package_) => package_[name](file, {allowLocalFile: true})));
    assert.ok(isDeepStrictEqual(...results.map(withoutMarks)), `${name} ${file}`);
  }
  const {typedMetadata, littleEndian, tensorInfoByteRange} = wanted;
  assert.deepEqual(ours.serializeGgufMetadata(typedMetadata, {littleEndian}),
    theirs.serializeGgufMetadata(typedMetadata, {littleEndian}), file);
  const blob = new Blob([readFileSync(file)]);
  const header = async (package_) => {
    const made = await package_.buildGgufHeader(blob, typedMetadata, {littleEndian, tensorInfoByteRange});
    return Buffer.from(await made.arrayBuffer());
  };
  assert.deepEqual(await header(ours), await header(theirs), file);
}
await assert.rejects(ours.gguf(files[0]));
console.log(`${files.length} files: as @huggingface/gguf`);
