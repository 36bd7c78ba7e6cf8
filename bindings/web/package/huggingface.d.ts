// SPDX-License-Identifier: MIT
// The types of @huggingface/gguf, as far as a user of its functions meets them.

export type MetadataBaseValue = string | number | bigint | boolean;
export type MetadataValue = MetadataBaseValue | MetadataBaseValue[] | MetadataValue[];
export type Version = 1 | 2 | 3;
/** A name of an architecture; any that a file has. */
export type Architecture = string;

export declare enum GGUFValueType {
  UINT8 = 0, INT8 = 1, UINT16 = 2, INT16 = 3, UINT32 = 4, INT32 = 5, FLOAT32 = 6, BOOL = 7, STRING = 8, ARRAY = 9,
  UINT64 = 10, INT64 = 11, FLOAT64 = 12,
}
export declare enum GGMLQuantizationType {
  F32 = 0, F16 = 1, Q4_0 = 2, Q4_1 = 3, Q5_0 = 6, Q5_1 = 7, Q8_0 = 8, Q8_1 = 9, Q2_K = 10, Q3_K = 11, Q4_K = 12,
  Q5_K = 13, Q6_K = 14, Q8_K = 15, IQ2_XXS = 16, IQ2_XS = 17, IQ3_XXS = 18, IQ1_S = 19, IQ4_NL = 20, IQ3_S = 21,
  IQ2_S = 22, IQ4_XS = 23, I8 = 24, I16 = 25, I32 = 26, I64 = 27, F64 = 28, IQ1_M = 29, BF16 = 30, TQ1_0 = 34,
  TQ2_0 = 35, MXFP4 = 39, NVFP4 = 40, Q1_0 = 41, Q2_0 = 42,
}
export declare enum GGMLFileQuantizationType {
  F32 = 0, F16 = 1, Q4_0 = 2, Q4_1 = 3, Q4_1_SOME_F16 = 4, Q4_2 = 5, Q4_3 = 6, Q8_0 = 7, Q5_0 = 8, Q5_1 = 9, Q2_K = 10,
  Q3_K_S = 11, Q3_K_M = 12, Q3_K_L = 13, Q4_K_S = 14, Q4_K_M = 15, Q5_K_S = 16, Q5_K_M = 17, Q6_K = 18, IQ2_XXS = 19,
  IQ2_XS = 20, Q2_K_S = 21, IQ3_XS = 22, IQ3_XXS = 23, IQ1_S = 24, IQ4_NL = 25, IQ3_S = 26, IQ3_M = 27, IQ2_S = 28,
  IQ2_M = 29, IQ4_XS = 30, IQ1_M = 31, BF16 = 32, Q4_0_4_4 = 33, Q4_0_4_8 = 34, Q4_0_8_8 = 35, TQ1_0 = 36, TQ2_0 = 37,
  MXFP4_MOE = 38, NVFP4 = 39, Q1_0 = 40, Q2_0 = 41, Q2_K_XL = 1000, Q3_K_XL = 1001, Q4_K_XL = 1002, Q5_K_XL = 1003,
  Q6_K_XL = 1004, Q8_K_XL = 1005,
}

export interface GGUFMetadataOptions {
  strict: boolean;
}
/** The keys of a file, whatever the option says. */
export type GGUFMetadata<_Options extends GGUFMetadataOptions = {strict: true}> = {
  version: Version;
  tensor_count: bigint;
  kv_count: bigint;
  'general.architecture'?: string;
  'general.name'?: string;
  'general.file_type'?: GGMLFileQuantizationType;
  'general.quantization_version'?: number;
  'tokenizer.ggml.model'?: string;
  'tokenizer.ggml.tokens'?: string[];
  'tokenizer.chat_template'?: string;
  [key: string]: MetadataValue | undefined;
};
export interface GGUFTypedValue<T = MetadataValue> {
  value: T;
  type: GGUFValueType;
  subType?: GGUFValueType;
}
export type GGUFTypedMetadata = {
  version: GGUFTypedValue<Version>;
  tensor_count: GGUFTypedValue<bigint>;
  kv_count: GGUFTypedValue<bigint>;
} & Record<string, GGUFTypedValue>;
export interface GGUFTensorInfo {
  name: string;
  n_dims: number;
  shape: bigint[];
  dtype: GGMLQuantizationType;
  /** From the beginning of the data section, bytes. */
  offset: bigint;
}
export interface GGUFParseOutput<Options extends GGUFMetadataOptions = {strict: true}> {
  metadata: GGUFMetadata<Options>;
  tensorInfos: GGUFTensorInfo[];
  tensorDataOffset: bigint;
  littleEndian: boolean;
  /** Where the table of tensors begins and ends, bytes. */
  tensorInfoByteRange: [number, number];
}

export interface GGUFParams {
  fetch?: typeof fetch;
  additionalFetchHeaders?: Record<string, string>;
  allowLocalFile?: boolean;
}
export function gguf(uri: string, params: GGUFParams & {typedMetadata: true; computeParametersCount: true}):
  Promise<GGUFParseOutput & {parameterCount: number; typedMetadata: GGUFTypedMetadata}>;
export function gguf(uri: string, params: GGUFParams & {typedMetadata: true}):
  Promise<GGUFParseOutput & {typedMetadata: GGUFTypedMetadata}>;
export function gguf(uri: string, params: GGUFParams & {computeParametersCount: true}):
  Promise<GGUFParseOutput & {parameterCount: number}>;
export function gguf(uri: string, params?: GGUFParams): Promise<GGUFParseOutput>;
export function ggufAllShards(url: string, params?: GGUFParams & {parallelDownloads?: number}):
  Promise<{shards: GGUFParseOutput[]; parameterCount: number; urls: string[]}>;

export function serializeGgufMetadata(
  typedMetadata: GGUFTypedMetadata, options?: {littleEndian?: boolean; alignment?: number}): Uint8Array;
export function buildGgufHeader(
  originalFileBlob: Blob, updatedMetadata: GGUFTypedMetadata,
  options: {littleEndian: boolean; tensorInfoByteRange: [number, number]; alignment?: number}): Promise<Blob>;

export const RE_GGUF_FILE: RegExp;
export const RE_GGUF_SHARD_FILE: RegExp;
export interface GgufShardFileInfo {
  prefix: string;
  shard: string;
  total: string;
}
export function parseGgufShardFilename(filename: string): GgufShardFileInfo | null;

export const GGUF_QUANT_DESCRIPTIONS: Record<GGMLQuantizationType, {txt: string; src_url?: string}>;
export const GGUF_QUANT_RE: RegExp;
export const GGUF_QUANT_RE_GLOBAL: RegExp;
export const GGUF_QUANT_ORDER: GGMLFileQuantizationType[];
export function parseGGUFQuantLabel(fname: string): string | undefined;
export function findNearestQuantType(
  quant: GGMLFileQuantizationType, availableQuants: GGMLFileQuantizationType[]): GGMLFileQuantizationType | undefined;
