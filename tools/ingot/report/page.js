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
  tensorList.setFilter(`${item.part === 'small' ? '' : item.part} ${item.type}`.trim());
  byId('tensors').scrollIntoView();
});
const largest = tensors.reduce((most, tensor) =>
  most === null || tensor.bytes > most.bytes ? tensor : most, null);
if (largest) choice.pickTensor(largest);
else {
  for (const id of ['sizes', 'layers', 'tensor', 'tensors']) byId(id).hidden = true;
  for (const id of ['sizes', 'layers', 'tensor', 'tensors']) document.querySelector(`nav a[href="#${id}"]`)?.remove();
}
document.documentElement.dataset.ready = 'true';
