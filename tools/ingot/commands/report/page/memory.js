// SPDX-License-Identifier: MIT
// What the model takes to run: weights, cache and work space, for contexts that grow.
import {byId, bytesText, digits, element, percent, sum, tip} from './base.js';
import {data} from './model.js';

const memoryParts = [
  ['weights', 'weights_bytes'], ['cache', 'cache_bytes'], ['work space', 'compute_bytes']];

export const memoryLegend = () => memoryParts.map(([name, key]) =>
  element('span', {}, element('i', {class: `run-${key.split('_')[0]}`}), ' ', name));

export const memoryOf = (run) => sum(memoryParts, ([, key]) => run[key]);

// The parts of a run side by side; `most` bytes are the whole width.
export const memoryRow = (name, run, most, about) => {
  const bar = element('div', {class: 'run-bar'});
  for (const [part, key] of memoryParts) {
    const span = element('span', {class: `run-${key.split('_')[0]}`});
    span.style.width = `${100 * run[key] / most}%`;
    tip.attach(span, () => [part, [bytesText(run[key]), `${percent(run[key] / memoryOf(run))} of all`]]);
    bar.append(span);
  }
  return element('div', {class: 'run'}, element('span', {}, name), bar, element('span', {}, about));
};

export const showMemory = () => {
  byId('memory-legend').append(...memoryLegend());
  const runs = data.memory_runs ?? [];
  const most = Math.max(...runs.map(memoryOf));
  for (const run of runs) {
    const card = run.smallest_card_bytes === null ? 'no common card'
      : `${bytesText(run.smallest_card_bytes)} card`;
    byId('memory-runs').append(memoryRow(`${digits(run.context)} tokens`, run, most,
      `${bytesText(memoryOf(run))} \u00b7 ${card}`));
  }
};
