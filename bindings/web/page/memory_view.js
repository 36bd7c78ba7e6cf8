// SPDX-License-Identifier: MIT
// What it takes to run the model, for a context, a cache and a card of one's choice.
import {byId, bytesText, digits, element, plural, safe, sum} from './base.js';
import {memoryLegend, memoryOf, memoryRow} from './memory.js';

// In GB, as cards are sold. The last ones are for machines with one memory.
const cards = [4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 141, 192, 288, 512];
const cacheTypes = ['f16', 'q8_0', 'q5_1', 'q4_0', 'f32'];

export class MemoryView {
  constructor(model) {
    Object.assign(this, {model, turn: 0});
  }

  async begin() {
    const plain = await this.model.json('fit');
    this.contexts = this.contextsUpTo(Number(plain.context_length ?? 0) || 8192);
    byId('context').max = String(this.contexts.length - 1);
    const usual = this.contexts.findIndex((context) => context >= 8192);
    byId('context').value = String(usual < 0 ? this.contexts.length - 1 : usual);
    byId('card').max = String(cards.length - 1);
    const needed = (plain.advice.smallest_card_bytes ?? 0) / 2 ** 30;
    const card = cards.findIndex((size) => size >= needed);
    byId('card').value = String(card < 0 ? cards.length - 1 : card);
    byId('cache-type').append(...cacheTypes.map((type) => element('option', {value: type}, type.toUpperCase())));
    byId('memory-legend').append(...memoryLegend());
    for (const id of ['context', 'card', 'sequences', 'cache-type']) {
      byId(id).addEventListener('input', () => this.update());
    }
    await this.update();
  }

  /** Powers of two up to the context of the model, and this itself. */
  contextsUpTo(most) {
    const contexts = [];
    for (let context = 512; context < most; context *= 2) contexts.push(context);
    return [...contexts, most];
  }

  async update() {
    const turn = ++this.turn;
    const context = this.contexts[Number(byId('context').value)];
    const card = cards[Number(byId('card').value)];
    const sequences = 2 ** Number(byId('sequences').value);
    byId('context-text').textContent = `${digits(context)} tokens`;
    byId('card-text').textContent = `${card} GB`;
    byId('sequences-text').textContent = String(sequences);
    const type = byId('cache-type').value;
    const fit = await this.model.json('fit', {ctxSize: String(context * sequences), parallel: String(sequences),
      cacheTypeK: type, cacheTypeV: type, device: `${card}G`}).catch((error) => ({problem: error.message}));
    if (turn !== this.turn) return;
    if (fit.problem) byId('memory-verdict').textContent = safe(fit.problem);
    else this.show(fit);
  }

  show(fit) {
    const places = [...fit.devices.map((device) => ['on the card', device]), ['on the host', fit.host]];
    const most = Math.max(...places.map(([, place]) => Math.max(memoryOf(place), place.capacity_bytes ?? 0)));
    byId('memory-runs').replaceChildren(...places.map(([name, place]) => {
      const capacity = place.capacity_bytes === null ? '' : ` of ${bytesText(place.capacity_bytes)}`;
      return memoryRow(name, place, most, `${bytesText(memoryOf(place))}${capacity}`);
    }));
    const [device] = fit.devices;
    const layers = fit.layer_count + 1;  // the output counts as one
    const left = device.capacity_bytes - device.total_bytes;
    byId('memory-verdict').textContent = fit.gpu_layers >= layers && fit.fits
      ? `All of it fits on the card; ${bytesText(left)} are left.`
      : fit.gpu_layers === 0 ? 'No layer fits on the card.'
        : `${plural(fit.gpu_layers, 'layer', 'layers')} of ${layers} fit on the card, ` +
          `the rest takes ${bytesText(sum([fit.host], memoryOf))} of the host.`;
    if (fit.notes.length > 0) byId('memory-verdict').append(` ${fit.notes.map(safe).join(' ')}`);
  }
}
