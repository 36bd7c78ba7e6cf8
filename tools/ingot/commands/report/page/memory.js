// SPDX-License-Identifier: MIT
// What the model takes to run: weights, cache and work space, for contexts that grow.

const memoryParts = [
  ['weights', 'weights_bytes'], ['cache', 'cache_bytes'], ['work space', 'compute_bytes']];

const memoryLegend = () => memoryParts.map(([name, key]) =>
  element('span', {}, element('i', {class: `run-${key.split('_')[0]}`}), ' ', name));

const showMemory = () => {
  byId('memory-legend').append(...memoryLegend());
  const runs = data.memory_runs ?? [];
  const total = (run) => sum(memoryParts, ([, key]) => run[key]);
  const most = Math.max(...runs.map(total));
  for (const run of runs) {
    const bar = element('div', {class: 'run-bar'});
    for (const [name, key] of memoryParts) {
      const part = element('span', {class: `run-${key.split('_')[0]}`});
      part.style.width = `${100 * run[key] / most}%`;
      tip.attach(part, () => [name, [bytesText(run[key]), `${percent(run[key] / total(run))} of all`]]);
      bar.append(part);
    }
    const card = run.smallest_card_bytes === null ? 'no common card'
      : `${bytesText(run.smallest_card_bytes)} card`;
    byId('memory-runs').append(
      element('span', {}, `${digits(run.context)} tokens`), bar,
      element('span', {}, `${bytesText(total(run))} \u00b7 ${card}`));
  }
};
