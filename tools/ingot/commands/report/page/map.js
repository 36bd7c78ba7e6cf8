// SPDX-License-Identifier: MIT
// The map: a column for each layer, a row for each part of one, coloured by what the user chooses.
import {byId, bytesText, decibels, digits, element, numberText, safe, tip} from './base.js';
import {choice, colourOf, tensorLines, tensors, typeMark, types} from './model.js';

const mostLayers = 1024;
const mostParts = 96;
// A cell is an element of the page.
const mostCells = 20000;

const metricsOfTensors = () => [
  {name: 'tensor type', value: null},
  {name: 'bits per weight', value: (t) => t.elements === 0 ? null : 8 * t.bytes / t.elements,
    text: (value) => value.toFixed(2)},
  {name: 'bytes', value: (t) => t.bytes, text: bytesText},
  {name: 'standard deviation', value: (t) => t.stats ? t.stats.std : null, text: numberText},
  {name: 'largest weight', text: numberText,
    value: (t) => t.stats && t.stats.max !== null
      ? Math.max(Math.abs(t.stats.min), Math.abs(t.stats.max)) : null},
  {name: 'SQNR', text: decibels,
    value: (t) => t.error && Number.isFinite(t.error.sqnr) ? t.error.sqnr : null},
  {name: 'RMSE', value: (t) => t.error ? t.error.rmse : null, text: numberText},
].filter((metric) => metric.value === null || tensors.some((t) => metric.value(t) !== null));

// The parts of layers in the order in which the first layer that has them names them.
const mapRows = () => {
  const rows = new Map();
  const layers = tensors.reduce((most, {layer}) =>
    layer === null || layer >= mostLayers ? most : Math.max(most, layer + 1), 1);
  const most = Math.min(mostParts, Math.floor(mostCells / layers));
  for (const tensor of tensors) {
    if (tensor.layer === null || tensor.layer >= mostLayers) continue;
    if (!rows.has(tensor.part)) {
      if (rows.size === most) continue;
      rows.set(tensor.part, new Map());
    }
    rows.get(tensor.part).set(tensor.layer, tensor);
  }
  const order = ['Attention', 'Feed-forward', 'Experts', 'Other', 'Norms'];
  const place = ([, cells]) => order.indexOf(cells.values().next().value.kind);
  return [...rows].sort((a, b) => place(a) - place(b));
};

export class LayerMap {
  constructor() {
    this.rows = mapRows();
    this.layerCount = this.rows.reduce(
      (most, [, cells]) => Math.max(most, ...cells.keys()), -1) + 1;
    this.largest = this.rows.reduce((most, [, cells]) =>
      Math.max(most, ...[...cells.values()].map((tensor) => tensor.bytes)), 1);
    this.cells = new Map();  // by index of the tensor
    this.metrics = metricsOfTensors();
    this.metric = this.metrics[0];
    this.build();
    this.buildMetrics();
    choice.follow(() => this.refresh());
  }

  build() {
    const grid = element('div', {class: 'grid', role: 'grid', 'aria-label': 'Tensors by layer'});
    // Few layers get wide cells; of many, cells shrink until all fit, and only then the map scrolls.
    const least = this.layerCount > 160 ? '0.85rem' : this.layerCount > 32 ? '0.22rem' : '0.85rem';
    grid.style.gridTemplateColumns =
      `max-content repeat(${Math.max(this.layerCount, 1)}, minmax(${least}, 1fr))`;
    if (this.layerCount > 32) grid.classList.add('dense');
    if (this.rows.length > 0) grid.append(this.header());
    this.rows.forEach(([part, cells], y) => grid.append(this.row(part, cells, y)));
    grid.addEventListener('keydown', (event) => this.move(event));
    if (this.rows.length > 0) byId('map').append(grid);
    const others = tensors.filter((tensor) => !this.cells.has(tensor.index));
    byId('map').append(this.list(others));
    this.first()?.setAttribute('tabindex', '0');
  }

  header() {
    const row = element('div', {class: 'row', role: 'row'},
      element('span', {class: 'row-name', role: 'columnheader'}, 'layer'));
    const step = this.layerCount > 40 ? 8 : this.layerCount > 16 ? 4 : 1;
    for (let layer = 0; layer < this.layerCount; ++layer) {
      row.append(element('span', {class: 'column-name', role: 'columnheader'},
        layer % step === 0 ? String(layer) : ''));
    }
    return row;
  }

  row(part, cells, y) {
    const row = element('div', {class: 'row', role: 'row'},
      element('span', {class: 'row-name', role: 'rowheader', title: safe(part)}, safe(part)));
    for (let x = 0; x < this.layerCount; ++x) {
      const tensor = cells.get(x);
      const cell = element('span',
        {class: tensor ? 'cell' : 'cell empty', role: 'gridcell', 'data-x': x, 'data-y': y});
      if (tensor) {
        this.prepare(cell, tensor);
        cell.append(element('b'));
        cell.setAttribute('aria-label', [tensor.name, ...tensorLines(tensor)].map(safe).join(', '));
        cell.addEventListener('click', () => this.pick(cell, tensor));
        cell.setAttribute('tabindex', '-1');
      }
      row.append(cell);
    }
    return row;
  }

  list(others) {
    const most = 60;
    const list = element('div', {class: 'others'});
    for (const tensor of others.slice(0, most)) {
      const mark = element('i', {class: 'mark'});
      const pick = () => choice.pickTensor(tensor, true);
      const button = element('button', {type: 'button', onclick: pick},
        element('code', {}, safe(tensor.name)),
        element('span', {class: 'muted'},
          `${safe(tensor.type)} \u00b7 ${bytesText(tensor.bytes)}`));
      this.prepare(button, tensor);
      button.prepend(mark);
      list.append(button);
    }
    if (others.length > most) {
      list.append(element('span', {class: 'muted'},
        `and ${digits(others.length - most)} more in the table below`));
    }
    return list;
  }

  prepare(node, tensor) {
    this.cells.set(tensor.index, node);
    tip.attach(node, () => [tensor.name, tensorLines(tensor)]);
  }

  pick(cell, tensor) {
    this.focus(cell, false);
    choice.pickTensor(tensor);
  }

  first() { return byId('map').querySelector('.cell[aria-label]'); }

  focus(cell, isFocused = true) {
    byId('map').querySelector('.cell[tabindex="0"]')?.setAttribute('tabindex', '-1');
    cell.setAttribute('tabindex', '0');
    if (isFocused) cell.focus();
  }

  // Arrow keys go to the next cell that there is; Enter and blank pick it.
  move(event) {
    const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    const cell = event.target.closest('.cell');
    if (!cell) return;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      cell.click();
      return;
    }
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    let [x, y] = [Number(cell.dataset.x), Number(cell.dataset.y)];
    for (;;) {
      x += step[0];
      y += step[1];
      const next = byId('map').querySelector(`.cell[data-x="${x}"][data-y="${y}"]`);
      if (!next) return;
      if (next.hasAttribute('aria-label')) return this.focus(next);
    }
  }

  buildMetrics() {
    const select = byId('metric');
    for (const [i, metric] of this.metrics.entries()) {
      select.append(element('option', {value: i}, metric.name));
    }
    select.addEventListener('change', () => {
      this.metric = this.metrics[Number(select.value)];
      this.refresh();
    });
  }

  refresh() {
    const {value} = this.metric;
    const values = value === null ? [] : tensors.map(value).filter((v) => v !== null);
    // A spread, not an argument list: there may be more tensors than arguments.
    const low = values.reduce((least, v) => Math.min(least, v), Infinity);
    const high = values.reduce((most, v) => Math.max(most, v), -Infinity);
    for (const [index, node] of this.cells) {
      const tensor = tensors[index];
      const painted = node.querySelector('b, .mark');
      painted.style.background = this.colour(tensor, low, high);
      painted.style.height = painted.className === 'mark' ? '' : this.height(tensor);
      node.classList.toggle('chosen', choice.tensor === tensor);
      node.classList.toggle('faded', !choice.hasType(tensor.type));
    }
    this.showScale(low, high);
  }

  // Types leave room to show the size; a number has the whole cell, so that shades compare.
  height(tensor) {
    if (this.metric.value !== null) return '100%';
    return `${100 * Math.max(0.18, Math.sqrt(tensor.bytes / this.largest))}%`;
  }

  colour(tensor, low, high) {
    if (this.metric.value === null) return colourOf[tensor.type];
    const value = this.metric.value(tensor);
    if (value === null) return 'transparent';
    const share = high > low ? (value - low) / (high - low) : 1;
    return `color-mix(in oklab, var(--high) ${(share * 100).toFixed(1)}%, var(--low))`;
  }

  showScale(low, high) {
    const scale = byId('scale');
    if (this.metric.value === null) {
      scale.replaceChildren(...types.slice(0, 24).map((type) =>
        element('span', {}, typeMark(type.name), safe(type.name))));
    } else {
      scale.replaceChildren(this.metric.text(low), element('span', {class: 'ramp'}),
        this.metric.text(high));
    }
  }
}
