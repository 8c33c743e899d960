// Loads engine.wasm and asks it. The engine computes; nothing is computed here.

/** @import { Engine, Exchanges, Failure } from './types.d.ts' */

/**
 * What engine.wasm exports: see `crates/explorer/src/abi.rs`.
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {(length: number) => number} prepare
 * @property {() => number} answer
 * @property {() => number} length
 */

/** @type {Promise<Engine> | undefined} */
let engine;

/**
 * The engine, loaded once for all widgets of a page; again after a failure.
 * Rejects with an Error whose message can be shown to a reader.
 * @returns {Promise<Engine>}
 */
export function load() {
  engine ??= fetched().then(speaking, (cause) => {
    engine = undefined;
    throw new Error('The part of this page that computes could not be loaded.', { cause });
  });
  return engine;
}

/** @returns {Promise<Exports>} */
async function fetched() {
  const response = await fetch(new URL('./engine.wasm', import.meta.url));
  if (!response.ok) {
    throw new Error(`engine.wasm: ${response.status} ${response.statusText}`);
  }
  const { instance } = await instantiated(response);
  return /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
}

/**
 * Compiles while it downloads, where the server says that it is WebAssembly.
 * @param {Response} response
 * @returns {Promise<WebAssembly.WebAssemblyInstantiatedSource>}
 */
async function instantiated(response) {
  const type = response.headers.get('Content-Type') ?? '';
  if (type.startsWith('application/wasm')) {
    return WebAssembly.instantiateStreaming(response);
  }
  return WebAssembly.instantiate(await response.arrayBuffer());
}

/**
 * @param {Exports} exports
 * @returns {Engine}
 */
function speaking({ memory, prepare, answer, length }) {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  return {
    ask(request) {
      const bytes = encoder.encode(JSON.stringify(request));
      const place = prepare(bytes.length);
      if (place === 0) {
        throw new Error('The request is too long.');
      }
      new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
      const start = answer();
      // The memory may have grown and moved meanwhile: look at it anew.
      const text = decoder.decode(new Uint8Array(memory.buffer, start, length()));
      const answered = /** @type {Exchanges[keyof Exchanges][1] | Failure} */ (JSON.parse(text));
      if ('error' in answered) {
        throw new Error(answered.error);
      }
      // The engine answers each request in its own kind.
      return /** @type {any} */ (answered);
    },
  };
}
