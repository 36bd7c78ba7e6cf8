// SPDX-License-Identifier: MIT
// The vocabulary, and a text in its tokens.
import {byId, digits, element, plural, safe, tip} from './base.js';

const mostFound = 200;
const mostTokens = 4000;
const kindNames = [null, 'normal', 'unknown', 'control', 'user-defined', 'unused', 'byte'];

// GPT-2 writes each byte as a character that can be seen: those of Latin-1 that can as they are,
// the others from U+0100 on.
const bytesOfCharacters = (() => {
  const bytes = new Map();
  let next = 0x100;
  for (let byte = 0; byte < 256; ++byte) {
    const isSeen = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    bytes.set(String.fromCodePoint(isSeen ? byte : next++), byte);
  }
  return bytes;
})();
const decoder = new TextDecoder('utf-8', {fatal: true});

// The text of a byte-level token; bytes that are no whole character as hexadecimal numbers.
const byteLevelText = (token) => {
  const bytes = [...token].map((character) => bytesOfCharacters.get(character));
  if (bytes.includes(undefined)) return token;
  try {
    return decoder.decode(Uint8Array.from(bytes));
  } catch {
    return bytes.map((byte) => byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte)
      : `<${byte.toString(16).padStart(2, '0')}>`).join('');
  }
};

/** Blanks and line ends as signs, and nothing that cannot be seen. */
const visible = (text) =>
  safe(text.replaceAll(' ', '\u2423').replaceAll('\n', '\u21b5').replaceAll('\t', '\u21e5'));

export class Vocabulary {
  constructor(metadata) {
    this.metadata = metadata;
    this.count = metadata.type('tokenizer.ggml.tokens')?.count ?? 0;
    this.texts = [];
    this.isByteLevel = this.count > 0 && metadata.get('tokenizer.ggml.model') === 'gpt2';
  }

  get isEmpty() { return this.count === 0; }
  // The arrays are large, so they are read when somebody looks.
  get tokens() { return this.metadata.get('tokenizer.ggml.tokens'); }
  get kinds() { return this.metadata.get('tokenizer.ggml.token_type'); }

  text(id) {
    if (this.texts[id] === undefined) {
      const token = String(this.tokens[id] ?? '');  // a hostile file has numbers
      const isPlain = ['control', 'user-defined'].includes(this.kind(id));  // as it is in a text
      this.texts[id] = !this.isByteLevel ? token.replaceAll('\u2581', ' ')
        : isPlain ? token : byteLevelText(token);
    }
    return this.texts[id];
  }

  kind(id) { return kindNames[this.kinds?.[id]] ?? 'normal'; }

  find(words) {
    if (words === '') {
      return {found: Array.from({length: Math.min(mostFound, this.count)}, (_, id) => id), total: this.count};
    }
    const found = [];
    const id = /^\d+$/.test(words) ? Number(words) : -1;
    if (id >= 0 && id < this.count) found.push(id);
    const wanted = words.toLowerCase();
    let total = found.length;
    for (let i = 0; i < this.count; ++i) {
      if (i === id || !this.text(i).toLowerCase().includes(wanted)) continue;
      ++total;
      if (found.length < mostFound) found.push(i);
    }
    return {found, total};
  }

  show() {
    const search = byId('token-search');
    const draw = () => {
      if (!search.isConnected) return;  // another model has taken the page
      const {found, total} = this.find(search.value);
      byId('token-found').textContent = total > found.length
        ? `the first ${digits(found.length)} of ${plural(total, 'token', 'tokens')}`
        : plural(total, 'token', 'tokens');
      const heading = (name, style) => element('th', {scope: 'col', class: style}, element('span', {}, name));
      const rows = found.map((id) => element('tr', {},
        element('td', {class: 'number'}, String(id)),
        element('td', {class: 'text'}, element('span', {class: 'token-text'}, visible(this.text(id)))),
        element('td', {}, this.kind(id))));
      byId('token-table').replaceChildren(element('div', {class: 'wide short', tabindex: '0',
        role: 'region', 'aria-label': 'Tokens that were found'},
      element('table', {'aria-label': 'Vocabulary'}, element('thead', {}, element('tr', {},
        heading('Id', 'number'), heading('Text'), heading('Kind'))), element('tbody', {}, ...rows))));
    };
    let waiting = 0;
    search.addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = setTimeout(draw, 120);
    });
    setTimeout(draw);
  }
}

export class TokenView {
  constructor(model, vocabulary) {
    Object.assign(this, {model, vocabulary, turn: 0});
  }

  async begin() {
    for (const id of ['text', 'add-special', 'parse-special']) {
      byId(id).addEventListener('input', () => this.update());
    }
    await this.update();
  }

  async update() {
    const turn = ++this.turn;
    const text = byId('text').value;
    let ids;
    try {
      ids = await this.model.tokenizer.encode(text, {addSpecial: byId('add-special').checked,
        parseSpecial: byId('parse-special').checked});
    } catch (error) {
      if (turn === this.turn) byId('token-count').textContent = safe(error.message);
      return;
    }
    if (turn !== this.turn) return;  // the text has changed meanwhile
    byId('token-list').replaceChildren(...ids.slice(0, mostTokens).map((id, i) => this.token(id, i)));
    const perToken = ids.length === 0 ? '' : `, ${(new TextEncoder().encode(text).length / ids.length)
      .toFixed(2)} bytes of text for each`;
    byId('token-count').textContent = plural(ids.length, 'token', 'tokens') + perToken +
      (ids.length > mostTokens ? `; the first ${digits(mostTokens)} are shown` : '');
  }

  token(id, i) {
    const node = element('span', {class: `token token-${i % 5}`},
      element('span', {class: 'token-text'}, visible(this.vocabulary.text(id))),
      element('small', {}, String(id)));
    tip.attach(node, () => [visible(this.vocabulary.text(id)),
      [`id ${id}, ${this.vocabulary.kind(id)}`, `stored as ${safe(this.vocabulary.tokens[id] ?? '')}`]]);
    return node;
  }
}
