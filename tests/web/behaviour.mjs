// SPDX-License-Identifier: MIT
// behaviour.mjs PACKAGE MODEL: what the package does beside the documents. MODEL has a tokenizer.
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {CountingSource, madeFile} from './made_file.mjs';

const [folder, path] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${folder}/${name}.js`).href);
const {open, check, parseJson, IngotError} = await load('index');
const {Instance} = await load('instance');
const huggingface = await load('huggingface');
const string = (value) => ({value, type: huggingface.GGUFValueType.STRING});
const make = (keys, shape) => madeFile(huggingface, {'general.architecture': string('made'), ...keys}, shape);
const withCode = (code) => (error) => error instanceof IngotError && error.code === code;

test('an engine without vectors is named', async () => {
  const {validate} = WebAssembly;
  WebAssembly.validate = (bytes) => { assert.ok(validate(bytes)); return false; };
  try {
    const fresh = await import(`${pathToFileURL(`${folder}/instance.js`).href}?fresh`);
    await assert.rejects(fresh.load('core'), {name: 'IngotError', code: 'engine_unsupported'});
  } finally {
    WebAssembly.validate = validate;
  }
});

test('rows of a large tensor take few reads', async () => {
  const source = new CountingSource(make({}, [1024, 6000]));
  const model = await open(source);
  source.reads = 0;
  const rows = await model.tensor('counts').rows(10);
  assert.equal(rows.length, 1024 * 5990);
  assert.equal(rows.every((value, i) => value === 10240 + i), true);
  assert.ok(source.reads <= 2, `${source.reads} reads`);
});

test('calls at the same time keep their bytes', async () => {
  const source = new CountingSource(make({}, [1024, 600]));
  source.wait = () => new Promise((resolve) => setTimeout(resolve, 20 * Math.random()));
  const model = await open(source);
  const tensor = model.tensor('counts');
  source.reads = 0;
  // A sloppy source must not be asked twice at once.
  let last = Promise.resolve();
  const read = source.read.bind(source);
  source.read = (...range) => (last = last.then(async () => Uint8Array.from(await read(...range))));
  const parts = await Promise.all(Array.from({length: 40}, (_, i) => tensor.rows(i % 7, 300 + i % 5)));
  assert.ok(source.reads <= 80, `${source.reads} reads`); // a range that one drops another may read again
  parts.forEach((rows, i) => {
    assert.equal(rows.length, 1024 * (300 + i % 5 - i % 7));
    assert.equal(rows[0], 1024 * (i % 7));
    assert.equal(rows.at(-1), 1024 * (300 + i % 5) - 1);
  });
});

test('rows that are not there are refused', async () => {
  const model = await open(new CountingSource(make({})));
  const tensor = model.tensor('counts');
  for (const [from, to] of [[-1, 2], [0.5, 2], [2, 1], [0, 5], [NaN, 2], ['0', 2], [0, 2n]]) {
    await assert.rejects(tensor.rows(from, to), withCode('invalid_argument'));
  }
  assert.equal((await tensor.rows(4, 4)).length, 0);
});

test('bytes belong to the caller', async () => {
  const source = new CountingSource(make({}));
  const tensor = (await open(source)).tensor('counts');
  const first = await tensor.bytes();
  const second = await tensor.bytes();
  first.fill(0);
  assert.equal(new Float32Array(second.buffer, second.byteOffset, 2)[1], 1);
});

test('a signal ends a call, and no other', async () => {
  const source = new CountingSource(make({}, [1024, 600]));
  const model = await open(source);
  const tensor = model.tensor('counts');
  source.wait = () => new Promise(() => {});
  const stop = new AbortController();
  const stopped = tensor.rows(500, 501, {signal: stop.signal});
  setTimeout(() => stop.abort(), 5);
  await assert.rejects(stopped, {name: 'AbortError'});
  await assert.rejects(tensor.rows(500, 501, {signal: stop.signal}), {name: 'AbortError'});
  source.wait = undefined;
  assert.equal((await tensor.rows(500, 501))[1], 512001);
});

test('closing ends what goes on', async () => {
  const source = new CountingSource(make({}, [1024, 600]));
  const model = await open(source);
  source.wait = () => new Promise(() => {});
  const waits = model.tensor('counts').rows();
  setTimeout(() => model.close(), 5);
  await assert.rejects(waits, withCode('invalid_argument'));
  await assert.rejects(model.json('tensors'), withCode('invalid_argument'));
  await model.close();
});

test('a signal of one call does not end the loading of the larger module for others', async () => {
  const model = await open(path);
  const stop = new AbortController();
  const stopped = model.tokenizer.encode('one', {signal: stop.signal});
  const other = model.tokenizer.encode('two');
  stop.abort();
  await assert.rejects(stopped, {name: 'AbortError'});
  assert.ok((await other).length > 0);
  await model.close();
});

test('JSON keeps whole numbers and texts', () => {
  const text = '{"a":9007199254740993,"b":[-9223372036854775808,1.5,12345678901234567e1],"c":"9007199254740993 \\"90071992547409930"}';
  assert.deepEqual(parseJson(text), {
    a: 9007199254740993n, b: [-9223372036854775808n, 1.5, 12345678901234567e1], c: '9007199254740993 "90071992547409930',
  });
  assert.deepEqual(parseJson('12345678901234567890'), 12345678901234567890n);
  assert.deepEqual(parseJson('{"\\u0000bigint":"x","n":9007199254740993}'), {'\0bigint': 'x', n: 9007199254740993n});
  const long = 'x'.repeat(3e7);
  assert.equal(parseJson(`["${long}",9007199254740993]`)[0].length, long.length);
});

test('a text keeps the mark at its beginning', async () => {
  const model = await open(new CountingSource(make({'made.text': string('\ufeffa')})));
  assert.equal(model.metadata.get('made.text'), '\ufeffa');
});

test('check takes the names of rules as the program does', async () => {
  const file = new Blob([make({'general.name': {value: 1, type: huggingface.GGUFValueType.UINT32}})]);
  await assert.rejects(check(file, {ignore: 'no_rule'}), withCode('invalid_argument'));
  await assert.rejects(check(file, {ignore: 'not_gguf'}), withCode('invalid_argument'));
  const rules = new Set((await check(file)).findings.map(({rule}) => rule));
  assert.ok(rules.size >= 2);
  assert.deepEqual((await check(file, {ignore: [...rules].join(',')})).findings, []);
  assert.deepEqual(new Set((await check(file, {only: [...rules].join(',')})).findings.map(({rule}) => rule)), rules);
});

test('addresses with the file in them', async () => {
  const file = Buffer.from(make({}));
  const model = await open(`data:application/octet-stream;base64,${file.toString('base64')}`);
  assert.equal(model.tensors.length, 1);
});

test('names of the Hub become addresses', async () => {
  const asked = [];
  const stand = async (address, {headers}) => {
    asked.push([address, headers.authorization]);
    const [, begin, end] = /bytes=(\d+)-(\d+)/.exec(headers.Range);
    const bytes = make({}).subarray(Number(begin), Number(end) + 1);
    return new Response(bytes, {status: 206, headers: {'content-range': `bytes ${begin}-${end}/${make({}).length}`}});
  };
  await open('hf:org/repo@a/b c#1.gguf', {fetch: stand, headers: {authorization: 'x'}});
  assert.deepEqual(asked, [['https://huggingface.co/org/repo/resolve/a/b%20c%231.gguf', 'x']]);
});

test('a server that is not there is an error of ours', async () => {
  await assert.rejects(open('http://127.0.0.1:9/model.gguf'), withCode('io_error'));
});

test('templates get the values of JavaScript', async () => {
  const model = await open(new CountingSource(make({'tokenizer.chat_template': string('{{ v | tojson }} {{ messages[0].role }}')})));
  const v = {whole: 3, real: 0.5, large: 2n ** 70n, text: '\u00fc', list: [1, null, true, false, -7], none: {}, left: undefined};
  assert.equal(await model.chat.render([{role: 'user', content: 'x'}], {variables: {v}}),
    '{"whole": 3, "real": 0.5, "large": 1180591620717411303424, "text": "\u00fc", "list": [1, null, true, false, -7], "none": {}} user');
});

test('a trap becomes an error, and pointers have no sign', async () => {
  // (memory 1), f: unreachable, g: returns -1; h: is_out_of_memory returns 1
  const name = (text) => [text.length, ...Buffer.from(text)];
  const section = (id, bytes) => [id, bytes.length, ...bytes];
  const functions = [[0x00, 0x00, 0x0b], [0x00, 0x41, 0x7f, 0x0b], [0x00, 0x41, 0x01, 0x0b]];
  const module = await WebAssembly.compile(new Uint8Array([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, [1, 0x60, 0, 1, 0x7f]), ...section(3, [3, 0, 0, 0]), ...section(5, [1, 0, 1]),
    ...section(7, [4, ...name('memory'), 2, 0, ...name('trap'), 0, 0, ...name('pointer'), 0, 1, ...name('is_out_of_memory'), 0, 2]),
    ...section(10, [3, ...functions.flatMap((code) => [code.length, ...code])]),
  ]));
  const instance = new Instance(module, 'core');
  assert.equal(instance.exports.pointer(), 0xffffffff);
  assert.throws(() => instance.exports.trap(), withCode('out_of_memory'));
  assert.throws(() => instance.exports.pointer(), withCode('out_of_memory'));
});

test('a file of a set alone, and where its parts are', async () => {
  const bytes = make({'split.no': {value: 0, type: huggingface.GGUFValueType.UINT16},
    'split.count': {value: 2, type: huggingface.GGUFValueType.UINT16}});
  const source = new CountingSource(bytes);
  source.name = 'made-00001-of-00002.gguf';
  const model = await open(source, {alone: true});
  assert.equal(model.files[0].data_offset, model.tensors[0].file_offset);
  assert.equal(model.files[0].key_count, 3);
});

test('the model is given back where a block ends', async () => {
  const model = await open(path);
  if (Symbol.asyncDispose) await model[Symbol.asyncDispose]();
  else await model.close();
  await assert.rejects(model.json('tensors'), withCode('invalid_argument'));
  assert.ok((await readFile(path)).length > 0);
});
