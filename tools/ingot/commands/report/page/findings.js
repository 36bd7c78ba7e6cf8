// SPDX-License-Identifier: MIT
// What a check of the header finds.
import {byId, element, nameSpan, sentenceNodes} from './base.js';
import {data} from './model.js';

export const findingRow = ({severity, message, remedy, key, tensor}) =>
  element('li', {},
    element('strong', {class: severity === 'note' ? null : 'warn'}, severity), ' ', ...sentenceNodes(message),
    key || tensor ? element('span', {class: 'muted'}, ' ', nameSpan(key || tensor)) : null,
    remedy ? element('small', {class: 'muted'}, ' ', ...sentenceNodes(remedy)) : null);

export const showFindings = () => {
  const findings = data.findings ?? [];
  byId('findings').append(...findings.map(findingRow));
  byId('findings-about').replaceChildren(...sentenceNodes(findings.length === 0
    ? 'Nothing to report: the header keeps all rules of the format and of its loaders.'
    : 'By the rules of `ingot check`, without the weights.'));
};
