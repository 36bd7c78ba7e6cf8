// SPDX-License-Identifier: MIT
// Two models side by side: sizes, keys and tensors that differ.
import {bitsText, byId, bytesText, countText, cut, digits, element, nameSpan, percent, plural, safe, sum}
  from './base.js';
import {choicesIn, modelsOf, openModel, shortName} from './opening.js';
import {Table} from './table.js';

const longText = 160;

const textOf = (value) => {
  if (!Array.isArray(value)) return cut(value, longText);
  const first = value.slice(0, 40).map((one) => cut(one, longText)).join(', ');
  return cut(`${plural(value.length, 'element', 'elements')}: ${first}`, longText);
};

const isEqual = (a, b) => Array.isArray(a) && Array.isArray(b)
  ? a.length === b.length && a.every((value, i) => isEqual(value, b[i])) : Object.is(a, b);

/** The type of a key. */
export const typeText = ({type, element_type: elementType}) => elementType ? `${type} of ${elementType}` : type;

/** The values of a model with their types, as a map. */
const typed = (metadata) => ({
  keys: () => metadata.keys(),
  get: (key) => metadata.has(key) ? {value: metadata.get(key), type: typeText(metadata.type(key))} : undefined,
});

/** Rows {key, left, right} of what the maps do not share; null where one lacks it. */
const differences = (left, right, same, show) => {
  const keys = new Set([...left.keys(), ...right.keys()]);
  return [...keys].flatMap((key) => {
    const [a, b] = [left.get(key), right.get(key)];
    if (a !== undefined && b !== undefined && same(a, b)) return [];
    return [{key, left: a === undefined ? null : show(a, b), right: b === undefined ? null : show(b, a)}];
  });
};

const totals = (rows) => ({
  tensors: rows.length,
  weights: sum(rows, (row) => Number(row.elements)),
  bytes: sum(rows, (row) => Number(row.bytes)),
  types: rows.reduce((types, row) => types.set(row.type, (types.get(row.type) ?? 0) + Number(row.bytes)), new Map()),
});

export class Comparison {
  constructor(model, label, what, listed) {
    // The elements, not their names: a late answer must not reach the page of the next model.
    Object.assign(this, {model, label, listed, turn: 0, place: byId('comparison'),
      status: byId('compare-status'), choices: byId('other-choices')});
    this.place.addEventListener('compare', (event) => this.openText(event.detail));
    byId('comparer').addEventListener('submit', (event) => {
      event.preventDefault();
      const text = byId('other-address').value.trim();
      if (text) this.openText(text);
    });
    byId('other-file').addEventListener('change', ({target}) => {
      const [first] = modelsOf([...target.files]);
      target.value = '';
      if (first) this.open(first);
    });
    this.offer(listed.filter((one) => one.what !== what));
  }

  offer(choices) {
    this.choices.replaceChildren(...choices.map(({name, what}) =>
      element('button', {type: 'button', onclick: () => this.openText(what)}, nameSpan(name))));
  }

  async openText(text) {
    const turn = ++this.turn;
    let choices = [];
    try {
      choices = await choicesIn(text);
    } catch (error) {
      if (turn === this.turn) this.say(safe(error.message));
    }
    if (turn !== this.turn) return;
    if (choices) this.offer(choices);
    else await this.open(text);
  }

  say(text) { this.status.textContent = text; }

  async open(what) {
    const turn = ++this.turn;
    const name = this.listed.find((one) => one.what === what)?.name ?? shortName(what);
    this.say(`Reading ${safe(name)}...`);
    let other;
    try {
      other = await openModel(what);
      const rows = [await this.model.json('tensors'), await other.json('tensors')];
      if (turn === this.turn && this.place.isConnected) this.show(other, name, rows);
    } catch (error) {
      if (turn === this.turn) this.say(`${safe(name)}: ${safe(error.message)}`);
    } finally {
      await other?.close();
    }
  }

  show(other, name, [leftRows, rightRows]) {
    const keys = differences(typed(this.model.metadata), typed(other.metadata),
      (a, b) => a.type === b.type && isEqual(a.value, b.value),
      (own, opposite) => textOf(own.value) + (opposite && opposite.type !== own.type ? ` (${own.type})` : ''));
    const byName = (rows) => new Map(rows.map((row) => [row.name, row]));
    const form = (row) => `${row.type} ${row.shape.join(' x ')}`;
    const tensors = differences(byName(leftRows), byName(rightRows),
      (a, b) => form(a) === form(b), (row) => `${form(row)}, ${bytesText(Number(row.bytes))}`);
    const names = [safe(this.label), safe(name)];
    this.place.replaceChildren(this.summary(totals(leftRows), totals(rightRows), names),
      element('h3', {}, keys.length === 0 ? 'All keys are the same' : 'Keys that differ'),
      element('div', {id: 'differing-keys'}),
      element('h3', {}, tensors.length === 0 ? 'All tensors have the same names, types and shapes'
        : 'Tensors that differ'),
      element('div', {id: 'differing-tensors'}));
    this.say('');
    if (keys.length > 0) this.table('differing-keys', 'keys that differ', keys, names, ['key', 'keys']);
    if (tensors.length > 0) {
      this.table('differing-tensors', 'tensors that differ', tensors, names, ['tensor', 'tensors']);
    }
  }

  summary(left, right, names) {
    const cell = (text) => element('td', {class: 'number'}, text);
    const row = (name, text, value) => element('tr', {}, element('th', {scope: 'row'}, element('span', {}, name)),
      cell(text(left)), cell(text(right)),
      cell(value(left) > 0 ? percent(value(right) / value(left)) : '-'));
    const types = [...new Set([...left.types.keys(), ...right.types.keys()])];
    const head = (text) => element('th', {scope: 'col', class: 'number'}, element('span', {}, ...text));
    return element('div', {class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Sizes side by side'},
      element('table', {class: 'sizes', 'aria-label': 'Sizes'},
        element('thead', {}, element('tr', {}, element('td'), head([nameSpan(names[0])]),
          head([nameSpan(names[1])]), head(['second to first']))),
        element('tbody', {},
          row('Tensors', ({tensors}) => digits(tensors), ({tensors}) => tensors),
          row('Weights', ({weights}) => countText(weights), ({weights}) => weights),
          row('Bytes', ({bytes}) => bytesText(bytes), ({bytes}) => bytes),
          row('Bits per weight', ({bytes, weights}) => bitsText(bytes, weights),
            ({bytes, weights}) => weights === 0 ? 0 : bytes / weights),
          ...types.map((type) => row(safe(type), ({types: own}) => bytesText(own.get(type) ?? 0),
            ({types: own}) => own.get(type) ?? 0)))));
  }

  table(id, label, rows, names, noun) {
    const side = (name, key) => ({name, style: 'text', value: (row) => row[key] ?? '',
      cell: (row) => row[key] === null ? element('span', {class: 'muted'}, 'not there') : safe(row[key])});
    new Table(id, {label, rows, noun, textOf: (row) => `${row.key} ${row.left ?? ''} ${row.right ?? ''}`,
      columns: [{name: 'Name', style: 'text key', value: (row) => row.key, cell: (row) => nameSpan(row.key)},
        side(names[0], 'left'), side(names[1], 'right')]});
  }
}
