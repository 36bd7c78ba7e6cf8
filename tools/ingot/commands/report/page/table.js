// SPDX-License-Identifier: MIT
// Tables that sort by any column and show only the rows that hold all the words of a filter.
import {byId, bytesText, decibels, digits, element, nameNodes, nameSpan, numberText, plural, safe}
  from './base.js';
import {choice, data, tensors, typeCell} from './model.js';
import {sparkline} from './histogram.js';

const pageRows = 200;

export class Table {
  // columns: [{name, value(row) to sort by, cell(row), isNumber, isOptional}]
  constructor(place, {label, columns, rows, textOf, accepts = () => true, noun}) {
    Object.assign(this, {columns, rows, textOf, accepts, noun});
    this.order = null;
    this.isDescending = false;
    this.shownRows = pageRows;
    this.filter = element('input', {type: 'search', placeholder: 'Filter',
      'aria-label': `Filter ${label}`, oninput: () => this.restart()});
    this.count = element('span', {class: 'muted', role: 'status'});
    this.body = element('tbody');
    this.headings = columns.map((column, i) => element('th',
      {scope: 'col', class: this.classOf(column)},
      element('button', {type: 'button', onclick: () => this.sortBy(i)}, column.name)));
    this.more = element('button', {class: 'more', type: 'button', onclick: () => this.showMore()},
      `Show ${pageRows} more`);
    byId(place).append(element('div', {class: 'tools'}, this.filter, this.count),
      element('div', {class: 'wide'}, element('table', {'aria-label': label},
        element('thead', {}, element('tr', {}, ...this.headings)), this.body)), this.more);
    this.draw();
  }

  classOf(column) {
    return [column.isNumber && 'number', column.isOptional && 'optional', column.style]
      .filter(Boolean).join(' ') || null;
  }

  setFilter(text) {
    this.filter.value = text;
    this.restart();
  }

  restart() {
    this.shownRows = pageRows;
    this.draw();
  }

  showMore() {
    this.shownRows += pageRows;
    this.draw();
  }

  // Numbers begin with the largest; a third press restores the order of the file.
  sortBy(index) {
    const isFirstDescending = Boolean(this.columns[index].isNumber);
    if (this.order !== index) {
      this.order = index;
      this.isDescending = isFirstDescending;
    } else if (this.isDescending === isFirstDescending) {
      this.isDescending = !this.isDescending;
    } else {
      this.order = null;
    }
    this.headings.forEach((heading, i) => {
      if (i !== this.order) heading.removeAttribute('aria-sort');
      else heading.setAttribute('aria-sort', this.isDescending ? 'descending' : 'ascending');
    });
    this.draw();
  }

  visibleRows() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = this.rows.filter((row) => {
      if (!this.accepts(row)) return false;
      const text = this.textOf(row).toLowerCase();
      return words.every((word) => text.includes(word));
    });
    if (this.order === null) return rows;
    const {value} = this.columns[this.order];
    const direction = this.isDescending ? -1 : 1;
    return rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === null || y === null) return (x === null) - (y === null);  // nothing is always last
      return direction * (typeof x === 'string'
        ? x.localeCompare(y, 'en', {numeric: true}) : Math.sign(x - y) || 0);
    });
  }

  draw() {
    const rows = this.visibleRows();
    const shown = rows.slice(0, this.shownRows);
    this.body.replaceChildren(...shown.map((row) => {
      const line = element('tr', {}, ...this.columns.map((column) => {
        const cell = element('td', {class: this.classOf(column)});
        cell.append(column.cell(row) ?? '-');
        return cell;
      }));
      line.classList.toggle('chosen', choice.tensor === row);
      return line;
    }));
    this.count.textContent = rows.length === this.rows.length
      ? plural(rows.length, ...this.noun)
      : `${digits(rows.length)} of ${plural(this.rows.length, ...this.noun)}`;
    this.more.hidden = rows.length <= this.shownRows;
  }
}

export const tensorTable = () => {
  const hasStats = tensors.some((tensor) => tensor.stats);
  const hasErrors = tensors.some((tensor) => tensor.error);
  const number = (name, value, text, more = {}) =>
    ({name, value, cell: (t) => value(t) === null ? '-' : text(value(t)), isNumber: true, ...more});
  const columns = [
    {name: 'Name', value: (t) => t.name, cell: (t) => element('button',
      {type: 'button', class: 'link', onclick: () => choice.pickTensor(t, true)},
      ...nameNodes(t.name))},
    {name: 'Type', value: (t) => t.type, cell: (t) => typeCell(t.type)},
    {name: 'Shape', value: (t) => t.elements, cell: (t) => t.shape.join(' x ') || 'scalar',
      isOptional: true},
    number('Size', (t) => t.bytes, bytesText),
    number('Bits', (t) => t.elements === 0 ? null : 8 * t.bytes / t.elements, (v) => v.toFixed(2),
      {isOptional: true}),
  ];
  if (hasStats) {
    const stat = (name, key) => number(name, (t) => t.stats ? t.stats[key] : null, numberText,
      {isOptional: true});
    columns.push(stat('Min', 'min'), stat('Max', 'max'), stat('Deviation', 'std'),
      {name: 'Weights', value: (t) => t.stats ? t.stats.std : null, isOptional: true,
        style: 'drawing', cell: (t) => sparkline(t.histogram)});
  }
  if (hasErrors) {
    columns.push(number('SQNR', (t) => t.error ? t.error.sqnr : null, decibels),
      number('RMSE', (t) => t.error ? t.error.rmse : null, numberText, {isOptional: true}),
      number('Max error', (t) => t.error ? t.error.max : null, numberText, {isOptional: true}));
  }
  const table = new Table('tensor-table', {label: 'tensors', columns, rows: tensors,
    textOf: (t) => `${t.name} ${t.type}`, accepts: (t) => choice.hasType(t.type),
    noun: ['tensor', 'tensors']});
  choice.follow(() => table.draw());
  return table;
};

export const metadataTable = () => new Table('metadata-table', {
  label: 'metadata', rows: data.metadata, noun: ['key', 'keys'],
  textOf: (row) => `${row.key} ${row.value}`,
  columns: [
    {name: 'Key', style: 'text key', value: (row) => row.key, cell: (row) => nameSpan(row.key)},
    {name: 'Type', value: (row) => row.type, cell: (row) => row.type, isOptional: true},
    {name: 'Value', style: 'text', value: (row) => row.value, cell: (row) => safe(row.value)},
  ],
});
