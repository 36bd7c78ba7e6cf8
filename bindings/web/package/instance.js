// SPDX-License-Identifier: MIT
// A module of WebAssembly and its instances. An instance is one model: its memory goes with it.

/** A failure, with the code that `ingot` gives it. */
export class IngotError extends Error {
  constructor({code, message, offset = null, subject = null, context = []}) {
    super(message);
    this.name = 'IngotError';
    this.code = code;
    this.offset = offset;
    this.subject = subject;
    this.context = context;
  }
}

export const isNode = typeof process === 'object' && Boolean(process.versions?.node);

const compiled = new Map();

async function compile(kind) {
  const place = new URL(`./ingot-${kind}.wasm`, import.meta.url);
  if (isNode && place.protocol === 'file:') {
    const {readFile} = await import('node:fs/promises');
    return WebAssembly.compile(await readFile(place));
  }
  const answer = await fetch(place);
  if (!answer.ok) {
    throw new IngotError({code: 'io_error', message: `${place}: the server answers ${answer.status}`});
  }
  return WebAssembly.compile(await answer.arrayBuffer());
}

/** The module `core` or `full`, compiled once. */
export function load(kind) {
  if (!compiled.has(kind)) {
    const module = compile(kind);
    module.catch(() => compiled.delete(kind));
    compiled.set(kind, module);
  }
  return compiled.get(kind);
}

const notThere = 52; // ENOSYS of WASI

/** What a module may ask of a system: chance, the time, and nothing else. */
function systemOf(memory) {
  const view = () => new DataView(memory().buffer);
  const known = {
    random_get(data, size) {
      for (let done = 0; done < size; done += 65536) { // the most that one call gives
        crypto.getRandomValues(new Uint8Array(memory().buffer, data + done, Math.min(65536, size - done)));
      }
      return 0;
    },
    clock_time_get(_clock, _precision, result) {
      view().setBigUint64(result, BigInt(Date.now()) * 1000000n, true);
      return 0;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
    proc_exit(code) {
      throw new WebAssembly.RuntimeError(`exit ${code}`);
    },
  };
  return new Proxy({}, {get: (_, name) => known[name] ?? (() => notThere)});
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Instance {
  /** Where the ranges of files lie in the memory, by file and offset. */
  ranges = new Map();

  constructor(module, kind) {
    this.kind = kind;
    const system = systemOf(() => this.memory);
    this.exports = new WebAssembly.Instance(module, {wasi_snapshot_preview1: system}).exports;
    this.memory = this.exports.memory;
    this.exports._initialize?.();
  }

  bytes(data, size) {
    return new Uint8Array(this.memory.buffer, data, size);
  }

  /** Calls use(data, size) with bytes or the UTF-8 of a text in memory. */
  with(content, use) {
    const bytes = typeof content === 'string' ? encoder.encode(content) : content;
    const data = this.exports.take_memory(bytes.length || 1);
    try {
      this.bytes(data, bytes.length).set(bytes);
      return use(data, bytes.length);
    } finally {
      this.exports.give_memory_back(data);
    }
  }

  result() {
    return decoder.decode(this.bytes(this.exports.result_data(), this.exports.result_size()));
  }

  addFile({name, size, firstReadBytes}) {
    this.with(name, (data, length) => {
      this.exports.add_file(data, length, BigInt(size), BigInt(firstReadBytes));
    });
  }

  addRange(file, offset, bytes) {
    const data = this.exports.add_range(file, BigInt(offset), bytes.length);
    this.bytes(data, bytes.length).set(bytes);
    this.ranges.set(`${file}:${offset}`, {file, offset, data, size: bytes.length});
  }

  dropRanges(file, begin) {
    this.exports.drop_ranges(file, BigInt(begin));
    for (const [key, range] of this.ranges) {
      if (range.file === file && range.offset >= begin) this.ranges.delete(key);
    }
  }

  /** Takes over what another instance has of the same files. */
  takeRanges(other) {
    for (const {file, offset, data, size} of other.ranges.values()) {
      this.addRange(file, offset, other.bytes(data, size));
    }
  }

  /** The ranges that were asked for since the last call and are not here. */
  missing() {
    this.exports.missing();
    return JSON.parse(this.result()).map(([file, offset, size]) => ({file, offset, size}));
  }
}
