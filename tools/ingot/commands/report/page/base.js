// SPDX-License-Identifier: MIT
// Elements, texts and numbers: what every other part of the page needs.

export const byId = (id) => document.getElementById(id);

export const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
};
// Text only ever becomes a text node: nothing from the model can become markup.
export const element = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);
export const drawing = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

// Characters that cannot be seen, or that would turn the text around them, are spelled out.
export const safe = (text) =>
  String(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0).toString(16)}}`);

// A text of a file may have any length: what is longer than a page can use is cut.
export const cut = (text, most = 300) => {
  const whole = String(text);
  return whole.length > most ? `${whole.slice(0, most)}\u2026` : whole;
};

// A name as nodes that break a line after a dot or an underscore rather than anywhere.
export const nameNodes = (text) => safe(cut(text)).split(/(?<=[._])/).flatMap((piece, i) =>
  i === 0 ? [piece] : [document.createElement('wbr'), piece]);

// A sentence as nodes: what stands between backticks is code.
export const sentenceNodes = (text) => safe(text).split('`').map((piece, i, pieces) =>
  i % 2 === 1 && i + 1 < pieces.length ? element('code', {}, piece) : i % 2 === 1 ? '`' + piece : piece);

export const nameSpan = (text) => element('span', {}, ...nameNodes(text));

const threeDigits = (value) =>
  value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
const scaled = (number, step, units) => {
  let value = Number(number);
  let unit = 0;
  while (value >= step * 0.9995 && unit + 1 < units.length) {
    value /= step;
    ++unit;
  }
  return unit === 0 ? [String(value), units[0]] : [threeDigits(value), units[unit]];
};
export const bytesText = (bytes) =>
  scaled(bytes, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']).join(' ');
export const countText = (count) => scaled(count, 1000, ['', 'K', 'M', 'B', 'T', 'P']).join(' ').trim();
export const digits = (count) => count.toLocaleString('en-US');
export const percent = (share) => `${(share * 100).toFixed(1)} %`;
// JSON has no infinities and no NaN; they are written as words.
export const toNumber = (value) => value === null || value === undefined ? null : Number(value);
export const numberText = (value) => {
  if (value === null) return '-';
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  return size < 1e-4 || size >= 1e6 ? value.toExponential(3) : String(Number(value.toPrecision(4)));
};
export const decibels = (value) =>
  value === null ? '-' : Number.isFinite(value) ? `${value.toFixed(2)} dB` : 'exact';
export const bitsText = (bytes, elements) => elements === 0 ? '-' : (8 * bytes / elements).toFixed(2);
export const sum = (items, value) => items.reduce((total, item) => total + value(item), 0);
export const plural = (count, one, many) => `${digits(count)} ${count === 1 ? one : many}`;

// One bubble of text for whatever is under the pointer or has the focus.
export const tip = {
  node: byId('tip'),
  show(target, title, lines) {
    this.node.replaceChildren(element('strong', {}, safe(title)),
      ...lines.map((line) => element('div', {}, line)));
    this.node.hidden = false;
    const place = target.getBoundingClientRect();
    const size = this.node.getBoundingClientRect();
    const left = Math.min(Math.max(8, place.left + place.width / 2 - size.width / 2),
      document.documentElement.clientWidth - size.width - 8);
    const above = place.top - size.height - 8;
    this.node.style.left = `${left}px`;
    this.node.style.top = `${above > 8 ? above : place.bottom + 8}px`;
  },
  hide() { this.node.hidden = true; },
  // describe() gives [title, lines].
  attach(target, describe) {
    const show = () => this.show(target, ...describe());
    const hide = () => this.hide();
    for (const event of ['pointerenter', 'focus']) target.addEventListener(event, show);
    for (const event of ['pointerleave', 'blur']) target.addEventListener(event, hide);
  },
};
document.addEventListener('scroll', () => tip.hide(), {capture: true, passive: true});
document.addEventListener('keydown', (event) => { if (event.key === 'Escape') tip.hide(); });

// Makes something that is no button behave like one.
export const pressable = (node, label, action) => {
  node.setAttribute('role', 'button');
  node.setAttribute('tabindex', '0');
  node.setAttribute('aria-label', label);
  node.addEventListener('click', action);
  node.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    action();
  });
};
