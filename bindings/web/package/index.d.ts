// SPDX-License-Identifier: MIT
/// <reference lib="esnext.disposable" />

/** A number of a file; bigint where a double does not hold it. */
export type Whole = number | bigint;
export type Value = Whole | boolean | string | Value[];
/** A document of `ingot`, as docs/json.md describes it. */
export type Json = null | boolean | Whole | string | Json[] | {[name: string]: Json};

/** Where bytes come from, if not from a File, an address or a path. */
export interface Source {
  name?: string;
  /** The size of the file, bytes. */
  size: number;
  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>;
}

export interface Stoppable {
  signal?: AbortSignal;
}

export interface OpenOptions extends Stoppable {
  /** Headers of the requests, like authorization. */
  headers?: Record<string, string>;
  /** Stands in for the fetch() of the system. */
  fetch?: typeof fetch;
  /** Whether one file of a set is a model of its own. */
  alone?: boolean;
}

/** One file of a model; sizes and offsets in bytes. */
export interface ModelFile {
  readonly name: string;
  readonly size: number;
  /** The version of the format: 1, 2 or 3. */
  readonly version: number;
  readonly byte_order: 'little' | 'big';
  readonly alignment: number;
  readonly key_count: number;
  /** Where the table of tensors begins, and where it ends. */
  readonly infos_offset: number;
  readonly header_bytes: number;
  readonly data_offset: number;
}

/** A failure; `code` is a name of docs/errors.md. */
export class IngotError extends Error {
  readonly code: string;
  /** The byte of the file that it is about. */
  readonly offset: number | null;
  /** The key, tensor or file that it is about. */
  readonly subject: string | null;
  readonly context: string[];
  constructor(members: {
    code: string; message: string; offset?: number | null; subject?: string | null; context?: string[];
  });
}

export interface KeyType {
  key: string;
  type: string;
  element_type?: string;
  count?: number;
}

/** The keys of a model in their order. Arrays are read when they are asked for. */
export interface Metadata extends Iterable<[string, Value]> {
  readonly size: number;
  has(key: string): boolean;
  get(key: string): Value | undefined;
  type(key: string): KeyType | undefined;
  keys(): IterableIterator<string>;
  values(): IterableIterator<Value>;
  entries(): IterableIterator<[string, Value]>;
  forEach(use: (value: Value, key: string, metadata: Metadata) => void): void;
}

export interface Tensor {
  readonly name: string;
  readonly type: string;
  /** The dimension that varies fastest first. */
  readonly shape: number[];
  readonly elements: number;
  /** Bytes. */
  readonly size: number;
  /** From the beginning of the data section, bytes. */
  readonly offset: number;
  readonly file_offset: number;
  readonly shard: number;
  readonly rowCount: number;
  /** The weights of rows from `from` (0), before `to` (rowCount). */
  rows(from?: number, to?: number, options?: Stoppable): Promise<Float32Array>;
  bytes(options?: Stoppable): Promise<Uint8Array>;
}

export interface Tokenizer {
  encode(text: string, options?: Stoppable & {addSpecial?: boolean; parseSpecial?: boolean}): Promise<number[]>;
  decode(ids: Iterable<number>, options?: Stoppable & {showSpecial?: boolean; removeSpecial?: boolean}): Promise<string>;
}

export interface Message {
  role: string;
  content?: unknown;
  [name: string]: unknown;
}

export interface RenderOptions extends Stoppable {
  addGenerationPrompt?: boolean;
  tools?: unknown[];
  /** Further variables of the template. */
  variables?: {[name: string]: unknown};
  /** The name of a template, of a file that has several. */
  name?: string;
  /** The present time, like 2026-11-28T12:00:00. */
  now?: string;
}

export interface Chat {
  render(messages: Message[], options?: RenderOptions): Promise<string>;
}

export type DocumentName = 'show' | 'metadata' | 'tensors' | 'check' | 'fit' | 'anatomy';

/** The options of a command in camelCase: `ctxSize` is --ctx-size, `keyGlob` the argument KEY-GLOB. */
export interface Options extends Stoppable {
  [name: string]: string | number | boolean | string[] | AbortSignal | undefined;
}

export class Model {
  private constructor();
  readonly name: string;
  /** The files of a set by their numbers. */
  readonly files: ModelFile[];
  readonly metadata: Metadata;
  readonly tensors: Tensor[];
  readonly tokenizer: Tokenizer;
  readonly chat: Chat;
  tensor(name: string): Tensor | undefined;
  /** The document that `ingot NAME --json` prints of the file. */
  json(name: DocumentName, options?: Options): Promise<Json>;
  show(options?: Options): Promise<Json>;
  check(options?: Options): Promise<Json>;
  fit(options?: Options): Promise<Json>;
  anatomy(options?: Options): Promise<Json>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  [Symbol.dispose](): void;
}

export type Openable = Blob | URL | string | Source;

/** Opens a model; of a set any shard, by its path or address, or the list of its files. */
export function open(what: Openable | Openable[], options?: OpenOptions): Promise<Model>;

/** The document of `ingot check --json`, also of a file that `open` refuses. */
export function check(what: Openable | Openable[], options?: Options): Promise<Json>;

/** JSON in which whole numbers that a double does not hold are bigint. */
export function parseJson(text: string): Json;
