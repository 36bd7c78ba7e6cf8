// SPDX-License-Identifier: MIT
// Puts the page together.
import {byId, element, safe} from './base.js';
import {choice, data, tensors, useModel} from './model.js';
import {showFindings} from './findings.js';
import {setUpTheme, showSummary} from './summary.js';
import {TensorView} from './histogram.js';
import {showTreemap, showTypes} from './sizes.js';
import {showMemory} from './memory.js';
import {showTemplates} from './template.js';
import {showVocabulary} from './vocabulary.js';
import {LayerMap} from './map.js';
import {showErrors} from './errors.js';
import {metadataTable, tensorTable} from './table.js';

const hideSection = (id) => {
  byId(id).hidden = true;
  document.querySelector(`nav a[href="#${id}"]`)?.remove();
};

setUpTheme();
useModel(JSON.parse(byId('data').textContent));
showErrors();
// Facts that a hostile file makes impossible to show must not take the rest of the page with them.
try {
  showSummary();
} catch (error) {
  byId('facts').append(element('p', {class: 'warn'}, safe(error.message)));
}
showTypes();
showMemory();
showFindings();
showTemplates();
showVocabulary();
new LayerMap();
new TensorView();
const tensorList = tensorTable();
metadataTable();
showTreemap((item) => {
  tensorList.setFilter(item.words.replace('\n', ' '));
  byId('tensors').scrollIntoView();
});
const largest = tensors.reduce((most, tensor) =>
  most === null || tensor.bytes > most.bytes ? tensor : most, null);
if (largest) choice.pickTensor(largest);
else {  // a vocabulary alone
  for (const id of ['sizes', 'layers', 'tensor', 'tensors']) hideSection(id);
}
if ((data.memory_runs ?? []).length === 0) hideSection('memory');
if (!data.findings) hideSection('check');
if (!data.chat_template) hideSection('template');
if (!data.vocabulary) hideSection('vocabulary');
document.documentElement.dataset.ready = 'true';
