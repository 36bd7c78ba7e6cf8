// SPDX-License-Identifier: MIT
// How far the weights are from those of the reference.
import {byId, decibels, digits, element, nameNodes, numberText, plural, safe, sum, tip} from
  './base.js';
import {choice, colourOf, data, inTotal, tensorLines, tensors, typeCell, types} from './model.js';

export const showErrors = () => {
  const compared = tensors.filter((tensor) => tensor.error);
  if (!data.reference) return;
  byId('errors').hidden = false;
  const {reference} = data;
  const missing = tensors.length - compared.length;
  byId('errors-about').textContent =
    `Against ${safe(reference.file.replace(/^.*\//, ''))}` +
    (reference.bits_per_weight === null ? ''
      : ` (${reference.bits_per_weight.toFixed(2)} bits per weight)`) +
    `: ${plural(compared.length, 'tensor', 'tensors')} compared` +
    (missing === 0 ? '.'
      : `, ${digits(missing)} without a counterpart of the same name and shape.`);
  showErrorsByType(compared);
  showWorst(compared.filter((tensor) => Number.isFinite(tensor.error.sqnr)));
};

const showErrorsByType = (compared) => {
  const rows = types.map((type) => {
    const own = compared.filter((tensor) => tensor.type === type.name);
    const counted = inTotal(own);
    const count = sum(counted, (tensor) => tensor.error.count);
    const error = sum(counted, (tensor) => tensor.error.squared_error);
    const signal = sum(counted, (tensor) => tensor.error.squared_signal);
    return {type, own, count, rmse: count === 0 ? 0 : Math.sqrt(error / count),
      sqnr: error === 0 ? Infinity : 10 * Math.log10(signal / error),
      max: own.reduce((most, tensor) => Math.max(most, tensor.error.max), 0)};
  }).filter((row) => row.own.length > 0);
  const heading = (name, isNumber = true) =>
    element('th', {scope: 'col', class: isNumber ? 'number' : null}, element('span', {}, name));
  const number = (text, style = '') => element('td', {class: `number ${style}`}, text);
  byId('errors-by-type').append(element('div', {class: 'wide'},
    element('table', {'aria-label': 'Error by tensor type'},
      element('thead', {}, element('tr', {}, heading('Type', false), heading('Tensors'),
        heading('SQNR'), heading('RMSE'), heading('Largest error'))),
      element('tbody', {}, ...rows.map((row) => element('tr', {},
        element('td', {}, typeCell(row.type.name)), number(digits(row.own.length)),
        number(decibels(row.sqnr)), number(numberText(row.rmse)), number(numberText(row.max))))))));
};

const showWorst = (compared) => {
  const worst = [...compared].sort((a, b) => a.error.sqnr - b.error.sqnr).slice(0, 15);
  const place = byId('worst');
  if (worst.length === 0) {
    place.replaceChildren(element('p', {class: 'muted'}, 'Every weight is that of the reference.'));
    return;
  }
  // Bars begin near the lowest value: from 0 on, all would look alike.
  const best = worst[worst.length - 1].error.sqnr;
  const lowest = worst[0].error.sqnr;
  const start = Math.floor(lowest - Math.max(0.1 * (best - lowest), 0.5));
  byId('worst-about').textContent = `Bars begin at ${start} dB.`;
  for (const tensor of worst) {
    const bar = element('b');
    bar.style.width = `${Math.max(2, 100 * (tensor.error.sqnr - start) / Math.max(best - start, 1e-9))}%`;
    bar.style.background = colourOf[tensor.type];
    const pick = () => choice.pickTensor(tensor, true);
    const name = element('button', {type: 'button', onclick: pick}, ...nameNodes(tensor.name));
    tip.attach(name, () => [tensor.name, [...tensorLines(tensor),
      `RMSE ${numberText(tensor.error.rmse)}, largest ${numberText(tensor.error.max)}`]]);
    place.append(name, element('span', {class: 'track'}, bar),
      element('span', {class: 'number'}, decibels(tensor.error.sqnr)));
  }
};
