// SPDX-License-Identifier: MIT
// ingot-gguf: GGUF model files from JavaScript.
import {IngotError, Instance, load} from './instance.js';
import {openSources} from './sources.js';
import {bytesOf} from './values.js';

export {IngotError};

function invalid(message, subject = null) {
  return new IngotError({code: 'invalid_argument', message, subject});
}

/** What a promise becomes, or the reason of a signal, whatever is first. */
function unlessAborted(promise, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, {once: true});
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    if (signal.aborted) stop();
  });
}

const documentsOfCore = new Set(['anatomy', 'metadata', 'tensors']);

/** Ranges this near to one another take one read. */
const nearBytes = {local: 4 << 10, remote: 64 << 10};
const mostReadBytes = 16 << 20;
/** Weights whose bytes are fetched at once, and that are decoded at once: the second fit in the cache of a CPU. */
const mostWeights = 16 << 20;
const weightsOfPiece = 64 << 10;
/** More rounds than the header of any file takes, which doubles what it asks for. */
const mostRounds = 64;

/** Where a text of JSON that begins at `begin` ends. */
function endOfText(json, begin) {
  for (let end = json.indexOf('"', begin + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let slashes = 0;
    while (json[end - 1 - slashes] === '\\') ++slashes;
    if (slashes % 2 === 0) return end + 1;
  }
  return json.length;
}

/** JSON with whole numbers that a double does not hold as bigint. */
export function parseJson(json) {
  if (!/\d{16}/.test(json)) return JSON.parse(json);
  const mark = `bigint ${Math.random()}`; // which no document has
  let hasLarge = false;
  const parts = [];
  for (let at = 0; at < json.length;) {
    const quote = json.indexOf('"', at);
    const end = quote < 0 ? json.length : quote;
    parts.push(json.slice(at, end).replace(/(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g, (number) => {
      if (Number.isSafeInteger(Number(number))) return number;
      hasLarge = true;
      return `{"${mark}":"${number}"}`;
    }));
    at = quote < 0 ? end : endOfText(json, quote);
    parts.push(json.slice(end, at));
  }
  if (!hasLarge) return JSON.parse(json);
  return JSON.parse(parts.join(''), (_, value) => value?.[mark] === undefined ? value : BigInt(value[mark]));
}

/** `ctxSize` is the option --ctx-size. A switch is true or false; a list gives the option several times. */
function optionWords(options) {
  const words = [];
  for (const [name, value] of Object.entries(options)) {
    if (name === 'signal' || value === undefined || value === null || value === false) continue;
    const plain = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    for (const one of Array.isArray(value) ? value : [value]) words.push(plain, String(one));
  }
  if (words.some((word) => word.includes('\0'))) throw invalid('an option must have no NUL');
  return words;
}

const closers = new FinalizationRegistry((sources) => sources.forEach((source) => source.close?.().catch(() => {})));

/** The files of a model, and the instance that knows them. */
class Session {
  #closing = new AbortController();
  #growth;

  static async open(what, options) {
    const session = new Session(await openSources(what, options));
    session.isAlone = options.alone ?? false;
    try {
      await session.start('core', options.signal);
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

  /** An instance that knows the files. */
  async instantiate(kind) {
    const instance = new Instance(await load(kind), kind);
    for (const source of this.sources) instance.addFile(source);
    return instance;
  }

  async start(kind, signal) {
    const instance = await this.instantiate(kind);
    if (this.instance) instance.takeRanges(this.instance);
    const {name, isRemote} = this.sources[0];
    await this.repeat(instance, () => instance.with(name, (data, size) =>
      instance.exports.open_model(data, size, isRemote ? 1 : 0, this.isAlone ? 1 : 0)), {signal});
    this.instance = instance;
  }

  /** A signal that ends a call when its user or close() says so. */
  endOf(signal) {
    return AbortSignal.any([this.#closing.signal, ...(signal ? [signal] : [])]);
  }

  /** The instance that has everything, or one that has enough. */
  async want(kind, signal) {
    const end = this.endOf(signal);
    end.throwIfAborted();
    if (kind === 'full' && this.instance.kind !== 'full') {
      // Several calls may wait for it, so that none of their signals ends it.
      this.#growth ??= this.start('full').finally(() => { this.#growth = undefined; });
      await unlessAborted(this.#growth, end);
      end.throwIfAborted();
    }
    return this.instance;
  }

  /**
   * Runs a call until no bytes are missing; returns what take(result) makes of it before another call runs. The bytes
   * stay for later calls unless `drops`.
   */
  async repeat(instance, run, {signal, take = (text) => text, drops = false}) {
    const end = this.endOf(signal);
    const added = [];
    try {
      for (let round = 0; round < mostRounds; ++round) {
        end.throwIfAborted();
        const status = run();
        const text = instance.result();
        const missing = instance.missing();
        if (missing.length === 0) {
          if (status === 0) return take(text);
          throw new IngotError(JSON.parse(text));
        }
        for (const {file, offset, bytes} of await this.fetch(missing, end)) {
          instance.addRange(file, offset, bytes, !drops);
          if (drops) added.push({file, offset});
        }
      }
    } finally {
      for (const {file, offset} of added) instance.dropRange(file, offset);
    }
    throw new IngotError({code: 'internal', message: 'the file asks for more and more bytes'});
  }

  /** Reads ranges, those near one another at once. */
  async fetch(missing, signal) {
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
      await Promise.all(reads.slice(first, first + atOnce).map(async (read) => {
        read.bytes = await this.read(read.file, read.offset, read.end - read.offset, signal);
      }));
    }
    return reads;
  }

  async read(file, offset, length, signal) {
    const source = this.sources[file];
    const bytes = await unlessAborted(source.read(offset, length, signal), signal);
    if (bytes.length >= length) return bytes.subarray(0, length);
    throw new IngotError({code: 'io_error', message: `${source.name}: the file became shorter`, offset, subject: source.name});
  }

  /** What is known since the model was opened. */
  list(what) {
    this.instance.exports[`list_${what}`]();
    return parseJson(this.instance.result());
  }

  async document(name, options) {
    const instance = await this.want(documentsOfCore.has(name) ? 'core' : 'full', options.signal);
    const words = [name, 'file', this.sources[0].name, ...optionWords(options)];
    const request = words.map((word) => `${word}\0`).join('');
    const text = await this.repeat(instance, () => instance.with(request, instance.exports.run), options);
    return parseJson(text);
  }

  async close() {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(invalid('the model is closed', this.sources[0].name));
    this.instance = undefined;
    closers.unregister(this);
    await Promise.all(this.sources.map((source) => source.close?.()));
  }
}

/** The keys of a model as a map; an array is read when it is asked for. */
class Metadata {
  #session;
  #places = new Map();
  #rows;

  constructor(session) {
    this.#session = session;
    this.#rows = session.list('keys');
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
      if (!instance) throw invalid('the model is closed', this.#session.sources[0].name);
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

/** One tensor: its members are those of the document `tensors`, but that `size` stands for `bytes`. */
class Tensor {
  #session;
  #place;

  constructor(session, place, {bytes: size, ...members}) {
    this.#session = session;
    this.#place = place;
    Object.assign(this, members, {size});
  }

  /** How many rows there are: a row is the first dimension. */
  get rowCount() { return this.shape.slice(1).reduce((count, size) => count * Number(size), 1); }

  /** The weights of rows from `from`, before `to`. */
  async rows(from = 0, to = this.rowCount, {signal} = {}) {
    if (![from, to].every(Number.isSafeInteger) || from < 0 || to < from || to > this.rowCount) {
      throw invalid(`rows ${from} to ${to} are not there; ${this.name} has ${this.rowCount}`, this.name);
    }
    const session = this.#session;
    const instance = await session.want('core', signal);
    const width = Number(this.shape[0] ?? 1);
    const weights = takeRoom((to - from) * width);
    if (weights.length === 0) return weights;
    const rowsOf = (count) => Math.max(1, Math.floor(count / width));
    const {exports, memory} = instance;
    for (let row = from; row < to; row += rowsOf(mostWeights)) {
      const end = Math.min(row + rowsOf(mostWeights), to);
      const find = () => exports.find_rows(this.#place, BigInt(row), BigInt(end - row));
      const take = () => {
        for (let first = row; first < end; first += rowsOf(weightsOfPiece)) {
          const count = Math.min(rowsOf(weightsOfPiece), end - first);
          const status = exports.read_rows(this.#place, BigInt(first), BigInt(count));
          if (status !== 0) throw new IngotError(JSON.parse(instance.result()));
          weights.set(new Float32Array(memory.buffer, exports.floats_data(), count * width), (first - from) * width);
        }
        exports.drop_floats();
      };
      await session.repeat(instance, find, {signal, take, drops: true});
    }
    return weights;
  }

  /** The bytes as they are in the file. */
  async bytes({signal} = {}) {
    const session = this.#session;
    const instance = await session.want('core', signal);
    const file = instance.exports.file_of_tensor(this.#place);
    return session.read(file, this.file_offset, this.size, session.endOf(signal));
  }
}

function takeRoom(weights) {
  try {
    return new Float32Array(weights);
  } catch (error) {
    throw new IngotError({code: 'out_of_memory', message: `there is no memory for ${weights} weights: ${error.message}`});
  }
}

class Tokenizer {
  #session;
  constructor(session) { this.#session = session; }

  async encode(text, {addSpecial = true, parseSpecial = false, signal} = {}) {
    const instance = await this.#session.want('full', signal);
    const {encode} = instance.exports;
    return JSON.parse(await this.#session.repeat(instance, () => instance.with(text, (data, size) =>
      encode(data, size, addSpecial ? 1 : 0, parseSpecial ? 1 : 0)), {signal}));
  }

  async decode(ids, {showSpecial = true, removeSpecial = false, signal} = {}) {
    const instance = await this.#session.want('full', signal);
    const bytes = new Uint8Array(Int32Array.from(ids).buffer);
    return this.#session.repeat(instance, () => instance.with(bytes, (data) =>
      instance.exports.decode(data, bytes.length / 4, showSpecial ? 1 : 0, removeSpecial ? 1 : 0)), {signal});
  }
}

class Chat {
  #session;
  constructor(session) { this.#session = session; }

  async render(messages, {signal, ...options} = {}) {
    const instance = await this.#session.want('full', signal);
    const request = bytesOf({...options, messages});
    return this.#session.repeat(instance, () => instance.with(request, instance.exports.render_chat), {signal});
  }
}

export class Model {
  #session;

  constructor(session, tensors) {
    this.#session = session;
    this.name = session.sources[0].name;
    this.files = session.list('files');
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
if (Symbol.asyncDispose) Model.prototype[Symbol.asyncDispose] = function () { return this.close(); };
if (Symbol.dispose) Model.prototype[Symbol.dispose] = function () { this.close().catch(() => {}); };

/**
 * Opens a model: a File, a Blob, an address, in node a path, {size, read}, or a list of the files of a set. `options`
 * are signal; for addresses headers and fetch; and alone, which leaves the other files of a set.
 */
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
  const session = new Session(await openSources(what, {signal: options.signal}));
  try {
    session.instance = await session.instantiate('full');
    return await session.document('check', options);
  } finally {
    await session.close();
  }
}
