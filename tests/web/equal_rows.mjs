// SPDX-License-Identifier: MIT
// equal_rows.mjs PACKAGE PROGRAM: blocks of random bytes of every type are decoded as by the program.
import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {madeFile} from './made_file.mjs';

const [folder, program] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${folder}/${name}.js`).href);
const {open} = await load('index');
const huggingface = await load('huggingface');
const work = mkdtempSync(join(tmpdir(), 'rows-'));
const file = join(work, 'model.gguf');

let state = 1; // of a generator of Park and Miller
const randomByte = () => (state = state * 48271 % 0x7fffffff) >>> 8 & 255;

let failures = 0;
const types = JSON.parse(execFileSync(program, ['types', '--json'], {encoding: 'utf8'}));
for (const type of types) {
  const columns = Math.max(256, type.block_elements);
  const data = Uint8Array.from({length: 8 * columns / type.block_elements * type.block_bytes}, randomByte);
  writeFileSync(file, madeFile(huggingface, {}, [columns, 8], {typeId: type.id, data}));
  const wanted = new Float32Array(
    new Uint8Array(execFileSync(program, ['extract', file, 'counts', '--as', 'f32', '-o', '-', '--quiet'])).buffer);
  const model = await open(file);
  const found = await model.tensor('counts').rows();
  await model.close();
  const wrong = found.findIndex((value, i) => !Object.is(value, wanted[i]));
  if (wrong >= 0 || found.length !== 8 * columns) {
    ++failures;
    console.log(`${type.type}: weight ${wrong} is ${found[wrong]}, natively ${wanted[wrong]}`);
  }
}
rmSync(work, {recursive: true});
console.log(`${types.length} types, ${failures} differences`);
process.exit(failures === 0 ? 0 : 1);
