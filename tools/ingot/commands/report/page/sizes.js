// SPDX-License-Identifier: MIT
// Where the bytes go: a bar of types with its legend, and a treemap of parts.
import {bitsText, byId, bytesText, countText, drawing, element, percent, plural, pressable, safe,
  sum, tip} from './base.js';
import {choice, colourOf, tensors, totalBytes, typeMark, types} from './model.js';

export const showTypes = () => {
  const legend = byId('type-legend');
  for (const type of types) {
    const share = totalBytes === 0 ? 0 : type.bytes / totalBytes;
    const describe = () => [type.name, [
      `${plural(type.tensors, 'tensor', 'tensors')}, ${countText(type.elements)} weights`,
      `${bytesText(type.bytes)}, ${percent(share)}`,
      `${bitsText(type.bytes, type.elements)} bits per weight`]];
    const slice = element('span');
    slice.style.background = type.colour;
    slice.style.flexGrow = String(share);
    tip.attach(slice, describe);
    byId('type-bar').append(slice);
    const button = element('button', {type: 'button', 'aria-pressed': 'false',
      onclick: () => choice.pickType(type.name)},
    typeMark(type.name), element('b', {}, safe(type.name)),
    element('span', {}, `${bytesText(type.bytes)} \u00b7 ${percent(share)}`));
    tip.attach(button, describe);
    legend.append(button);
    choice.follow(() => {
      button.setAttribute('aria-pressed', String(choice.type === type.name));
      slice.classList.toggle('faded', !choice.hasType(type.name));
    });
  }
};

// Rows of rectangles that are as square as can be (Bruls, Huizing, van Wijk: Squarified Treemaps).
const squarify = (items, box) => {
  const placed = [];
  const total = sum(items, (item) => item.bytes);
  if (total === 0) return placed;
  const scale = box.width * box.height / total;
  let rest = [...items].sort((a, b) => b.bytes - a.bytes);
  const worst = (row, side) => {
    const area = sum(row, (item) => item.bytes) * scale;
    const ratio = (item) => side * side * item.bytes * scale / (area * area);
    return Math.max(ratio(row[0]), 1 / ratio(row[row.length - 1]));
  };
  while (rest.length > 0) {
    const side = Math.min(box.width, box.height);
    let count = 1;
    while (count < rest.length &&
           worst(rest.slice(0, count + 1), side) <= worst(rest.slice(0, count), side)) ++count;
    const row = rest.slice(0, count);
    rest = rest.slice(count);
    const thickness = sum(row, (item) => item.bytes) * scale / side;
    let at = 0;
    for (const item of row) {
      const length = item.bytes * scale / thickness;
      placed.push(box.width >= box.height
        ? {item, x: box.x, y: box.y + at, width: thickness, height: length}
        : {item, x: box.x + at, y: box.y, width: length, height: thickness});
      at += length;
    }
    box = box.width >= box.height
      ? {x: box.x + thickness, y: box.y, width: box.width - thickness, height: box.height}
      : {x: box.x, y: box.y + thickness, width: box.width, height: box.height - thickness};
  }
  return placed;
};

// One item for each part and type, the largest first; what is beyond the limit is one item.
const mostAreas = 300;
const treemapItems = () => {
  const items = new Map();
  for (const tensor of tensors) {
    if (tensor.bytes === 0) continue;
    const key = `${tensor.part}\n${tensor.type}`;
    const item = items.get(key) ??
      {part: tensor.part, type: tensor.type, kind: tensor.kind, bytes: 0, tensors: 0, words: key};
    item.bytes += tensor.bytes;
    ++item.tensors;
    items.set(key, item);
  }
  const sorted = [...items.values()].sort((a, b) => b.bytes - a.bytes);
  const rest = sorted.splice(mostAreas);
  if (rest.length > 0) {
    sorted.push({part: 'smaller parts', type: rest[0].type, kind: 'Of all kinds', words: '',
      bytes: sum(rest, (item) => item.bytes), tensors: sum(rest, (item) => item.tensors)});
  }
  return sorted.sort((a, b) => b.bytes - a.bytes);
};

export const showTreemap = (listPart) => {
  const svg = byId('treemap');
  const items = treemapItems();
  let areas = [];
  const draw = () => {
    const width = svg.clientWidth;
    const height = svg.clientHeight;
    svg.replaceChildren();
    if (width < 1 || height < 1) return;
    // Above the areas, as an area has the name that a screen reader says.
    const labels = drawing('g', {'aria-hidden': 'true'});
    areas = squarify(items, {x: 0, y: 0, width, height}).map(({item, ...box}) => {
      const area = drawing('g', {}, drawing('rect', {...box, fill: colourOf[item.type], rx: 5}));
      const words = drawing('g');
      const letters = Math.floor((box.width - 16) / 7.8);
      if (letters >= 4 && box.height > 24) {
        const cut = (text) => text.length > letters ? `${text.slice(0, letters - 1)}\u2026` : text;
        const label = (text, line, style) => words.append(drawing('text',
          {x: box.x + 8, y: box.y + 18 + line * 16, class: style}, cut(safe(text))));
        label(item.part, 0, 'title');
        if (box.height > 44) label(`${item.type} \u00b7 ${bytesText(item.bytes)}`, 1, null);
        if (box.height > 62) label(percent(item.bytes / totalBytes), 2, null);
      }
      pressable(area, `${safe(item.part)}, ${safe(item.type)}, ${bytesText(item.bytes)}`,
        () => listPart(item));
      tip.attach(area, () => [item.part, [`${item.kind}, ${safe(item.type)}`,
        `${plural(item.tensors, 'tensor', 'tensors')}, ${bytesText(item.bytes)}`,
        `${percent(item.bytes / totalBytes)} of all`]]);
      svg.append(area);
      labels.append(words);
      return {item, nodes: [area, words]};
    });
    svg.append(labels);
    fade();
  };
  const fade = () => {
    for (const {item, nodes} of areas) {
      for (const node of nodes) node.classList.toggle('faded', !choice.hasType(item.type));
    }
  };
  choice.follow(fade);
  let drawnWidth = 0;
  new ResizeObserver(() => {
    if (svg.clientWidth === drawnWidth) return;
    drawnWidth = svg.clientWidth;
    draw();
  }).observe(svg);
};
