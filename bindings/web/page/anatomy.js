// SPDX-License-Identifier: MIT
// The file byte by byte: each field with its place, its bytes, its name and its meaning.
import {byId, digits, element, nameSpan, safe} from './base.js';
import {Table} from './table.js';

/** Of each part of the file. */
const mostFields = 2000;
const parts = ['header', 'metadata', 'tensors', 'data'];

const spaced = (hex) => hex.replace(/(..)(?=.)/g, '$1 ');
const column = (name, key, cell, more = {}) => ({name, value: (field) => field[key] ?? '', cell, ...more});

export const showAnatomy = async (model) => {
  const select = byId('anatomy-part');
  select.append(element('option', {value: ''}, 'all'),
    ...parts.map((name) => element('option', {value: name}, name)));
  const place = byId('anatomy-table');
  let turn = 0;
  const show = async () => {
    const own = ++turn;
    const fields = await model.json('anatomy', {section: select.value || undefined,
      limit: String(mostFields)});
    if (own !== turn) return;
    place.replaceChildren();
    new Table('anatomy-table', {label: 'fields', rows: fields, noun: ['field', 'fields'],
      textOf: ({field, subject, meaning}) => `${field} ${subject ?? ''} ${meaning ?? ''}`,
      columns: [
        column('Offset', 'offset', ({offset}) => element('span', {class: 'hex'},
          offset.toString(16).padStart(8, '0')), {style: 'text'}),
        column('Bytes', 'hex', ({hex, size}) => element('span', {class: 'hex'},
          spaced(hex) + (size > hex.length / 2 ? ' ..' : '')), {style: 'text'}),
        column('Field', 'field', ({field}) => safe(field)),
        column('Of', 'subject', ({subject}) => subject ? nameSpan(subject) : '', {style: 'text', isOptional: true}),
        column('Meaning', 'meaning', ({meaning}) => safe(meaning ?? ''), {style: 'text'}),
        column('Size', 'size', ({size}) => String(size), {isNumber: true, isOptional: true}),
      ]});
    if (parts.some((name) => fields.filter(({section}) => section === name).length === mostFields)) {
      place.append(element('p', {class: 'muted hint'},
        `At most ${digits(mostFields)} fields of each part are shown.`));
    }
  };
  select.addEventListener('change', () => show().catch((error) =>
    place.replaceChildren(element('p', {class: 'warn'}, safe(error.message)))));
  await show();
};
