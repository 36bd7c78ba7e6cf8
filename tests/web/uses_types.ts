// SPDX-License-Identifier: MIT
// What a user writes with the types of the package; it is compiled and never runs.
import {check, IngotError, open, parseJson, type Model, type Tensor} from 'ingot-gguf';
import {
  gguf, ggufAllShards, GGMLQuantizationType, GGUF_QUANT_DESCRIPTIONS, parseGGUFQuantLabel, type GGUFParseOutput,
} from 'ingot-gguf/huggingface';

export async function useTheModel(): Promise<void> {
  await using model: Model = await open('model.gguf', {headers: {authorization: 'x'}, alone: true});
  const tensor: Tensor | undefined = model.tensor('token_embd.weight');
  const rows: Float32Array | undefined = await tensor?.rows(0, 1, {signal: new AbortController().signal});
  const ids: number[] = await model.tokenizer.encode('Hello', {addSpecial: false});
  const prompt: string = await model.chat.render([{role: 'user', content: 'Hello'}], {addGenerationPrompt: true});
  const fit = await model.json('fit', {device: ['24G', '16G'], ctxSize: '32k'});
  console.log(rows, ids, prompt, fit, model.files[0].version, await check(new Blob([])), parseJson('{}'));
}

export async function useTheNamesOfHuggingFace(): Promise<string> {
  const {metadata, tensorInfos, parameterCount} = await gguf('x', {computeParametersCount: true, allowLocalFile: true});
  const {typedMetadata} = await gguf('x', {typedMetadata: true});
  const plain: GGUFParseOutput<{strict: false}> = await gguf('y');
  const shape: bigint[] = tensorInfos[0].shape;
  console.log(plain.metadata['some.key'], shape, parameterCount, typedMetadata['a'].type, (await ggufAllShards('x')).urls);
  const label: string = parseGGUFQuantLabel('m-Q4_K_M.gguf') ?? '';
  return label + metadata['general.architecture'] + GGUF_QUANT_DESCRIPTIONS[GGMLQuantizationType.Q4_K].txt;
}

export function isRefused(error: unknown): boolean {
  return error instanceof IngotError && error.code === 'not_gguf' && error.offset === 0;
}
