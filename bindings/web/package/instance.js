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

/** A module with one function, which makes a vector. */
const withVectors = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11);

async function compile(kind) {
  if (!WebAssembly.validate(withVectors)) {
    throw new IngotError({
      code: 'engine_unsupported',
      message: 'this engine lacks the vectors of WebAssembly; Chrome 91, Firefox 89, Safari 16.4 and node 20 have them'});
  }
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

function outOfMemory() {
  return new IngotError({code: 'out_of_memory', message: 'the module ended: its memory is full'});
}

/** JavaScript reads the numbers of WebAssembly with a sign; pointers above 2 GiB have none. */
function unsigned(result) {
  return typeof result === 'number' ? result >>> 0 : result;
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
// A mark at the beginning of a text is a character of it.
const decoder = new TextDecoder('utf-8', {ignoreBOM: true});

export class Instance {
  /** The ranges of files that are here, by file and offset, and how many calls use each. */
  #ranges = new Map();
  #failure;
  #isFull;

  constructor(module, kind) {
    this.kind = kind;
    this.exports = {};
    this.#guard(() => {
      const wasm = new WebAssembly.Instance(module, {wasi_snapshot_preview1: systemOf(() => this.memory)}).exports;
      this.memory = wasm.memory;
      this.#isFull = wasm.is_out_of_memory;
      for (const [name, value] of Object.entries(wasm)) {
        if (typeof value === 'function') this.exports[name] = (...given) => this.#guard(() => unsigned(value(...given)));
      }
      this.exports._initialize?.();
    });
  }

  /** A trap becomes an error, as the instance is of no use any more. */
  #guard(run) {
    if (this.#failure) throw this.#failure;
    try {
      return run();
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
      const isFull = this.#isFull?.() ?? 1;
      this.#failure = isFull !== 0 ? outOfMemory() : new IngotError({code: 'internal', message: `the module ended: ${error.message}`});
      throw this.#failure;
    }
  }

  bytes(data, size) {
    return new Uint8Array(this.memory.buffer, data, size);
  }

  /** Calls use(data, size) with bytes or the UTF-8 of a text in memory. */
  with(content, use) {
    const bytes = typeof content === 'string' ? encoder.encode(content) : content;
    const data = this.exports.take_memory(bytes.length || 1);
    if (data === 0) throw outOfMemory();
    try {
      this.bytes(data, bytes.length).set(bytes);
      return use(data, bytes.length);
    } finally {
      if (!this.#failure) this.exports.give_memory_back(data);
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

  /** Adds bytes of a file, for good or until dropRange() was called as often as this. */
  addRange(file, offset, bytes, stays) {
    const data = this.exports.add_range(file, BigInt(offset), bytes.length);
    this.bytes(data, bytes.length).set(bytes);
    const place = `${file}:${offset}`;
    if (!this.#ranges.has(place)) this.#ranges.set(place, {file, offset, size: 0, users: 0, stays: false});
    const range = this.#ranges.get(place);
    range.size = Math.max(range.size, bytes.length);
    range.stays ||= stays;
    if (!stays) ++range.users;
  }

  dropRange(file, offset) {
    const place = `${file}:${offset}`;
    const range = this.#ranges.get(place);
    if (--range.users > 0 || range.stays || this.#failure) return;
    this.#ranges.delete(place);
    this.exports.drop_range(file, BigInt(offset));
  }

  /** Takes over what another instance has of the same files. */
  takeRanges(other) {
    for (const {file, offset, size, stays} of other.#ranges.values()) {
      if (!stays) continue;
      this.addRange(file, offset, other.bytes(other.exports.range_data(file, BigInt(offset)), size), true);
    }
  }

  /** The ranges that were asked for since the last call and are not here, by file and offset. */
  missing() {
    this.exports.missing();
    return JSON.parse(this.result()).map(([file, offset, size]) => ({file, offset, size}))
      .sort((a, b) => a.file - b.file || a.offset - b.offset);
  }
}
