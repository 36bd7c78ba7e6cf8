// SPDX-License-Identifier: MIT
// What the chat templates support, found by rendering, and what a check finds in them.
import {byId, element, safe, tip} from './base.js';
import {data} from './model.js';
import {findingRow} from './findings.js';

const featureMark = ({name, supported, description}) => {
  const mark = element('span', {class: supported ? 'feature' : 'feature off', tabindex: '0'},
    `${supported ? '\u2713' : '\u2013'} ${name}`);
  tip.attach(mark, () => [supported ? name : `not ${name}`, [description]]);
  return mark;
};

const templateRow = ({name, problem, reached_limit: isCut, features}, isAlone) =>
  element('div', {class: 'template'},
    isAlone ? null : element('h3', {}, name === '' ? 'default' : safe(name)),
    problem === null ? null : element('p', {class: 'warn'}, `No conversation renders: ${safe(problem)}`),
    isCut ? element('p', {class: 'warn'}, 'Takes too long to be tried in full.') : null,
    problem === null ? element('div', {class: 'features'}, ...features.map(featureMark)) : null);

export const showTemplates = () => {
  const {templates, findings} = data.chat_template ?? {templates: [], findings: []};
  byId('templates').append(
    ...templates.map((template) => templateRow(template, templates.length === 1)));
  byId('template-findings').append(...findings.map(findingRow));
};
