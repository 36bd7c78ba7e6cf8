// SPDX-License-Identifier: MIT
// node projector_engine.js PACKAGE MODEL MMPROJ [WxH|SECONDSs...]: loads a projector beside a model with the
// multimodal library of llama.cpp, which the npm package @wllama/wllama has as WebAssembly. Prints
// {"loads": true, "tokens": {"1024x768": 1010, "2.5s": 65, ...}}, or {"loads": false, "error": ...}.
//
// The context is so short that images and sounds are refused before they are encoded; the refusal counts
// them.
// Without sizes the graph for an image is laid out, which finds shapes that do not fit; "work" has the
// side of that image and the MiB of its work space.
const fs = require("fs");
const vm = require("vm");

const [folder, model, mmproj, ...sizes] = process.argv.slice(2);

// Messages of the package: fields in the order of its table, each with the number of its type.
const table = fs.readFileSync(folder + "/src/glue/messages.ts", "utf8");
const messages = JSON.parse(table.match(/GLUE_MESSAGE_PROTOTYPES[^=]*= (\{[\s\S]*?\n\});/)[1]);
const types = ["null", "bool", "int", "float", "str", "raw", "arr_bool", "arr_int", "arr_float",
               "arr_str", "arr_raw"];

function encode(name, values) {
  const parts = [Buffer.from("GLUE")];
  const number = (value) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    parts.push(bytes);
  };
  const element = (type, value) => {
    if (type == "int" || type == "bool") return number(Number(value));
    const bytes = Buffer.from(value);
    number(bytes.length);
    parts.push(bytes);
  };
  number(1);
  parts.push(Buffer.from(name));
  for (const field of messages[name].fields) {
    const value = values[field.name];
    number(value === undefined ? 0 : types.indexOf(field.type));
    if (value === undefined) continue;
    if (!field.type.startsWith("arr_")) {
      element(field.type, value);
      continue;
    }
    number(value.length);
    for (const one of value) element(field.type.slice(4), one);
  }
  return Buffer.concat(parts);
}

function decode(bytes) {
  let offset = 16;
  const number = () => bytes.readInt32LE((offset += 4) - 4);
  const element = (type) => {
    if (type == "int" || type == "bool" || type == "float") return number();
    const size = number();
    return bytes.subarray((offset += size) - size, offset).toString();
  };
  const values = {};
  for (const field of messages[bytes.toString("latin1", 8, 16)].fields) {
    if (number() == 0) continue;
    values[field.name] = field.type.startsWith("arr_")
      ? Array.from({length: number()}, () => element(field.type.slice(4)))
      : element(field.type);
  }
  return values;
}

function grey_bitmap(width, height) {
  const row = (3 * width + 3) & ~3;
  const bytes = Buffer.alloc(54 + row * height, 128).fill(0, 0, 54);
  bytes.write("BM");
  for (const [offset, value] of [[2, bytes.length], [10, 54], [14, 40], [18, width], [22, height],
                                 [26, 1 | (24 << 16)]]) {
    bytes.writeUInt32LE(value, offset);
  }
  return bytes;
}

function silence(seconds) {
  const size = 2 * Math.round(16000 * seconds);
  const bytes = Buffer.alloc(44 + size);
  for (const [offset, text] of [[0, "RIFF"], [8, "WAVEfmt "], [36, "data"]]) bytes.write(text, offset);
  for (const [offset, value] of [[4, 36 + size], [16, 16], [20, 1 | (1 << 16)], [24, 16000], [28, 32000],
                                 [32, 2 | (16 << 16)], [40, size]]) {
    bytes.writeUInt32LE(value, offset);
  }
  return bytes;
}

const log = [];
function finish(result) {
  fs.writeSync(1, JSON.stringify(result) + "\n");
  process.exit(0);
}
const error_of_log = () =>
  log.filter((line) => /error|fail|unable|missing|mismatch|ASSERT|throw/i.test(line)).slice(0, 3)
      .join(" | ") || log.slice(-3).join(" | ");

async function run() {
  const FS = Module.FS;
  FS.mkdir("/models");
  FS.writeFile("/models/model.gguf", fs.readFileSync(model));
  FS.writeFile("/models/mmproj.gguf", fs.readFileSync(mmproj));
  const allocate = Module.cwrap("wllama_malloc", "bigint", ["number", "bigint"]);
  const perform = Module.cwrap("wllama_action", "bigint", ["string", "bigint"], {async: true});
  await Module.cwrap("wllama_start", "string", [], {async: true})();
  const call = async (verb, name, values) => {
    const request = encode(name, values);
    const place = allocate(BigInt(request.length), 0);
    new Uint8Array(Module.wasmMemory.buffer).set(request, Number(place));
    const answer = Number(await perform(verb, place));
    const heap = Buffer.from(Module.wasmMemory.buffer);
    const size = heap.readUInt32LE(Number(place));
    return decode(Buffer.from(heap.subarray(answer, answer + size)));
  };
  const loaded = await call("load", "load_req", {
    model_paths: ["/models/model.gguf"], mmproj_path: "/models/mmproj.gguf", n_ctx_auto: false,
    use_mmap: false, use_mlock: false, n_gpu_layers: 0, n_ctx: 2048, n_threads: 1, log_level: 1,
    n_batch: 2048, n_ubatch: 2048, n_parallel: 1, warmup: sizes.length == 0, mmproj_offload: false, flash_attn: true,
  });
  if (!loaded.success) finish({loads: false, error: error_of_log()});
  const count = async (prompt, files) => {
    const data = JSON.stringify({prompt, n_predict: 0, stream: false, cache_prompt: false});
    const task = await call("completion", "cmpl_req",
                            {is_chat: false, is_asr: false, data_json: data, files});
    for (;;) {
      const result = await call("get_result", "gres_req", {req_id: task.req_id});
      if (!result.data_json && result.has_more) continue;
      const answer = JSON.parse(result.data_json || "{}");
      const facts = Array.isArray(answer) ? answer[0] : answer;
      return facts.n_prompt_tokens ?? facts.tokens_evaluated ?? facts.usage?.prompt_tokens ?? facts;
    }
  };
  const tokens = {};
  const words = " x".repeat(2100);  // more than the context, so that text is refused, too
  const alone = sizes.length > 0 ? await count(words, []) : 0;
  for (const size of sizes) {
    const medium = size.endsWith("s") ? silence(parseFloat(size)) : grey_bitmap(...size.split("x").map(Number));
    const all = await count(words + loaded.media_marker, [medium]);
    tokens[size] = typeof all == "number" ? all - alone : all;
  }
  const at = log.findLastIndex((line) => line.includes("warmup with image size"));
  const numberIn = (line, before) => Number(line?.match(before + " = *([0-9.]+)")?.[1]);
  const buffer = at < 0 ? undefined : log.slice(at).find((line) => line.includes("compute buffer size"));
  const work = buffer && [numberIn(log[at], "image size"), numberIn(buffer, "buffer size")];
  finish({loads: true, tokens, work});
}

globalThis.Module = {
  noInitialRun: true,
  print: (line) => log.push(line),
  printErr: (line) => log.push(line),
  wasmBinary: fs.readFileSync(folder + "/esm/wasm/wllama.wasm"),
  pthreadPoolSize: 0,
  wasmMemory: null,
  onAbort: () => finish({loads: false, error: "aborts: " + error_of_log()}),
  onRuntimeInitialized: () =>
    run().catch((error) => finish({loads: false, error: String(error) + " | " + error_of_log()})),
};
Object.assign(globalThis, {require, __dirname: folder, __filename: folder + "/engine.js"});
vm.runInThisContext(fs.readFileSync(folder + "/src/wasm/wllama.js", "utf8"));
