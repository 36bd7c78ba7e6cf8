// SPDX-License-Identifier: MIT
// Where the bytes of a model come from. A source is {name, size, read(offset, length, signal)}, and knows how
// much of it is worth a first read.
import {IngotError, isNode} from './instance.js';

const localFirstRead = 256 << 10;
const remoteFirstRead = 512 << 10;

function failed(name, message, code = 'io_error') {
  return new IngotError({code, message: `${name}: ${message}`, subject: name});
}

async function fetchRange(address, begin, length, signal) {
  const answer = await fetch(address, {headers: {Range: `bytes=${begin}-${begin + length - 1}`}, signal});
  if (answer.status === 206) return answer;
  await answer.body?.cancel();
  if (answer.status === 200) {
    throw failed(address, 'the server does not send parts of files', 'ranges_unsupported');
  }
  throw failed(address, `the server answers ${answer.status}`);
}

async function openAddress(address, signal) {
  const answer = await fetchRange(address, 0, remoteFirstRead, signal);
  const size = Number(/\/(\d+)$/.exec(answer.headers.get('content-range') ?? '')?.[1] ?? NaN);
  const first = new Uint8Array(await answer.arrayBuffer());
  if (!Number.isSafeInteger(size)) {
    throw failed(address, 'the server does not say how large the file is (content-range)');
  }
  return {
    name: address,
    size,
    isRemote: true,
    firstReadBytes: remoteFirstRead,
    async read(offset, length, readSignal) {
      if (offset + length <= first.length) return first.subarray(offset, offset + length);
      const rest = await fetchRange(address, offset, length, readSignal);
      return new Uint8Array(await rest.arrayBuffer());
    },
  };
}

async function openPath(path) {
  const {open} = await import('node:fs/promises');
  const file = await open(path).catch((error) => {
    throw failed(path, error.message);
  });
  const {size} = await file.stat();
  return {
    name: path,
    size,
    firstReadBytes: localFirstRead,
    async read(offset, length) {
      const bytes = new Uint8Array(length);
      let done = 0;
      while (done < length) {
        const {bytesRead} = await file.read(bytes, done, length - done, offset + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return bytes.subarray(0, done);
    },
    close: () => file.close(),
  };
}

function openBlob(blob) {
  return {
    name: blob.name ?? 'blob',
    size: blob.size,
    firstReadBytes: localFirstRead,
    read: async (offset, length) => new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer()),
  };
}

/** "hf:org/repo@revision/file.gguf" as the address of the file. */
function hubAddress(name) {
  const parts = /^hf:([^/@]+\/[^/@]+)(?:@([^/]+))?\/(.+)$/.exec(name);
  if (!parts) throw failed(name, 'it must be hf:org/repo/file.gguf or hf:org/repo@revision/file.gguf', 'invalid_argument');
  return `https://huggingface.co/${parts[1]}/resolve/${encodeURIComponent(parts[2] ?? 'main')}/${parts[3]}`;
}

async function openOne(what, signal) {
  if (what instanceof Blob) return openBlob(what);
  if (what instanceof URL || typeof what === 'string') {
    const text = String(what);
    if (text.startsWith('hf:')) return {...await openAddress(hubAddress(text), signal), name: text};
    if (isNode && text.startsWith('file:')) return openPath((await import('node:url')).fileURLToPath(text));
    if (isNode && !/^(https?|data|blob):/.test(text)) return openPath(text);
    return openAddress(isNode ? text : new URL(text, globalThis.location?.href).href, signal);
  }
  if (typeof what?.read === 'function' && Number.isSafeInteger(what.size)) {
    return {
      name: what.name ?? 'model.gguf',
      size: what.size,
      firstReadBytes: localFirstRead,
      read: (offset, length, readSignal) => what.read(offset, length, readSignal),
    };
  }
  throw failed(String(what), 'it is no file, Blob, address, path or {size, read}', 'invalid_argument');
}

const shardName = /-(\d{5})-of-(\d{5})\.gguf$/;

/** The other files of a set, of which the name of one shows how many there are. */
async function openSiblings(first, signal) {
  const parts = shardName.exec(first.name);
  if (!parts) return [];
  const [count, own] = [Number(parts[2]), Number(parts[1])];
  const names = [];
  for (let i = 1; i <= Math.min(count, 1000); ++i) {
    const number = String(i).padStart(5, '0');
    if (i !== own) names.push(first.name.replace(shardName, `-${number}-of-${parts[2]}.gguf`));
  }
  const opened = await Promise.all(names.map((name) => openOne(name, signal).catch(() => null)));
  return opened.filter(Boolean);
}

/** Opens a model's files, the one that was named first. */
export async function openSources(what, signal) {
  if (Array.isArray(what)) return Promise.all(what.map((one) => openOne(one, signal)));
  const first = await openOne(what, signal);
  const isNamed = typeof what === 'string' || what instanceof URL;
  return [first, ...(isNamed ? await openSiblings(first, signal) : [])];
}
