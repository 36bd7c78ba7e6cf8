// SPDX-License-Identifier: MIT
// A conversation as the template of the model renders it, with its own words and those of the user
// told apart.
import {byId, element, plural, safe} from './base.js';

// Characters for private use, which no text has.
const beginMark = '\ue0f0';
const endMark = '\ue0f1';
const marks = /[\ue0f0\ue0f1]/g;

/**
 * A text between marks, which stand within its blanks: templates trim.
 */
const marked = (text) => {
  const core = text.trim();
  if (core === '') return text;
  const begin = text.length - text.trimStart().length;
  return `${text.slice(0, begin)}${beginMark}${core}${endMark}${text.slice(begin + core.length)}`;
};

/**
 * Pieces {text, isInput} of a prompt that was rendered with marks; null if these are not in pairs, or stand around
 * anything but what the messages say, in their order: a template could show its own words as those of the user.
 */
const piecesOf = (prompt, messages) => {
  const pieces = [];
  let isInput = false;
  for (const text of prompt.split(/(?=[\ue0f0\ue0f1])/)) {
    if (text[0] === beginMark || text[0] === endMark) {
      if (isInput === (text[0] === beginMark)) return null;
      isInput = text[0] === beginMark;
    }
    pieces.push({text: text.replace(marks, ''), isInput});
  }
  const said = messages.map(({content}) => content.trim());
  let next = 0;  // messages that were left out are skipped
  const areSaid = pieces.every(({text, isInput: isMarked}) => {
    if (isMarked) next = said.indexOf(text, next) + 1;
    return !isMarked || next > 0;
  });
  return isInput || !areSaid ? null : pieces.filter(({text}) => text !== '');
};

export class Conversation {
  constructor(model) {
    Object.assign(this, {model, turn: 0});
    this.messages = [{role: 'system', content: 'You are a helpful assistant.'},
      {role: 'user', content: 'What is a GGUF file?'},
      {role: 'assistant', content: 'A file with all that a language model needs to run.'},
      {role: 'user', content: 'Thanks! How large is one?'}];
  }

  async begin() {
    byId('add-message').addEventListener('click', () => {
      const {role} = this.messages.at(-1) ?? {};
      this.messages.push({role: role === 'user' ? 'assistant' : 'user', content: ''});
      this.drawMessages();
      byId('messages').lastElementChild.querySelector('textarea').focus();
      this.render();
    });
    byId('generation-prompt').addEventListener('change', () => this.render());
    this.drawMessages();
    await this.render();
    // Many templates know no system message: the page begins with a conversation that renders.
    if (!this.isRendered && !this.isTooMuch && this.messages[0]?.role === 'system') {
      this.messages.shift();
      this.drawMessages();
      await this.render();
    }
  }

  drawMessages() {
    byId('messages').replaceChildren(...this.messages.map((message, i) => {
      const role = element('select', {'aria-label': `Role of message ${i + 1}`, onchange: () => {
        message.role = role.value;
        this.render();
      }}, ...['system', 'user', 'assistant', 'tool'].map((name) =>
        element('option', {value: name, selected: name === message.role}, name)));
      const text = element('textarea', {rows: '2', spellcheck: 'false',
        'aria-label': `Text of message ${i + 1}`, oninput: () => {
          message.content = text.value;
          this.renderSoon();
        }});
      text.value = message.content;
      const remove = element('button', {type: 'button', 'aria-label': `Remove message ${i + 1}`,
        onclick: () => {
          this.messages.splice(i, 1);
          this.drawMessages();
          this.render();
        }}, 'Remove');
      return element('div', {class: 'message'}, role, text, remove);
    }));
  }

  /** Once the user pauses: a template may take seconds. */
  renderSoon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.render(), 150);
  }

  async render() {
    clearTimeout(this.waiting);
    const turn = ++this.turn;
    const options = {addGenerationPrompt: byId('generation-prompt').checked};
    const about = byId('prompt-about');
    let prompt;
    let pieces = null;
    let count = null;
    try {
      prompt = await this.model.chat.render(this.messages, options);
      if (turn !== this.turn) return;
      const wrapped = this.messages.map((message) => ({...message, content: marked(message.content)}));
      // A template may look at the text, and then does other things with marks in it.
      const rendered = await this.model.chat.render(wrapped, options).catch(() => '');
      if (rendered.replace(marks, '') === prompt) pieces = piecesOf(rendered, this.messages);
      const ids = await this.model.tokenizer.encode(prompt, {addSpecial: false, parseSpecial: true})
        .catch(() => null);
      count = ids?.length ?? null;
    } catch (error) {
      if (turn !== this.turn) return;
      this.isRendered = false;
      this.isTooMuch = error.code === 'limit_exceeded';
      byId('prompt').replaceChildren();
      about.textContent = `The template refuses this conversation: ${safe(error.message)}`;
      return;
    }
    if (turn !== this.turn) return;
    this.isRendered = true;
    const line = (text) => text.split('\n').map(safe).join('\n');
    byId('prompt').replaceChildren(...(pieces ?? [{text: prompt, isInput: false}]).map(
      ({text, isInput}) => element(isInput ? 'mark' : 'span', {}, line(text))));
    const given = this.messages.filter(({content}) => content.trim() !== '').length;
    const lost = pieces === null ? 0 : given - pieces.filter(({isInput}) => isInput).length;
    about.textContent = (pieces ? 'Marked is what the messages say; all else is the template\u2019s.'
      : 'The template changes the messages, so that its words and theirs cannot be told apart.') +
      (lost > 0 ? ` ${plural(lost, 'message is', 'messages are')} left out by the template.` : '') +
      (count === null ? '' : ` ${plural(count, 'token', 'tokens')}.`);
  }
}
