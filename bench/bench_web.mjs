// SPDX-License-Identifier: MIT
// bench_web.mjs PACKAGE REAL FILE...: how many requests, bytes and milliseconds the header of a file takes from a server
// on this machine that answers after 50 ms: by ingot-gguf (PACKAGE, as scripts/web leaves it) and by @huggingface/gguf
// (REAL, its folder). The median of five runs; all keys are read.
import {createServer} from 'node:http';
import {createReadStream, statSync} from 'node:fs';
import {basename} from 'node:path';
import {pathToFileURL} from 'node:url';

const [folder, real, ...files] = process.argv.slice(2);
const {open} = await import(pathToFileURL(`${folder}/index.js`).href);
const {gguf} = await import(pathToFileURL(`${real}/dist/index.mjs`).href);
const latency = 50;
const runs = 5;

const counted = {requests: 0, bytes: 0};
const server = createServer((request, answer) => {
  const path = files[Number(/^\/(\d+)\//.exec(request.url)[1])];
  const {size} = statSync(path);
  const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range);
  const [start, end] = [Number(range[1]), Math.min(Number(range[2]), size - 1)];
  ++counted.requests;
  setTimeout(() => {
    if (start >= size) return answer.writeHead(416).end();
    answer.writeHead(206, {'content-range': `bytes ${start}-${end}/${size}`, 'content-length': end - start + 1});
    createReadStream(path, {start, end}).on('data', (piece) => { counted.bytes += piece.length; }).pipe(answer);
  }, latency);
});
server.keepAliveTimeout = 60_000;
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const readers = {
  'ingot-gguf': async (address) => {
    const model = await open(address);
    const all = [...model.metadata.values()].length + model.tensors.length;
    await model.close();
    return all;
  },
  '@huggingface/gguf': async (address) => {
    const {metadata, tensorInfos} = await gguf(address);
    return Object.keys(metadata).length - 3 + tensorInfos.length;
  },
};

const mebibytes = (bytes) => (bytes / 2 ** 20).toFixed(2);
console.log('| file | MiB | reader | requests | MiB read | ms |\n| --- | --- | --- | --- | --- | --- |');
for (const [place, file] of files.entries()) {
  const address = `http://127.0.0.1:${server.address().port}/${place}/${basename(file)}`;
  for (const [name, read] of Object.entries(readers)) {
    const times = [];
    let note = '';
    for (let i = 0; i < runs && !note; ++i) {
      Object.assign(counted, {requests: 0, bytes: 0});
      const begin = performance.now();
      await read(address).catch((error) => { note = error.message; });
      times.push(performance.now() - begin);
    }
    const median = times.sort((a, b) => a - b)[times.length >> 1];
    const size = mebibytes(statSync(file).size);
    const result = note ? `${note} | |` : `${counted.requests} | ${mebibytes(counted.bytes)} | ${median.toFixed(0)}`;
    console.log(`| ${basename(file)} | ${size} | ${name} | ${result} |`);
  }
}
server.close();
server.closeAllConnections();
