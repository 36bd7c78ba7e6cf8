// SPDX-License-Identifier: MIT
// Puts the page together: what is opened, and the sections that show it. All but the facts and the
// findings comes from the small module, so it is here first.
import {byId, cut, element, fill, nameSpan, plural, safe, sentenceNodes, tip} from './base.js';
import {choice, data, tensors, useModel} from './model.js';
import {findingRow} from './findings.js';
import {listContents, modelFacts, setUpTheme} from './summary.js';
import {showTreemap, showTypes} from './sizes.js';
import {LayerMap} from './map.js';
import {TensorView} from './histogram.js';
import {metadataTable, tensorTable} from './table.js';
import {showAnatomy} from './anatomy.js';
import {Comparison, typeText} from './compare.js';
import {Conversation} from './conversation.js';
import {MemoryView} from './memory_view.js';
import {choicesIn, listedModels, modelsOf, openModel, shortName} from './opening.js';
import {TokenView, Vocabulary} from './tokens.js';
import {WeightView} from './weights.js';

const longArray = 16;

// The shortest number that is this one in single precision.
const singleText = (value) => {
  let digitCount = 6;
  while (digitCount < 9 && Math.fround(Number(value.toPrecision(digitCount))) !== value) ++digitCount;
  return String(Number(value.toPrecision(digitCount)));
};

const valueText = (metadata, {key, type, count, element_type: elementType}) => {
  if (type === 'array' && count > longArray) return `${plural(count, 'element', 'elements')}`;
  const value = metadata.get(key);
  const isSingle = type === 'float32' || elementType === 'float32';
  const one = (item) => isSingle && Number.isFinite(item) ? singleText(item) : cut(item, 400);
  const text = Array.isArray(value) ? `[${value.map(one).join(', ')}]` : one(value);
  return text.length > 400 ? `${text.slice(0, 400)}\u2026` : text;
};

const rowsOf = (metadata) => [...metadata.keys()].map((key) => {
  const type = metadata.type(key);
  return {key, type: typeText(type), value: valueText(metadata, type)};
});

// The message names the place.
const errorText = (error) => safe(cut(error.message, 1000));

/**
 * A model of which nothing is heard any more once another one is on the page: what was asked of it before then neither
 * ends nor fails.
 */
const heardWhile = (isCurrent, model) => {
  const keep = (promise) => new Promise((resolve, reject) => {
    promise.then((value) => { if (isCurrent()) resolve(value); }, (error) => { if (isCurrent()) reject(error); });
  });
  return {
    name: model.name,
    metadata: model.metadata,
    tensors: model.tensors.map((tensor) => ({shape: tensor.shape, rowCount: tensor.rowCount,
      rows: (...range) => keep(tensor.rows(...range))})),
    json: (...request) => keep(model.json(...request)),
    tokenizer: {encode: (...request) => keep(model.tokenizer.encode(...request))},
    chat: {render: (...request) => keep(model.chat.render(...request))},
    close: () => model.close(),
  };
};

// A part of the page that may fail alone.
const attempt = async (id, show) => {
  try {
    await show();
  } catch (error) {
    byId(id).append(element('p', {class: 'warn'}, errorText(error)));
  }
};

const hide = (...ids) => { for (const id of ids) byId(id).hidden = true; };

const showFacts = async (model) => {
  data.summary = await model.json('show');
  const {name, architecture} = data.summary.model;
  byId('title').textContent = safe(cut(name || shortName(model.name)));
  byId('subtitle').textContent = safe([architecture, data.file].filter(Boolean).map((text) => cut(text)).join(' \u00b7 '));
  byId('facts').append(...modelFacts());
};

const showFindings = async (model) => {
  const {findings} = await model.json('check');
  byId('findings').append(...findings.map(findingRow));
  byId('findings-about').replaceChildren(...sentenceNodes(findings.length === 0
    ? 'Nothing to report: the header keeps all rules of the format and of its loaders.'
    : 'By the rules of `ingot check`, without the weights.'));
};

/** The model on the page. */
class View {
  constructor(model, label, what) {
    Object.assign(this, {model, label, what, end: new AbortController()});
  }

  close() {
    this.end.abort();
    return this.model.close();
  }

  async show(facts, listed) {
    const {model} = this;
    byId('main').replaceChildren(byId('sections').content.cloneNode(true));
    tip.hide();
    useModel(facts);
    byId('title').textContent = safe(this.label);
    byId('subtitle').textContent = '';
    if (tensors.length === 0) hide('sizes', 'memory', 'layers', 'tensor', 'tensors');
    else this.showTensors();
    metadataTable();
    const vocabulary = new Vocabulary(model.metadata);
    if (vocabulary.isEmpty) hide('tokens', 'vocabulary');
    const hasTemplate = model.metadata.has('tokenizer.chat_template');
    if (!hasTemplate) hide('chat');
    new Comparison(model, this.label, this.what, listed);
    listContents();
    document.documentElement.dataset.ready = 'header';
    const parts = [attempt('summary', () => showFacts(model)), attempt('check', () => showFindings(model)),
      attempt('anatomy', () => showAnatomy(model))];
    if (tensors.length > 0) parts.push(attempt('memory', () => new MemoryView(model).begin()));
    if (!vocabulary.isEmpty) {
      vocabulary.show();
      parts.push(attempt('tokens', () => new TokenView(model, vocabulary).begin()));
      if (hasTemplate) parts.push(attempt('chat', () => new Conversation(model).begin()));
    }
    await Promise.all(parts);
    document.documentElement.dataset.ready = 'true';
  }

  showTensors() {
    showTypes();
    new LayerMap();
    new WeightView(this.model, new TensorView(), this.end.signal);
    const list = tensorTable();
    showTreemap((item) => {
      list.setFilter(item.words.replace('\n', ' '));
      byId('tensors').scrollIntoView();
    });
    choice.pickTensor(tensors.reduce((most, tensor) => tensor.bytes > most.bytes ? tensor : most));
  }
}

const start = async () => {
  let view = null;
  let listed = [];
  let stop = new AbortController();

  const say = (text, isError = false) => {
    byId('status').textContent = text;
    byId('status').classList.toggle('warn', isError);
  };
  /** Ends what was begun before. */
  const begin = () => {
    stop.abort();
    stop = new AbortController();
    return stop.signal;
  };
  /** Whether the model is on the page now; until it can be, the one before it stays. */
  const show = async (what, label = shortName(what)) => {
    const signal = begin();
    let model = null;
    delete document.documentElement.dataset.ready;
    say(`Reading ${safe(label)}...`);
    try {
      model = await openModel(what, signal);
      const facts = {file: label, tensors: await model.json('tensors', {signal}), metadata: rowsOf(model.metadata)};
      signal.throwIfAborted();
      const next = new View(heardWhile(() => view === next, model), label, what);
      view?.close();
      view = next;
      model = null;
      say('');
      await next.show(facts, listed);
      return true;
    } catch (error) {
      model?.close();
      if (!signal.aborted) say(`${safe(label)}: ${errorText(error)}`, true);
      return false;
    }
  };
  const offer = (choices) => byId('choices').replaceChildren(...choices.map(({name, what}) =>
    element('button', {type: 'button', onclick: () => show(what)}, nameSpan(name))));
  const openText = async (text, ...name) => {
    const signal = begin();
    try {
      const choices = await choicesIn(text, signal);
      if (!choices) return show(text, ...name);
      if (signal.aborted) return false;
      offer(choices);
      say(choices.length === 0 ? 'There is no GGUF file in it.'
        : `${plural(choices.length, 'model', 'models')} in it; choose one.`);
    } catch (error) {
      if (!signal.aborted) say(errorText(error), true);
    }
    return false;
  };
  const compareWith = (what) => byId('comparison')?.dispatchEvent(new CustomEvent('compare', {detail: what}));
  const openFiles = async (files) => {
    const [first, second] = modelsOf(files);
    if (!first) return;
    if (await show(first) && second) compareWith(second);
  };

  byId('opener').addEventListener('submit', (event) => {
    event.preventDefault();
    const text = byId('address').value.trim();
    if (text) openText(text);
  });
  byId('files').addEventListener('change', ({target}) => {
    openFiles([...target.files]);
    target.value = '';  // the same file may be chosen again
  });
  fill(document.documentElement, {
    ondragover: (event) => {
      event.preventDefault();
      document.body.classList.add('dropping');
    },
    ondragleave: () => document.body.classList.remove('dropping'),
    ondrop: (event) => {
      event.preventDefault();
      document.body.classList.remove('dropping');
      openFiles([...event.dataTransfer.files]);
    },
  }, []);

  byId('blocked').remove();
  setUpTheme();
  listed = await listedModels().catch((error) => say(errorText(error), true) ?? []);
  if (listed.length > 1) offer(listed);
  let named = location.hash.slice(1);  // a link can name a model
  try { named = decodeURIComponent(named); } catch { /* then it is as it is written */ }
  if (/[/:]/.test(named)) {
    byId('address').value = named;
    await openText(named);
  } else if (listed.length > 0) {
    const isShown = await openText(listed[0].what, listed[0].name);
    if (isShown && listed.length === 2) compareWith(listed[1].what);
  }
  document.documentElement.dataset.started = 'true';
};
start();
