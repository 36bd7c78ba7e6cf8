// SPDX-License-Identifier: MIT
// Where the bytes of a model come from. A source is {name, size, read(offset, length, signal)}, and knows how
// much of it is worth a first read. The bytes that read() gives are the caller's.
import {IngotError, isNode} from './instance.js';

const localFirstRead = 256 << 10;
const remoteFirstRead = 512 << 10;

function failed(name, message, code = 'io_error') {
  return new IngotError({code, message: `${name}: ${message}`, subject: name});
}

/** The answer with bytes of a file. `headers` go with the request, and `fetch` may stand in for that of the system. */
async function fetchRange(address, begin, length, {fetch: ask = fetch, headers, signal} = {}) {
  const range = `bytes=${begin}-${begin + length - 1}`;
  const answer = await ask(address, {headers: {...headers, Range: range}, signal}).catch((error) => {
    signal?.throwIfAborted();
    throw failed(address, error.cause?.message ?? error.message);
  });
  if (answer.status === 206) return answer;
  await answer.body?.cancel();
  if (answer.status === 200) {
    throw failed(address, 'the server does not send parts of files', 'ranges_unsupported');
  }
  throw failed(address, `the server answers ${answer.status}`);
}

async function openAddress(address, options) {
  const answer = await fetchRange(address, 0, remoteFirstRead, options);
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
    async read(offset, length, signal) {
      if (offset + length <= first.length) return first.slice(offset, offset + length);
      const rest = await fetchRange(address, offset, length, {...options, signal});
      const begin = /^bytes (\d+)-/.exec(rest.headers.get('content-range') ?? '')?.[1];
      if (begin !== undefined && Number(begin) !== offset) {
        throw failed(address, `the server sends the bytes from ${begin} on instead of ${offset}`);
      }
      return new Uint8Array(await rest.arrayBuffer());
    },
  };
}

async function openPath(path) {
  const {open} = await import('node:fs/promises');
  const file = await open(path).catch((error) => {
    throw failed(path, error.message);
  });
  const {size} = await file.stat().catch(async (error) => {
    await file.close();
    throw failed(path, error.message);
  });
  return {
    name: path,
    size,
    firstReadBytes: localFirstRead,
    async read(offset, length, signal) {
      const bytes = new Uint8Array(length);
      let done = 0;
      while (done < length) {
        signal?.throwIfAborted();
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
  const path = (text) => text.split('/').map(encodeURIComponent).join('/');
  return `https://huggingface.co/${path(parts[1])}/resolve/${encodeURIComponent(parts[2] ?? 'main')}/${path(parts[3])}`;
}

/** An address whose content is in the browser, or in the address itself: of these no parts can be fetched. */
async function openContent(address, {signal}) {
  const name = address.slice(0, 80);
  const answer = await fetch(address, {signal}).catch((error) => {
    throw failed(name, error.message);
  });
  return {...openBlob(await answer.blob()), name};
}

async function openOne(what, options) {
  if (what instanceof Blob) return openBlob(what);
  if (what instanceof URL || typeof what === 'string') {
    const text = String(what);
    if (text.startsWith('hf:')) return {...await openAddress(hubAddress(text), options), name: text};
    if (/^(data|blob):/.test(text)) return openContent(text, options);
    if (isNode && text.startsWith('file:')) return openPath((await import('node:url')).fileURLToPath(text));
    if (isNode && !/^https?:/.test(text)) return openPath(text);
    return openAddress(isNode ? text : new URL(text, globalThis.location?.href).href, options);
  }
  if (typeof what?.read === 'function' && Number.isSafeInteger(what.size) && what.size >= 0) {
    return {
      name: what.name ?? 'model.gguf',
      size: what.size,
      firstReadBytes: localFirstRead,
      read: async (offset, length, signal) => new Uint8Array(await what.read(offset, length, signal)),
    };
  }
  throw failed(String(what), 'it is no file, Blob, address, path or {size, read}', 'invalid_argument');
}

const shardName = /-(\d{5})-of-(\d{5})\.gguf(?=$|[?#])/;

/** The names of the other files of a set, of which the name of one shows how many there are. */
function siblingsOf(name) {
  const parts = shardName.exec(name);
  if (!parts) return [];
  const [count, own] = [Number(parts[2]), Number(parts[1])];
  const names = [];
  for (let i = 1; i <= Math.min(count, 1000); ++i) {
    const number = String(i).padStart(5, '0');
    if (i !== own) names.push(name.replace(shardName, `-${number}-of-${parts[2]}.gguf`));
  }
  return names;
}

/** Opens sources, a few at once; if one that is needed fails or the user stops, none stays open. */
async function openAll(what, options, areNeeded) {
  const atOnce = 8;
  const opened = [];
  let failure;
  for (let first = 0; first < what.length && !failure; first += atOnce) {
    const some = await Promise.allSettled(what.slice(first, first + atOnce).map((one) => openOne(one, options)));
    opened.push(...some.filter(({value}) => value).map(({value}) => value));
    if (areNeeded) failure = some.find(({status}) => status === 'rejected');
    if (options.signal?.aborted) failure ??= {reason: options.signal.reason};
  }
  if (!failure) return opened;
  await Promise.all(opened.map((source) => source.close?.()));
  throw failure.reason;
}

/** Opens a model's files, the one that was named first. `options` has signal, headers, fetch and alone. */
export async function openSources(what, options = {}) {
  if (Array.isArray(what)) return openAll(what, options, true);
  const [first] = await openAll([what], options, true);
  const isNamed = typeof what === 'string' || what instanceof URL;
  try {
    return [first, ...(isNamed && !options.alone ? await openAll(siblingsOf(first.name), options, false) : [])];
  } catch (error) {
    await first.close?.();
    throw error;
  }
}
