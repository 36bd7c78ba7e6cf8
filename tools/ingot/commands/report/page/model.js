// SPDX-License-Identifier: MIT
// The data of the page: tensors with their layer and part, types with their colours, and what is
// chosen.
import {byId, bytesText, decibels, element, numberText, percent, safe, sum, toNumber}
  from './base.js';

// What useModel() sets.
export let data = {};
export let tensors = [];
export let types = [];
export let colourOf = {};
export let totalBytes = 0;

// "blk.12.ffn_down.weight" is part "ffn_down" of layer 12. Names of other writers end in the same
// way.
const placeOf = (name) => {
  const match = /(?:^|\.)(?:blk|layers?|h|blocks?)\.(\d{1,6})\.([^]+)$/.exec(name);
  const part = (match ? match[2] : name).replace(/\.weight$/, '');
  return {layer: match ? Number(match[1]) : null, part};
};

const kinds = [
  ['Experts', /_exps|experts|_shexp/],
  ['Attention', /attn|attention|\.[qkvo]_proj|ssm|time_mix/],
  ['Feed-forward', /ffn|mlp|feed_forward|channel_mix/],
  ['Embedding', /embd|embed|wte|wpe/],
  ['Output', /^output|lm_head/],
];
const kindOf = (part) => {
  if (/norm|(^|\.)ln_/.test(part)) return 'Norms';
  const found = kinds.find(([, pattern]) => pattern.test(part));
  return found ? found[0] : 'Other';
};

const placedTensor = (tensor, index) => {
  const stats = tensor.stats && Object.fromEntries(
    Object.entries(tensor.stats).map(([key, value]) => [key, toNumber(value)]));
  const error = tensor.error && {...tensor.error, sqnr: toNumber(tensor.error.sqnr_db)};
  const {layer, part} = placeOf(tensor.name);
  // Whole numbers that are too large for a double may come as bigint, which sums do not take.
  const [elements, bytes] = [Number(tensor.elements), Number(tensor.bytes)];
  return {...tensor, elements, bytes, index, stats, error, layer, part, kind: kindOf(part)};
};

// The tensors that a total of errors counts: those with an error, because the signal of the others
// would flatter it; all, if none has one.
export const inTotal = (compared) => {
  const changed = compared.filter((tensor) => tensor.error.squared_error > 0);
  return changed.length > 0 ? changed : compared;
};
// Few bits are warm, many are cool, and floats are calm: [bits per weight, hue, chroma].
const hues = [[1, 15, 0.16], [2, 38, 0.15], [3, 75, 0.13], [4, 150, 0.13], [5, 185, 0.1],
  [6, 225, 0.11], [8, 262, 0.15], [16, 310, 0.12], [32, 265, 0.025], [64, 265, 0.01]];
const sharesOfTypes = () => {
  const shares = new Map();
  for (const tensor of tensors) {
    const share = shares.get(tensor.type) ??
      {name: tensor.type, tensors: 0, elements: 0, bytes: 0};
    ++share.tensors;
    share.elements += tensor.elements;
    share.bytes += tensor.bytes;
    shares.set(tensor.type, share);
  }
  const list = [...shares.values()].sort((a, b) => b.bytes - a.bytes);
  const used = new Map();
  for (const type of list) {
    const bits = type.elements === 0 ? 32 : 8 * type.bytes / type.elements;
    const stop = hues.findLastIndex(([least]) => least <= bits + 0.4);
    const [, hue, chroma] = hues[Math.max(stop, 0)];
    const twin = used.get(stop) ?? 0;  // types of the same size differ in brightness
    used.set(stop, twin + 1);
    const lightness = [0.55, 0.63, 0.47, 0.7][twin % 4];
    type.colour = `oklch(${lightness} ${chroma} ${hue + twin * 9})`;
  }
  return list;
};
export const typeMark = (name) => {
  const mark = element('i');
  mark.style.background = colourOf[name] ?? 'var(--soft)';
  return mark;
};
export const typeCell = (name) => element('span', {class: 'type'}, typeMark(name), safe(name));

export const tensorLines = (tensor) => {
  const share = totalBytes === 0 ? 0 : tensor.bytes / totalBytes;
  const lines = [
    `${tensor.shape.join(' x ') || 'scalar'}, ${safe(tensor.type)}`,
    `${bytesText(tensor.bytes)}, ${percent(share)} of all`,
  ];
  if (tensor.stats && tensor.stats.std !== null) {
    lines.push(`mean ${numberText(tensor.stats.mean)}, deviation ${numberText(tensor.stats.std)}`);
  }
  if (tensor.lattice) lines.push(`on a ${tensor.lattice.text}`);
  if (tensor.error) lines.push(`SQNR ${decibels(tensor.error.sqnr)}`);
  return lines;
};

// Makes a model the one that the page shows.
export const useModel = (document) => {
  data = document;
  tensors = data.tensors.map(placedTensor);
  types = sharesOfTypes();
  colourOf = Object.fromEntries(types.map((type) => [type.name, type.colour]));
  totalBytes = sum(tensors, (tensor) => tensor.bytes);
  Object.assign(choice, {tensor: null, type: null, followers: []});
};

// What is chosen, and who wants to know when that changes.
export const choice = {
  tensor: null,
  type: null,
  followers: [],
  follow(follower) { this.followers.push(follower); },
  tell() { for (const follower of this.followers) follower(); },
  pickTensor(tensor, isScrolling = false) {
    this.tensor = tensor;
    this.tell();
    if (isScrolling) byId('tensor').scrollIntoView({block: 'nearest'});
  },
  pickType(name) {
    this.type = this.type === name ? null : name;
    this.tell();
  },
  hasType(name) { return this.type === null || this.type === name; },
};
