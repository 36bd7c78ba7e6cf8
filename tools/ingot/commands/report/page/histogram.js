// SPDX-License-Identifier: MIT
// One tensor: its facts and the histogram of its weights.
import {bitsText, byId, countText, decibels, digits, drawing, element, numberText, percent, plural,
  safe, sum} from './base.js';
import {choice, tensors, typeCell} from './model.js';
import {range} from './summary.js';

// A histogram small enough for a table.
export const sparkline = (histogram) => {
  if (!histogram || histogram.counts.length === 0) return null;
  const {counts} = histogram;
  const top = Math.max(...counts);
  let path = 'M0 20';
  const x = (i) => (80 * i / counts.length).toFixed(1);
  counts.forEach((count, i) => {
    const y = (20 - 20 * count / top).toFixed(1);
    path += `L${x(i)} ${y}L${x(i + 1)} ${y}`;
  });
  return drawing('svg', {class: 'spark', viewBox: '0 0 80 20', preserveAspectRatio: 'none',
    'aria-hidden': 'true'}, drawing('path', {d: `${path}L80 20Z`}));
};

export class TensorView {
  constructor() {
    this.svg = byId('histogram');
    this.bin = null;
    byId('previous').addEventListener('click', () => this.step(-1));
    byId('next').addEventListener('click', () => this.step(1));
    byId('log-scale').addEventListener('change', () => this.draw());
    this.svg.addEventListener('pointermove', (event) => this.pointAt(event));
    this.svg.addEventListener('pointerleave', () => this.pickBin(null));
    this.svg.addEventListener('blur', () => this.pickBin(null));
    this.svg.addEventListener('keydown', (event) => this.moveBin(event));
    new ResizeObserver(() => this.draw()).observe(this.svg);
    choice.follow(() => this.show());
  }

  step(distance) {
    const index = (choice.tensor?.index ?? 0) + distance;
    if (tensors[index]) choice.pickTensor(tensors[index]);
  }

  show() {
    const tensor = choice.tensor;
    if (!tensor || tensor === this.shown) return;
    this.shown = tensor;
    this.bin = null;
    byId('tensor-name').textContent = safe(tensor.name);
    byId('previous').disabled = tensor.index === 0;
    byId('next').disabled = tensor.index + 1 === tensors.length;
    byId('tensor-facts').replaceChildren(...this.facts(tensor).flatMap(([name, value]) =>
      [element('dt', {}, name), element('dd', {}, value)]));
    this.draw();
  }

  facts(tensor) {
    const facts = [
      ['Shape', tensor.shape.map(digits).join(' x ') || 'scalar'],
      ['Type', typeCell(tensor.type)],
      ['Weights', digits(tensor.elements)],
      ['Bytes', digits(tensor.bytes)],
      ['Bits per weight', bitsText(tensor.bytes, tensor.elements)],
      ['Offset in file', digits(tensor.file_offset)],
    ];
    if (tensors.some((other) => other.shard > 0)) facts.push(['Shard', String(tensor.shard + 1)]);
    const {stats, error, lattice} = tensor;
    if (lattice) facts.push(['Lattice', lattice.text]);
    if (stats) {
      facts.push(['Smallest', numberText(stats.min)], ['Largest', numberText(stats.max)],
        ['Mean', numberText(stats.mean)], ['Standard deviation', numberText(stats.std)],
        ['Zeros',
          `${digits(stats.zeros)} (${percent(stats.zeros / Math.max(stats.count ?? tensor.elements, 1))})`]);
      if (stats.rows) facts.push(['Read', stats.rows]);
      if (stats.nan + stats.inf > 0) {
        facts.push(['NaN', digits(stats.nan)], ['Infinities', digits(stats.inf)]);
      }
    }
    if (error) {
      facts.push(['Reference', typeCell(error.reference_type)], ['SQNR', decibels(error.sqnr)],
        ['RMSE', numberText(error.rmse)], ['Largest error', numberText(error.max)]);
    }
    return facts;
  }

  draw() {
    const tensor = this.shown;
    this.svg.replaceChildren();
    const [width, height] = [this.svg.clientWidth, this.svg.clientHeight];
    // Laid out, but not yet as large as the axes.
    if (!tensor || width < 80 || height < 60) return;
    const histogram = tensor.histogram;
    if (!histogram || histogram.counts.length === 0) {
      this.bars = [];
      this.svg.setAttribute('aria-label', 'No histogram');
      this.svg.append(drawing('text', {x: width / 2, y: height / 2, 'text-anchor': 'middle'},
        this.whyNone(tensor)));
      return;
    }
    const {low, high, counts} = histogram;
    const range = `from ${numberText(low)} to ${numberText(high)}`;
    this.svg.setAttribute('aria-label',
      `Histogram of ${safe(tensor.name)} ${range}; arrow keys read it`);
    const plot = {left: 46, top: 8, width: width - 54, height: height - 32};
    const isLog = byId('log-scale').checked;
    const size = (count) => isLog ? Math.log10(1 + count) : count;
    const top = Math.max(size(Math.max(...counts)), 1e-9);
    this.axes(plot, top, isLog, low, high);
    const step = plot.width / counts.length;
    this.bars = counts.map((count, i) => {
      const barHeight = count === 0 ? 0 : Math.max(1, plot.height * size(count) / top);
      const bar = drawing('rect', {x: plot.left + i * step, y: plot.top + plot.height - barHeight,
        width: Math.max(0.5, step - (step > 4 ? 1 : 0)), height: barHeight});
      this.svg.append(bar);
      return bar;
    });
    this.plot = plot;
    this.pickBin(this.bin);
  }

  whyNone(tensor) {
    if (!tensor.stats) return 'The weights were not read.';
    return tensor.stats.std === null
      ? 'There are no finite weights.' : 'Histograms are left out here.';
  }

  axes(plot, top, isLog, low, high) {
    const line = (y) => this.svg.append(
      drawing('line', {x1: plot.left, x2: plot.left + plot.width, y1: y, y2: y}));
    const label = (x, y, anchor, text) => this.svg.append(
      drawing('text', {x, y, 'text-anchor': anchor}, text));
    for (const share of [0, 0.5, 1]) {
      const y = plot.top + plot.height * (1 - share);
      line(y);
      const count = isLog ? 10 ** (top * share) - 1 : top * share;
      label(plot.left - 6, y + 4, 'end', countText(Math.round(count)).replace(' ', ''));
    }
    const y = plot.top + plot.height + 18;
    label(plot.left, y, 'start', numberText(low));
    label(plot.left + plot.width, y, 'end', numberText(high));
    if (low < 0 && high > 0) {
      const x = plot.left + plot.width * -low / (high - low);
      const isFree = x > plot.left + 70 && x < plot.left + plot.width - 70;
      if (isFree) label(x, y, 'middle', '0');
    }
  }

  pointAt(event) {
    const box = this.svg.getBoundingClientRect();
    if (!this.bars?.length) return;
    const place = (event.clientX - box.left - this.plot.left) / this.plot.width;
    const bin = Math.floor(place * this.bars.length);
    this.pickBin(bin >= 0 && bin < this.bars.length ? bin : null);
  }

  moveBin(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step || !this.bars?.length) return;
    event.preventDefault();
    const from = this.bin ?? (step > 0 ? -1 : this.bars.length);
    this.pickBin(Math.min(Math.max(from + step, 0), this.bars.length - 1));
  }

  pickBin(bin) {
    this.bin = bin;
    this.bars?.forEach((bar, i) => bar.classList.toggle('here', i === bin));
    const histogram = this.shown?.histogram;
    if (bin === null || !histogram) {
      byId('bin').textContent = '';
      return;
    }
    const {low, high, counts} = histogram;
    const edge = (i) => numberText(low + (high - low) * i / counts.length);
    const total = sum(counts, (count) => count);
    byId('bin').textContent = `${edge(bin)} to ${edge(bin + 1)}: ` +
      `${plural(counts[bin], 'weight', 'weights')}, ${percent(counts[bin] / total)}`;
  }
}
