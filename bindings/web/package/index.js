// SPDX-License-Identifier: MIT
// ingot-gguf: GGUF model files from JavaScript.
import {IngotError, Instance, load} from './instance.js';
import {openSources} from './sources.js';

export {IngotError};

const documentsOfCore = new Set(['anatomy', 'metadata', 'tensors']);

/** Ranges this near to one another take one read. */
const nearBytes = {local: 4 << 10, remote: 64 << 10};
const mostReadBytes = 16 << 20;
/** More rounds than the header of any file takes, which doubles what it asks for. */
const mostRounds = 64;

/** JSON with whole numbers that a double does not hold as bigint. */
export function parseJson(text) {
  let hasLarge = false;
  const marked = !/[^.\d]\d{16}/.test(text) ? text : text.replace(/"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g, (found) => {
    if (found[0] === '"' || Number.isSafeInteger(Number(found))) return found;
    hasLarge = true;
    return `{"\\u0000bigint":"${found}"}`;
  });
  if (!hasLarge) return JSON.parse(text);
  return JSON.parse(marked, (_, value) => value?.['\0bigint'] === undefined ? value : BigInt(value['\0bigint']));
}

/** `ctxSize` is the option --ctx-size. A switch is true or false; a list gives the option several times. */
function optionWords(options) {
  const words = [];
  for (const [name, value] of Object.entries(options)) {
    if (name === 'signal' || value === undefined || value === null || value === false) continue;
    const plain = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    for (const one of Array.isArray(value) ? value : [value]) words.push(plain, String(one));
  }
  return words;
}

const closers = new FinalizationRegistry((sources) => sources.forEach((source) => source.close?.().catch(() => {})));

/** The files of a model, and the instance that knows them. */
class Session {
  static async open(what, {signal} = {}) {
    const sources = await openSources(what, signal);
    const session = new Session(sources);
    try {
      await session.start('core', signal);
    } catch (error) {
      await session.close();
      throw error;
    }
    return session;
  }

  constructor(sources) {
    this.sources = sources;
    closers.register(this, sources, this);
  }

  async start(kind, signal) {
    const instance = new Instance(await load(kind), kind);
    for (const source of this.sources) instance.addFile(source);
    if (this.instance) instance.takeRanges(this.instance);
    const {name, isRemote} = this.sources[0];
    await this.repeat(instance, () => instance.with(name, (data, size) =>
      instance.exports.open_model(data, size, isRemote ? 1 : 0)), signal);
    this.instance = instance;
  }

  /** The instance that has everything, or one that has enough. */
  async want(kind, signal) {
    if (!this.sources) throw new IngotError({code: 'invalid_argument', message: 'the model is closed'});
    if (kind === 'full' && this.instance.kind !== 'full') {
      this.growth ??= this.start('full', signal).finally(() => { this.growth = undefined; });
      await this.growth;
    }
    return this.instance;
  }

  /** Runs a call until no bytes are missing; returns what take(result) makes of it before another call runs. */
  async repeat(instance, run, signal, take = (text) => text) {
    for (let round = 0; round < mostRounds; ++round) {
      signal?.throwIfAborted();
      const status = this.guard(run);
      const text = instance.result();
      const missing = instance.missing();
      if (missing.length > 0) {
        await this.fetch(instance, missing, signal);
        continue;
      }
      if (status === 0) return take(text);
      throw new IngotError(JSON.parse(text));
    }
    throw new IngotError({code: 'internal', message: 'the file asks for more and more bytes'});
  }

  /** A trap becomes an error; the instance is of no use any more. */
  guard(run) {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
      throw new IngotError({code: 'out_of_memory', message: `the module ended: ${error.message}`});
    }
  }

  async fetch(instance, missing, signal) {
    const reads = [];
    for (const range of missing) {
      const last = reads.at(-1);
      const near = nearBytes[this.sources[range.file].isRemote ? 'remote' : 'local'];
      const end = range.offset + range.size;
      const isNear = last?.file === range.file && range.offset <= last.end + near && end - last.offset <= mostReadBytes;
      if (isNear) last.end = Math.max(last.end, end);
      else reads.push({file: range.file, offset: range.offset, end});
    }
    const atOnce = 8;
    for (let first = 0; first < reads.length; first += atOnce) {
      await Promise.all(reads.slice(first, first + atOnce).map(async ({file, offset, end}) => {
        const bytes = await this.sources[file].read(offset, end - offset, signal);
        if (bytes.length < end - offset) {
          throw new IngotError({code: 'io_error', message: `${this.sources[file].name}: the file became shorter`, offset});
        }
        instance.addRange(file, offset, bytes.subarray(0, end - offset));
      }));
    }
  }

  async document(name, options) {
    const instance = await this.want(documentsOfCore.has(name) ? 'core' : 'full', options.signal);
    const words = [name, 'file', this.sources[0].name, ...optionWords(options)];
    const request = words.map((word) => `${word}\0`).join('');
    const text = await this.repeat(instance, () => instance.with(request, instance.exports.run), options.signal);
    return parseJson(text);
  }

  async close() {
    const sources = this.sources;
    this.sources = this.instance = undefined;
    closers.unregister(this);
    await Promise.all((sources ?? []).map((source) => source.close?.()));
  }
}

/** The keys of a model as a map; an array is read when it is asked for. */
class Metadata {
  #session;
  #places = new Map();
  #rows;

  constructor(session) {
    this.#session = session;
    session.instance.exports.list_keys();
    this.#rows = parseJson(session.instance.result());
    this.#rows.forEach(({key}, place) => this.#places.set(key, place));
  }

  get size() { return this.#rows.length; }
  has(key) { return this.#places.has(key); }
  keys() { return this.#places.keys(); }
  /** {key, type}, of an array also element_type and count. */
  type(key) {
    const row = this.#rows[this.#places.get(key)];
    if (!row) return undefined;
    const {value: _, ...type} = row;
    return type;
  }
  get(key) {
    const place = this.#places.get(key);
    if (place === undefined) return undefined;
    const row = this.#rows[place];
    if (!('value' in row)) {
      const {instance} = this.#session;
      if (!instance) throw new IngotError({code: 'invalid_argument', message: 'the model is closed'});
      instance.exports.read_value(place);
      Object.assign(row, parseJson(instance.result()));
    }
    return row.value;
  }
  * entries() { for (const key of this.keys()) yield [key, this.get(key)]; }
  * values() { for (const key of this.keys()) yield this.get(key); }
  forEach(use) { for (const [key, value] of this.entries()) use(value, key, this); }
  [Symbol.iterator]() { return this.entries(); }
}

/** One tensor: its members are those of the document `tensors`. */
class Tensor {
  #session;
  #place;

  constructor(session, place, members) {
    this.#session = session;
    this.#place = place;
    Object.assign(this, members);
  }

  /** How many rows there are: a row is the first dimension. */
  get rowCount() { return this.shape.slice(1).reduce((count, size) => count * size, 1); }

  /** The weights of rows from `from`, before `to`. */
  async rows(from = 0, to = this.rowCount, {signal} = {}) {
    const session = this.#session;
    const instance = await session.want('core', signal);
    const read = () => instance.exports.read_rows(this.#place, BigInt(from), BigInt(to - from));
    return session.repeat(instance, read, signal, (count) => {
      const data = instance.exports.floats_data();
      const floats = new Float32Array(instance.memory.buffer, data, Number(count)).slice();
      instance.exports.drop_floats();
      instance.dropRanges(this.shard, this.file_offset);
      return floats;
    });
  }

  /** The bytes as they are in the file. */
  async bytes({signal} = {}) {
    await this.#session.want('core', signal);
    return this.#session.sources[this.shard].read(this.file_offset, this.size, signal);
  }
}

class Tokenizer {
  #session;
  constructor(session) { this.#session = session; }

  async encode(text, {addSpecial = true, parseSpecial = false, signal} = {}) {
    const instance = await this.#session.want('full', signal);
    const {encode} = instance.exports;
    return JSON.parse(await this.#session.repeat(instance, () => instance.with(text, (data, size) =>
      encode(data, size, addSpecial ? 1 : 0, parseSpecial ? 1 : 0)), signal));
  }

  async decode(ids, {showSpecial = true, removeSpecial = false, signal} = {}) {
    const instance = await this.#session.want('full', signal);
    const bytes = new Uint8Array(Int32Array.from(ids).buffer);
    return this.#session.repeat(instance, () => instance.with(bytes, (data) =>
      instance.exports.decode(data, bytes.length / 4, showSpecial ? 1 : 0, removeSpecial ? 1 : 0)), signal);
  }
}

class Chat {
  #session;
  constructor(session) { this.#session = session; }

  async render(messages, {signal, ...options} = {}) {
    const instance = await this.#session.want('full', signal);
    const request = JSON.stringify({...options, messages});
    return this.#session.repeat(instance, () => instance.with(request, instance.exports.render_chat), signal);
  }
}

export class Model {
  #session;

  constructor(session, tensors) {
    this.#session = session;
    this.name = session.sources[0].name;
    this.metadata = new Metadata(session);
    this.tensors = tensors.map((members, place) => new Tensor(session, place, members));
    this.tokenizer = new Tokenizer(session);
    this.chat = new Chat(session);
  }

  /** The document that `ingot NAME --json` prints of the file. */
  json(name, options = {}) { return this.#session.document(name, options); }
  show(options) { return this.json('show', options); }
  check(options) { return this.json('check', options); }
  fit(options) { return this.json('fit', options); }
  anatomy(options) { return this.json('anatomy', options); }
  tensor(name) { return this.tensors.find((tensor) => tensor.name === name); }

  /** Ends the use of the model; its memory goes with the last object that comes from it. */
  close() { return this.#session.close(); }
}
for (const name of ['dispose', 'asyncDispose']) {
  if (Symbol[name]) Model.prototype[Symbol[name]] = function () { return this.close(); };
}

/** Opens a model: a File, a Blob, an address, in node a path, {size, read}, or a list of the files of a set. */
export async function open(what, options = {}) {
  const session = await Session.open(what, options);
  try {
    return new Model(session, await session.document('tensors', options.signal ? {signal: options.signal} : {}));
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** The document of `ingot check --json`, also of a file that `open` refuses. */
export async function check(what, options = {}) {
  const session = new Session(await openSources(what, options.signal));
  try {
    const instance = new Instance(await load('full'), 'full');
    for (const source of session.sources) instance.addFile(source);
    session.instance = instance;
    return await session.document('check', options);
  } finally {
    await session.close();
  }
}
