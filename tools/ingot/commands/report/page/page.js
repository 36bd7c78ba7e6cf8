// SPDX-License-Identifier: MIT
// Puts the page together.

setUpTheme();
showErrors();
showSummary();
showTypes();
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
  for (const id of ['sizes', 'layers', 'tensor', 'tensors']) {
    byId(id).hidden = true;
    document.querySelector(`nav a[href="#${id}"]`)?.remove();
  }
}
document.documentElement.dataset.ready = 'true';
