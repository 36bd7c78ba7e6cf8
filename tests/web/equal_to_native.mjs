// SPDX-License-Identifier: MIT
// equal_to_native.mjs PACKAGE PROGRAM FILE...: every document of the package is that of the program, a file that the
// program refuses is refused with the same code, and no file takes more memory than it should.
import {execFileSync} from 'node:child_process';
import {isDeepStrictEqual} from 'node:util';
import {statSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

const [folder, program, ...files] = process.argv.slice(2);
const {open, check, parseJson, IngotError} = await import(pathToFileURL(`${folder}/index.js`).href);

let failures = 0;
function complain(file, what) {
  ++failures;
  if (failures <= 40) console.log(`${file}: ${what}`);
}

function native(command, file) {
  const options = {encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']};
  try {
    return parseJson(execFileSync(program, [command, file, '--json', '--io', 'read'], options));
  } catch (error) { // the status says "no", or that the file is refused
    return error.stdout ? parseJson(error.stdout) : {nothing: true};
  }
}

function difference(a, b, place = '') {
  if (isDeepStrictEqual(a, b)) return '';
  if (a && b && typeof a === 'object' && typeof b === 'object') {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const inner = difference(a[key], b[key], `${place}.${key}`);
      if (inner) return inner;
    }
  }
  const short = (value) => (JSON.stringify(value, (_, v) => typeof v === 'bigint' ? `${v}n` : v) ?? 'nothing').slice(0, 100);
  return `${place}: ${short(a)}, natively ${short(b)}`;
}

async function compare(file) {
  const wanted = native('show', file);
  let model;
  try {
    model = await open(file);
  } catch (error) {
    if (!(error instanceof IngotError)) throw error;
    const rule = wanted.error?.rule;
    if (rule !== error.code) complain(file, `open: ${error.code} (${error.message}), natively ${rule ?? 'opens'}`);
  }
  const checked = difference(await check(file), native('check', file));
  if (checked) complain(file, `check${checked}`);
  if (!model) return;
  if (wanted.error) complain(file, `opens, natively ${wanted.error.rule}`);
  for (const name of ['show', 'metadata', 'tensors', 'fit', 'anatomy']) {
    const expected = name === 'show' ? wanted : native(name, file);
    try {
      const found = difference(await model.json(name), expected);
      if (found) complain(file, name + found);
    } catch (error) {
      if (!expected.nothing) complain(file, `${name}: ${error.message}`);
    }
  }
  await model.close();
}

for (const file of files) {
  if (statSync(file).isFile()) await compare(file).catch((error) => complain(file, error.stack));
}
console.log(`${files.length} files, ${failures} differences`);
process.exit(failures === 0 ? 0 : 1);
