// SPDX-License-Identifier: MIT
// ingot-gguf/huggingface: the names of the package @huggingface/gguf over the reader of this one, so that a user
// changes one import. docs/web.md lists the differences.
import {IngotError, open} from './index.js';
import {isNode} from './instance.js';
import {joined} from './values.js';

/** An object that has numbers by names and, as enums of TypeScript, names by numbers. */
function enumOf(rows) {
  const numbers = {};
  for (const [name, number] of rows) {
    numbers[name] = number;
    numbers[number] = name;
  }
  return Object.freeze(numbers);
}

/** Name, number, how a DataView calls it, bytes. */
const valueRows = [
  ['UINT8', 0, 'Uint8', 1], ['INT8', 1, 'Int8', 1], ['UINT16', 2, 'Uint16', 2], ['INT16', 3, 'Int16', 2],
  ['UINT32', 4, 'Uint32', 4], ['INT32', 5, 'Int32', 4], ['FLOAT32', 6, 'Float32', 4], ['BOOL', 7, 'Uint8', 1],
  ['STRING', 8], ['ARRAY', 9], ['UINT64', 10, 'BigUint64', 8], ['INT64', 11, 'BigInt64', 8],
  ['FLOAT64', 12, 'Float64', 8],
];
export const GGUFValueType = enumOf(valueRows);

const floatText = 'IEEE 754 float';
const affine = (bits, block) => `${bits} bits a weight, ${block} weights share a scale`;
const shifted = (bits, block) => `${affine(bits, block)} and an offset`;
const points = (bits) => `about ${bits} bits a weight, groups of weights are points of a code book, 256 share a scale`;
/** Name, number, what it is. */
const tensorRows = [
  ['F32', 0, `32-bit ${floatText}`], ['F16', 1, `16-bit ${floatText}`], ['Q4_0', 2, affine(4, 32)],
  ['Q4_1', 3, shifted(4, 32)], ['Q5_0', 6, affine(5, 32)], ['Q5_1', 7, shifted(5, 32)], ['Q8_0', 8, affine(8, 32)],
  ['Q8_1', 9, `${affine(8, 32)} and their sum; for activations`], ['Q2_K', 10, `${shifted(2, 16)}, in super-blocks of 256`],
  ['Q3_K', 11, `${affine(3, 16)}, in super-blocks of 256`], ['Q4_K', 12, `${shifted(4, 32)}, in super-blocks of 256`],
  ['Q5_K', 13, `${shifted(5, 32)}, in super-blocks of 256`], ['Q6_K', 14, `${affine(6, 16)}, in super-blocks of 256`],
  ['Q8_K', 15, `${affine(8, 256)}; for activations`], ['IQ2_XXS', 16, points(2.06)], ['IQ2_XS', 17, points(2.31)],
  ['IQ3_XXS', 18, points(3.06)], ['IQ1_S', 19, points(1.56)], ['IQ4_NL', 20, `${affine(4, 32)}, levels at uneven distances`],
  ['IQ3_S', 21, points(3.44)], ['IQ2_S', 22, points(2.56)],
  ['IQ4_XS', 23, `${affine(4, 32)}, levels at uneven distances, in super-blocks of 256`], ['I8', 24, '8-bit integer'],
  ['I16', 25, '16-bit integer'], ['I32', 26, '32-bit integer'], ['I64', 27, '64-bit integer'],
  ['F64', 28, `64-bit ${floatText}`], ['IQ1_M', 29, points(1.75)], ['BF16', 30, 'the upper 16 bits of a 32-bit float'],
  ['TQ1_0', 34, 'ternary, 1.69 bits a weight'], ['TQ2_0', 35, 'ternary, 2.06 bits a weight'],
  ['MXFP4', 39, '4-bit floats, 32 share an exponent'], ['NVFP4', 40, '4-bit floats, 16 share an 8-bit float'],
  ['Q1_0', 41, 'a sign a weight, 128 weights share a scale'], ['Q2_0', 42, affine(2, 64)],
];
export const GGMLQuantizationType = enumOf(tensorRows);
export const GGUF_QUANT_DESCRIPTIONS = Object.freeze(Object.fromEntries(tensorRows.map(([, number, txt]) => [number, {txt}])));

/** The names of file types by their numbers; those of the Hub, which llama.cpp does not know, from 1000 on. */
const fileNames = `F32 F16 Q4_0 Q4_1 Q4_1_SOME_F16 Q4_2 Q4_3 Q8_0 Q5_0 Q5_1 Q2_K Q3_K_S Q3_K_M Q3_K_L Q4_K_S Q4_K_M Q5_K_S
  Q5_K_M Q6_K IQ2_XXS IQ2_XS Q2_K_S IQ3_XS IQ3_XXS IQ1_S IQ4_NL IQ3_S IQ3_M IQ2_S IQ2_M IQ4_XS IQ1_M BF16 Q4_0_4_4
  Q4_0_4_8 Q4_0_8_8 TQ1_0 TQ2_0 MXFP4_MOE NVFP4 Q1_0 Q2_0`.split(/\s+/);
const hubNames = 'Q2_K_XL Q3_K_XL Q4_K_XL Q5_K_XL Q6_K_XL Q8_K_XL'.split(' ');
export const GGMLFileQuantizationType = enumOf([
  ...fileNames.map((name, number) => [name, number]), ...hubNames.map((name, i) => [name, 1000 + i]),
]);

/** The file types, those with the most bits first. */
export const GGUF_QUANT_ORDER = Object.freeze(`F32 BF16 F16 Q8_K_XL Q8_0 Q6_K_XL Q6_K Q5_K_XL Q5_K_M Q5_K_S Q5_0 Q5_1
  Q4_K_XL Q4_K_M Q4_K_S IQ4_NL IQ4_XS Q4_0_4_4 Q4_0_4_8 Q4_0_8_8 Q4_1_SOME_F16 Q4_0 Q4_1 Q4_2 Q4_3 MXFP4_MOE NVFP4
  Q3_K_XL Q3_K_L Q3_K_M Q3_K_S IQ3_M IQ3_S IQ3_XS IQ3_XXS Q2_K_XL Q2_K Q2_K_S IQ2_M IQ2_S IQ2_XS IQ2_XXS Q2_0 IQ1_S IQ1_M
  TQ1_0 TQ2_0 Q1_0`.split(/\s+/).map((name) => GGMLFileQuantizationType[name]));

const anyQuant = `(?<prefix>UD-)?(?<quant>${[...fileNames, ...hubNames, 'MXFP4'].join('|')})(_(?<sizeVariation>[A-Z]+))?`;
export const GGUF_QUANT_RE = new RegExp(anyQuant);
export const GGUF_QUANT_RE_GLOBAL = new RegExp(anyQuant, 'g');
export const RE_GGUF_FILE = /\.gguf$/;
export const RE_GGUF_SHARD_FILE = /^(?<prefix>.*?)-(?<shard>\d{5})-of-(?<total>\d{5})\.gguf$/;

/** The file type that stands last in the name of a file. */
export function parseGGUFQuantLabel(name) {
  return name.toUpperCase().match(GGUF_QUANT_RE_GLOBAL)?.at(-1);
}

/** Of the types that there are the one that is asked for, or the largest that is smaller, or the smallest. */
export function findNearestQuantType(wanted, available) {
  const place = (type) => GGUF_QUANT_ORDER.indexOf(type);
  const sorted = [...available].sort((a, b) => place(a) - place(b));
  return sorted.find((type) => place(type) >= place(wanted)) ?? sorted.at(-1);
}

export function parseGgufShardFilename(name) {
  const parts = RE_GGUF_SHARD_FILE.exec(name);
  return parts && {...parts.groups};
}

/** The value of a key, with bigint for each type of 64 bits, and the float that is in the file. */
function valueOf(value, type) {
  if (Array.isArray(value)) return value.map((one) => valueOf(one, type));
  if (type === 'uint64' || type === 'int64') return BigInt(value);
  if (type === 'float32') return Math.fround(Number(value));
  return type === 'float64' ? Number(value) : value;
}

const numberOf = (typeName) => GGUFValueType[typeName.toUpperCase()];

/** The keys with their types, those that the header counts first. */
function typedEntries(model) {
  const [file] = model.files;
  const size = file.version === 1 ? GGUFValueType.UINT32 : GGUFValueType.UINT64;
  const entries = [
    ['version', {value: file.version, type: GGUFValueType.UINT32}],
    ['tensor_count', {value: BigInt(model.tensors.length), type: size}],
    ['kv_count', {value: BigInt(file.key_count), type: size}],
  ];
  for (const [key, value] of model.metadata) {
    const {type, element_type: subType} = model.metadata.type(key);
    const entry = {value: valueOf(value, subType ?? type), type: numberOf(type)};
    if (subType) entry.subType = numberOf(subType);
    entries.push([key, entry]);
  }
  return entries;
}

/** The header of one file, from an address or, with `allowLocalFile`, a path. */
export async function gguf(uri, params = {}) {
  const {fetch: ask, additionalFetchHeaders: headers, allowLocalFile, typedMetadata, computeParametersCount} = params;
  if (isNode ? !/^https?:\/\//.test(uri) && !allowLocalFile : allowLocalFile) {
    throw new IngotError({code: 'invalid_argument', subject: uri, message: isNode
      ? 'a path needs the option allowLocalFile' : 'a page has no paths; leave out allowLocalFile'});
  }
  const model = await open(uri, {alone: true, fetch: ask, headers});
  try {
    const [file] = model.files;
    const entries = typedEntries(model);
    const result = {
      metadata: Object.fromEntries(entries.map(([key, {value}]) => [key, value])),
      tensorInfos: model.tensors.map(({name, shape, type, offset}) => ({
        name, n_dims: shape.length, shape: shape.map(BigInt), dtype: GGMLQuantizationType[type], offset: BigInt(offset),
      })),
      tensorDataOffset: BigInt(file.data_offset),
      littleEndian: file.byte_order === 'little',
      tensorInfoByteRange: [file.infos_offset, file.header_bytes],
    };
    if (computeParametersCount) {
      result.parameterCount = model.tensors.reduce((count, {elements}) => count + Number(elements), 0);
    }
    if (typedMetadata) result.typedMetadata = Object.fromEntries(entries);
    return result;
  } finally {
    await model.close();
  }
}

/** The headers of all files of a set, of which `url` is one. */
export async function ggufAllShards(url, params = {}) {
  const {parallelDownloads = 20, ...rest} = params;
  if (!(parallelDownloads >= 1)) throw new TypeError('parallelDownloads must be at least 1');
  const set = parseGgufShardFilename(url);
  const urls = set === null ? [url] : Array.from({length: Number(set.total)}, (_, i) =>
    `${set.prefix}-${String(i + 1).padStart(5, '0')}-of-${set.total}.gguf`);
  const shards = [];
  let next = 0;
  const work = async () => {
    while (next < urls.length) {
      const place = next++;
      shards[place] = await gguf(urls[place], {...rest, typedMetadata: false, computeParametersCount: true});
    }
  };
  await Promise.all(Array.from({length: Math.min(parallelDownloads, urls.length)}, work));
  const parameterCount = shards.reduce((count, shard) => count + shard.parameterCount, 0);
  if (set === null) delete shards[0].parameterCount;
  return {shards, parameterCount, urls};
}

/** Bytes of a header in the order and with the sizes of its version. */
class Writer {
  parts = [];

  constructor(version, littleEndian) {
    this.version = version;
    this.littleEndian = littleEndian;
  }

  number(type, value) {
    const [, , kind, size] = valueRows[type];
    const view = new DataView(new ArrayBuffer(size));
    view[`set${kind}`](0, size === 8 && type !== GGUFValueType.FLOAT64 ? BigInt(value) : Number(value), this.littleEndian);
    this.parts.push(new Uint8Array(view.buffer));
  }

  count(value) {
    this.number(this.version === 1 ? GGUFValueType.UINT32 : GGUFValueType.UINT64, value);
  }

  text(value) {
    const bytes = new TextEncoder().encode(value);
    this.count(bytes.length);
    this.parts.push(bytes);
  }

  value(type, value, subType) {
    if (type === GGUFValueType.STRING) return this.text(value);
    if (type !== GGUFValueType.ARRAY) return this.number(type, value);
    if (subType === undefined) throw new IngotError({code: 'invalid_argument', message: 'an array needs its subType'});
    this.number(GGUFValueType.UINT32, subType);
    this.count(value.length);
    for (const one of value) this.value(subType, one);
  }
}

function writeKeys(typedMetadata, littleEndian) {
  const {version, tensor_count: tensors, kv_count: _, ...keys} = typedMetadata;
  const writer = new Writer(version.value, littleEndian);
  writer.parts.push(new TextEncoder().encode('GGUF'));
  writer.number(GGUFValueType.UINT32, version.value);
  writer.count(tensors.value);
  writer.count(Object.keys(keys).length);
  for (const [key, {value, type, subType}] of Object.entries(keys)) {
    writer.text(key);
    writer.number(GGUFValueType.UINT32, type);
    writer.value(type, value, subType);
  }
  return writer;
}

/** A header without tensors, as its bytes. */
export function serializeGgufMetadata(typedMetadata, {littleEndian = true, alignment = 32} = {}) {
  return joined(writeKeys(typedMetadata, littleEndian).parts, alignment);
}

/** A header with other keys and the table of tensors of a file. */
export async function buildGgufHeader(file, typedMetadata, {littleEndian, tensorInfoByteRange, alignment = 32}) {
  const writer = writeKeys(typedMetadata, littleEndian);
  writer.parts.push(new Uint8Array(await file.slice(...tensorInfoByteRange).arrayBuffer()));
  return new Blob([joined(writer.parts, alignment)], {type: 'application/octet-stream'});
}
