// SPDX-License-Identifier: MIT
// GGUF files that tests make, in memory.

/** A file with keys, as serializeGgufMetadata() takes them, and a tensor: float32 that counts up from 0, or others. */
export function madeFile(package_, keys, shape = [32, 4], {typeId = 0, data} = {}) {
  const {serializeGgufMetadata, GGUFValueType: type} = package_;
  const count = shape.reduce((product, size) => product * size, 1);
  data ??= new Uint8Array(new Float32Array(count).map((_, i) => i).buffer);
  const header = serializeGgufMetadata({
    version: {value: 3, type: type.UINT32}, tensor_count: {value: 1n, type: type.UINT64},
    kv_count: {value: 0n, type: type.UINT64}, ...keys,
  }, {alignment: 1});
  const name = new TextEncoder().encode('counts');
  const info = new DataView(new ArrayBuffer(8 + name.length + 4 + 8 * shape.length + 4 + 8));
  info.setBigUint64(0, BigInt(name.length), true);
  new Uint8Array(info.buffer).set(name, 8);
  info.setUint32(8 + name.length, shape.length, true);
  shape.forEach((size, i) => info.setBigUint64(12 + name.length + 8 * i, BigInt(size), true));
  info.setUint32(12 + name.length + 8 * shape.length, typeId, true);
  const begin = Math.ceil((header.length + info.byteLength) / 32) * 32;
  const file = new Uint8Array(begin + data.length);
  file.set(header);
  file.set(new Uint8Array(info.buffer), header.length);
  file.set(data, begin);
  return file;
}

/** A source that counts its reads, and gives the same buffer each time, as sloppy ones do. */
export class CountingSource {
  name = 'made.gguf';
  reads = 0;
  #buffer = new Uint8Array(0);

  constructor(bytes) {
    this.bytes = bytes;
    this.size = bytes.length;
  }

  async read(offset, length) {
    ++this.reads;
    await new Promise((resolve) => setTimeout(resolve, 1));
    await this.wait?.();
    if (this.#buffer.length < length) this.#buffer = new Uint8Array(length);
    this.#buffer.set(this.bytes.subarray(offset, offset + length));
    return this.#buffer.subarray(0, length);
  }
}
