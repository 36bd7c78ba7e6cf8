// SPDX-License-Identifier: MIT
// What users name: files, addresses, repositories; and the list of models that a server has.
import {open} from './ingot-gguf/index.js';
import {bytesText, safe} from './base.js';

const shardName = /-\d{5}-of-\d{5}\.gguf$/;

/** The name of a model as the page shows it. */
export const shortName = (what) => {
  if (Array.isArray(what)) return shortName(what[0]);
  if (typeof what !== 'string') return what.name;
  const last = what.replace(/[?#].*$/, '').split('/').pop();
  try { return decodeURIComponent(last); } catch { return last; }
};

/** Dropped files as models: those named like shards of one set are one. */
export const modelsOf = (files) => {
  const sets = new Map();
  for (const file of files) {
    const set = shardName.test(file.name) ? file.name.replace(shardName, '') : file;
    sets.set(set, [...(sets.get(set) ?? []), file]);
  }
  return [...sets.values()].map((set) =>
    set.length === 1 ? set[0] : set.sort((a, b) => a.name.localeCompare(b.name)));
};

/** The models that the server of this page was started with. */
export const listedModels = async () => {
  if (location.protocol === 'file:') return [];
  const answer = await fetch('models.json');
  const models = answer.ok ? await answer.json() : [];
  return models.map(({name, address}) => ({name, what: /^[a-z]+:/.test(address) ? address
    : new URL(address, document.baseURI).href}));
};

/**
 * Of "hf:org/repo" the GGUF files in it as choices, the shards of a set as one; of all else null.
 */
export const choicesIn = async (text, signal) => {
  const parts = /^hf:([^/@]+\/[^/@]+)(?:@([^/]+))?\/?$/.exec(text);
  if (!parts) return null;
  const [, repository, revision = 'main'] = parts;
  const answer = await fetch(`https://huggingface.co/api/models/${repository}/tree/` +
    `${encodeURIComponent(revision)}?recursive=true`, {credentials: 'omit', signal});
  if (!answer.ok) throw new Error(`${repository}: the hub answers ${answer.status}`);
  const at = parts[2] ? `@${revision}` : '';
  return (await answer.json())
    .filter(({type, path}) => type === 'file' && path.endsWith('.gguf') &&
      (!shardName.test(path) || /-00001-of-/.test(path)))
    .map(({path, size}) => ({name: `${safe(path)} (${bytesText(size)}` +
      `${shardName.test(path) ? ' and more' : ''})`, what: `hf:${repository}${at}/${path}`}));
};

export const openModel = (what, signal) => open(what, {signal});
