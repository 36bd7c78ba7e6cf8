// SPDX-License-Identifier: MIT
// The head of the page: title, facts, theme.
import {byId, bytesText, countText, cut, decibels, digits, element, plural, safe, sum} from './base.js';
import {data, inTotal, tensors, types} from './model.js';

export const setUpTheme = () => {
  const button = byId('theme');
  const names = {auto: 'Theme: automatic', light: 'Theme: light', dark: 'Theme: dark'};
  const order = Object.keys(names);
  let theme = 'auto';
  // A page from a file may not be allowed to remember anything.
  try { theme = localStorage.getItem('ingot-theme') ?? theme; } catch { /* then it does not */ }
  const apply = () => {
    if (!(theme in names)) theme = 'auto';
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = names[theme];
  };
  button.addEventListener('click', () => {
    theme = order[(order.indexOf(theme) + 1) % order.length];
    try { localStorage.setItem('ingot-theme', theme); } catch { /* as above */ }
    apply();
  });
  apply();
};

export const fact = (name, value, note, isWarning = false) =>
  element('div', {}, element('dt', {}, name),
    element('dd', {class: isWarning ? 'warn' : null}, safe(cut(value)),
      note ? element('small', {}, safe(cut(note))) : null));

export const range = (value) => {
  if (!Array.isArray(value)) return digits(value);
  if (value.length === 0) return '-';
  // Compared one by one: there may be more numbers than arguments, and some that are no doubles.
  const low = value.reduce((least, one) => one < least ? one : least);
  const high = value.reduce((most, one) => one > most ? one : most);
  return low < high ? `${digits(low)} to ${digits(high)}` : digits(low);
};

export const modelFacts = () => {
  const {model, format, tokenizer, foreign, shards} = data.summary;
  const facts = [];
  const add = (...of) => facts.push(fact(...of));
  if (model.parameters > 0) {
    add('Parameters', countText(model.parameters), digits(model.parameters));
  }
  // Foreign: a file of another format than GGUF.
  const size = foreign ? foreign.file_size : format.file_size;
  add('Size', bytesText(size), `${digits(size)} bytes`);
  if (model.bits_per_weight !== null) {
    add('Bits per weight', model.bits_per_weight.toFixed(2),
      model.file_type ? `labelled ${model.file_type}` : null);
  }
  if (model.block_count !== null) {
    add('Layers', digits(model.block_count),
      model.embedding_length === null ? null : `width ${digits(model.embedding_length)}`);
  }
  if (model.head_count !== null) {
    add('Attention heads', range(model.head_count),
      model.head_count_kv === null ? null : `${range(model.head_count_kv)} for keys and values`);
  }
  if (model.feed_forward_length !== null) add('Feed-forward', range(model.feed_forward_length));
  if (model.expert_count) {
    add('Experts', digits(model.expert_count),
      model.expert_used_count ? `${digits(model.expert_used_count)} used` : null);
  }
  if (model.context_length !== null) add('Context', digits(model.context_length), 'tokens');
  if (model.vocab_size !== null) add('Vocabulary', digits(model.vocab_size), tokenizer.model);
  if (tokenizer.chat_features) {
    add('Chat template', tokenizer.prompt_format || 'unknown format',
      tokenizer.chat_features.join(', ') || 'plain text alone');
  }
  if (tensors.length > 0) {
    add('Tensors', digits(tensors.length), plural(types.length, 'type', 'types'));
  }
  if (foreign) add('Format', foreign.format);
  else add('GGUF', `version ${format.version}`, `${format.endian}-endian`);
  if (shards.length > 0) {
    const present = shards.filter((shard) => shard.present).length;
    add('Shards', `${present} of ${shards.length}`, null, present < shards.length);
  }
  return facts;
};

const weightFacts = () => {
  const facts = [];
  const compared = tensors.filter((tensor) => tensor.error);
  if (compared.length > 0) {
    const counted = inTotal(compared);
    const signal = sum(counted, (tensor) => tensor.error.squared_signal);
    const error = sum(counted, (tensor) => tensor.error.squared_error);
    const sqnr = error === 0 ? Infinity : 10 * Math.log10(signal / error);
    facts.push(fact('SQNR', decibels(sqnr), 'against the reference'));
  }
  const odd = sum(tensors, (tensor) => tensor.stats ? tensor.stats.nan + tensor.stats.inf : 0);
  if (odd > 0) facts.push(fact('NaN and infinities', digits(odd), 'weights', true));
  return facts;
};

export const listContents = () => {
  const sections = document.querySelectorAll('main > section:not([hidden])');
  byId('contents').replaceChildren(...[...sections].map((section) =>
    element('a', {href: `#${section.id}`}, section.querySelector('h2').textContent)));
};

export const showSummary = () => {
  const {model} = data.summary;
  const fileName = data.file.replace(/^.*\//, '');
  byId('title').textContent = safe(cut(model.name || fileName));
  byId('subtitle').textContent =
    [model.architecture, fileName].filter(Boolean).map((text) => safe(cut(text))).join(' \u00b7 ');
  byId('facts').append(...modelFacts(), ...weightFacts());
  byId('notices').textContent = data.notices.map(safe).join(' ');
  byId('about').textContent =
    `Made by Ingot ${data.ingot}. This page holds all its data and loads nothing.`;
  listContents();
};
