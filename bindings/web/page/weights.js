// SPDX-License-Identifier: MIT
// The weights of one tensor, read when the user asks: a histogram, and a heat map of rows and
// columns. Only the bytes of the rows that are shown are fetched.
import {byId, bytesText, digits, numberText, percent, safe} from './base.js';
import {choice} from './model.js';

/** As much of a file is read at once. */
const pieceBytes = 2 << 20;
const binCount = 64;
/** Cells of the heat map, across and down. */
const mostCells = [512, 256];

/** Sums of weights, gathered piece by piece. */
class Statistics {
  min = Infinity; max = -Infinity; sum = 0; squares = 0; zeros = 0; nan = 0; inf = 0; count = 0;

  add(weights) {
    for (const weight of weights) {
      if (!Number.isFinite(weight)) {
        if (Number.isNaN(weight)) ++this.nan;
        else ++this.inf;
        continue;
      }
      if (weight < this.min) this.min = weight;
      if (weight > this.max) this.max = weight;
      if (weight === 0) ++this.zeros;
      this.sum += weight;
      this.squares += weight * weight;
      ++this.count;
    }
  }

  result() {
    const {min, max, zeros, nan, inf, count} = this;
    const counts = {zeros, nan, inf, count: count + nan + inf};
    if (count === 0) return {min: null, max: null, mean: null, std: null, ...counts};
    const mean = this.sum / count;
    return {min, max, mean, std: Math.sqrt(Math.max(this.squares / count - mean * mean, 0)), ...counts};
  }
}

/** The root of the mean square of the weights in each cell. */
class HeatMap {
  constructor(width, rows) {
    this.across = Math.min(width, mostCells[0]);
    this.down = Math.min(rows, mostCells[1]);
    Object.assign(this, {width, rows});
    this.squares = new Float64Array(this.across * this.down);
    this.counts = new Float64Array(this.across * this.down);
  }

  add(weights, firstRow) {
    const {width, across, down, rows} = this;
    for (let i = 0; i < weights.length; ++i) {
      const row = firstRow + Math.floor(i / width);
      const cell = Math.floor(row * down / rows) * across + Math.floor((i % width) * across / width);
      if (!Number.isFinite(weights[i])) continue;
      this.squares[cell] += weights[i] * weights[i];
      ++this.counts[cell];
    }
  }

  value(cell) { return this.counts[cell] === 0 ? NaN : Math.sqrt(this.squares[cell] / this.counts[cell]); }
}

// A colour of the style as numbers: canvases know no variables.
const colourOfStyle = (name) => {
  const probe = document.createElement('canvas').getContext('2d');
  const node = byId('heat').parentElement;
  node.style.setProperty('outline-color', `var(${name})`);
  probe.fillStyle = getComputedStyle(node).outlineColor;
  node.style.removeProperty('outline-color');
  probe.fillRect(0, 0, 1, 1);
  return [...probe.getImageData(0, 0, 1, 1).data];
};

export class WeightView {
  /** Until `signal` ends it: what outlives the model must not hold it. */
  constructor(model, view, signal) {
    Object.assign(this, {model, view, turn: 0, maps: new Map(), canvas: byId('heat')});
    byId('read-rows').addEventListener('click', () => this.read(this.first, this.rowsAtOnce));
    byId('read-all').addEventListener('click', () => this.read(0, this.tensor.rowCount));
    byId('first-row').addEventListener('input', () => this.showFirst());
    byId('first-row').addEventListener('change', () => this.read(this.first, this.rowsAtOnce));
    byId('heat').addEventListener('pointermove', (event) => this.pointAt(event));
    byId('heat').addEventListener('pointerleave', () => { byId('heat-about').textContent = this.about; });
    byId('theme').addEventListener('click', () => this.draw(), {signal});
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw(), {signal});
    choice.follow(() => this.pick());
  }

  get first() { return Number(byId('first-row').value); }

  pick() {
    const shown = choice.tensor;
    if (!shown || shown === this.shown) return;
    this.shown = shown;
    this.tensor = this.model.tensors[shown.index];
    ++this.turn;
    const rows = this.tensor.rowCount;
    this.rowBytes = rows === 0 ? 0 : shown.bytes / rows;
    this.rowsAtOnce = Math.max(1, Math.min(rows, Math.floor(pieceBytes / Math.max(this.rowBytes, 1))));
    const isWhole = this.rowsAtOnce >= rows;
    const bar = byId('first-row');
    bar.max = String(rows - this.rowsAtOnce);
    bar.value = '0';
    byId('first-row-label').hidden = isWhole;
    byId('read-rows').hidden = isWhole;
    byId('read-rows').textContent = `Read ${digits(this.rowsAtOnce)} rows (${bytesText(Math.ceil(this.rowsAtOnce * this.rowBytes))})`;
    byId('read-all').textContent = `Read ${isWhole ? 'the weights' : 'all'} (${bytesText(shown.bytes)})`;
    byId('read-all').disabled = rows === 0 || shown.elements === 0;
    this.showFirst();
    this.draw();
  }

  showFirst() { byId('first-row-text').textContent = digits(this.first); }

  async read(first, count) {
    const {tensor, shown} = this;
    const turn = ++this.turn;
    const width = Number(tensor.shape[0] ?? 1);
    const statistics = new Statistics();
    const heat = new HeatMap(width, count);
    const pieces = [];  // kept for the histogram, whose ends are known last
    try {
      for (let row = first; row < first + count; row += this.rowsAtOnce) {
        const weights = await tensor.rows(row, Math.min(row + this.rowsAtOnce, first + count));
        if (turn !== this.turn) return;
        statistics.add(weights);
        heat.add(weights, row - first);
        pieces.push(this.coarse(weights));
        this.say(`${percent((row - first + this.rowsAtOnce) / count)} read`);
        await new Promise((done) => { setTimeout(done); });  // the page stays alive
      }
    } catch (error) {
      if (turn === this.turn) this.say(safe(error.message));
      return;
    }
    const whole = count === tensor.rowCount;
    const rows = whole ? `all ${digits(count)} rows`
      : `rows ${digits(first)} to ${digits(first + count - 1)} of ${digits(tensor.rowCount)}`;
    shown.stats = {...statistics.result(), rows};
    shown.histogram = this.histogram(pieces, shown.stats);
    this.maps.set(shown, {heat, first, rows});
    this.view.shown = null;
    choice.tell();
    this.draw();
  }

  // Of a piece a histogram with its own ends, so that no weight need be kept.
  coarse(weights) {
    let [low, high] = [Infinity, -Infinity];
    for (const weight of weights) {
      if (!Number.isFinite(weight)) continue;
      if (weight < low) low = weight;
      if (weight > high) high = weight;
    }
    const counts = new Float64Array(64 * binCount);
    const scale = high > low ? counts.length / (high - low) : 0;
    for (const weight of weights) {
      if (Number.isFinite(weight)) ++counts[Math.min(Math.floor((weight - low) * scale), counts.length - 1)];
    }
    return {low, high, counts};
  }

  histogram(pieces, {min, max}) {
    if (min === null) return null;
    const counts = new Array(binCount).fill(0);
    const scale = max > min ? binCount / (max - min) : 0;
    for (const {low, high, counts: own} of pieces) {
      own.forEach((count, i) => {
        if (count === 0) return;
        const weight = low + (high - low) * (i + 0.5) / own.length;
        counts[Math.min(Math.max(Math.floor((weight - min) * scale), 0), binCount - 1)] += count;
      });
    }
    return {low: min, high: max, counts};
  }

  say(text) {
    this.about = text;
    byId('heat-about').textContent = text;
  }

  draw() {
    const {canvas} = this;
    if (!canvas.isConnected) return;  // another model has taken the page
    const drawn = this.maps.get(this.shown);
    canvas.hidden = !drawn;
    if (!drawn) {
      this.say('Nothing of the weights has been read yet.');
      return;
    }
    const {heat, rows} = drawn;
    canvas.width = heat.across;
    canvas.height = heat.down;
    canvas.style.aspectRatio = heat.down * 6 < heat.across ? `${heat.across} / ${Math.ceil(heat.across / 6)}`
      : `${heat.across} / ${Math.min(heat.down, heat.across)}`;
    const values = heat.squares.map((_, cell) => heat.value(cell));
    const known = values.filter((value) => !Number.isNaN(value)).sort();
    const top = known.length === 0 ? 1 : known[Math.floor(0.995 * (known.length - 1))] || 1;
    const [low, high] = [colourOfStyle('--low'), colourOfStyle('--high')];
    const context = canvas.getContext('2d');
    const image = context.createImageData(heat.across, heat.down);
    values.forEach((value, cell) => {
      if (Number.isNaN(value)) return;
      const share = Math.min(value / top, 1);
      for (let part = 0; part < 3; ++part) {
        image.data[4 * cell + part] = low[part] + (high[part] - low[part]) * share;
      }
      image.data[4 * cell + 3] = 255;
    });
    context.putImageData(image, 0, 0);
    canvas.setAttribute('aria-label', `Heat map of ${rows}, from 0 to ${numberText(top)}`);
    this.say(`Size of the weights in ${rows}, from 0 to ${numberText(top)}; across ${digits(heat.width)} columns.`);
  }

  pointAt(event) {
    const {heat, first} = this.maps.get(this.shown) ?? {};
    if (!heat) return;
    const box = byId('heat').getBoundingClientRect();
    const x = Math.min(Math.max(Math.floor((event.clientX - box.left) / box.width * heat.across), 0), heat.across - 1);
    const y = Math.min(Math.max(Math.floor((event.clientY - box.top) / box.height * heat.down), 0), heat.down - 1);
    const range = (place, cells, count, start) => {
      const [from, to] = [Math.floor(place * count / cells), Math.ceil((place + 1) * count / cells) - 1];
      return from >= to ? digits(start + from) : `${digits(start + from)} to ${digits(start + to)}`;
    };
    byId('heat-about').textContent = `Row ${range(y, heat.down, heat.rows, first)}, ` +
      `column ${range(x, heat.across, heat.width, 0)}: ${numberText(heat.value(y * heat.across + x))}`;
  }
}
