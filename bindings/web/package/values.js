// SPDX-License-Identifier: MIT
// Values as the module reads them: a letter for the kind, then what the kind has; bindings/web/src/values.cpp reads them.
const encoder = new TextEncoder();

/** The bytes of a value: what JSON has of it, and bigint. */
export function bytesOf(value) {
  const parts = [];
  const number = (letter, size, set) => {
    const part = new DataView(new ArrayBuffer(size + 1));
    part.setUint8(0, letter.charCodeAt(0));
    set?.(part);
    parts.push(new Uint8Array(part.buffer));
  };
  const sized = (letter, size) => number(letter, 4, (part) => part.setUint32(1, size, true));
  const text = (letter, content) => {
    const bytes = encoder.encode(content);
    sized(letter, bytes.length);
    parts.push(bytes);
  };
  const whole = (content) => {
    if (BigInt.asIntN(64, content) !== content) return text('d', String(content));
    return number('i', 8, (part) => part.setBigInt64(1, content, true));
  };
  const add = (given) => {
    const content = typeof given?.toJSON === 'function' ? given.toJSON() : given;
    if (content === true) return number('t', 0);
    if (content === false) return number('f', 0);
    if (typeof content === 'bigint' || Number.isInteger(content)) return whole(BigInt(content));
    if (Number.isFinite(content)) return number('r', 8, (part) => part.setFloat64(1, content, true));
    if (typeof content === 'string') return text('s', content);
    if (Array.isArray(content)) {
      sized('l', content.length);
      return Array.from(content, add);
    }
    if (content === null || typeof content !== 'object') return number('n', 0);
    const members = Object.entries(content).filter(([, one]) => one !== undefined && typeof one !== 'function');
    sized('o', members.length);
    for (const [name, one] of members) {
      text('s', name);
      add(one);
    }
  };
  add(value);
  return joined(parts);
}

/** The parts as one, with zeros up to a multiple of `alignment` bytes. */
export function joined(parts, alignment = 1) {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  const all = new Uint8Array(Math.ceil(size / alignment) * alignment);
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}
