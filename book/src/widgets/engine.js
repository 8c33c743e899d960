// Loads an engine, such as head.wasm, and asks it. The engine computes; nothing is
// computed here.

/** @import { Engine, Exchanges, Failure } from './types.d.ts' */

/**
 * What an engine exports: see `crates/explorer/src/abi.rs`.
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {(length: number) => number} prepare
 * @property {() => number} answer
 * @property {() => number} length
 * @property {() => number} [weights]
 */

/** Those that were asked for. @type {Map<string, Promise<Engine>>} */
const engines = new Map();

/**
 * An engine, loaded once for all widgets of a page; again after a failure.
 * Rejects with an Error whose message can be shown to a reader.
 * @param {'head.wasm' | 'models.wasm' | 'reader.wasm'} file
 * @returns {Promise<Engine>}
 */
export function load(file) {
  const asked = engines.get(file) ?? fetched(file).then(speaking, (cause) => {
    engines.delete(file);
    throw new Error('The part of this page that computes could not be loaded.', { cause });
  });
  engines.set(file, asked);
  return asked;
}

/**
 * @param {string} file
 * @returns {Promise<Exports>}
 */
async function fetched(file) {
  const response = await fetch(new URL(file, import.meta.url));
  if (!response.ok) {
    throw new Error(`${file}: ${response.status} ${response.statusText}`);
  }
  const { instance } = await instantiated(response);
  return /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
}

/**
 * The bytes of a file of weights. Rejects with an Error whose message can be shown.
 * @param {string} file
 * @returns {Promise<Uint8Array>}
 */
export async function weights(file) {
  const response = await fetch(new URL(file, import.meta.url)).catch(() => undefined);
  if (!response?.ok) {
    throw new Error('The weights of the model could not be loaded.');
  }
  return new Uint8Array(await response.arrayBuffer());
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
function speaking({ memory, prepare, answer, length, weights }) {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  /**
   * Hands bytes over, and reads what one of the engine's functions makes of them.
   * @param {Uint8Array} bytes
   * @param {() => number} call
   */
  const exchange = (bytes, call) => {
    const place = prepare(bytes.length);
    if (place === 0) {
      throw new Error('The request is too long.');
    }
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
    const start = call();
    // The memory may have grown and moved meanwhile: look at it anew.
    const text = decoder.decode(new Uint8Array(memory.buffer, start, length()));
    const answered = /** @type {Exchanges[keyof Exchanges][1] | Failure} */ (JSON.parse(text));
    if ('error' in answered) {
      throw new Error(answered.error);
    }
    // The engine answers each request in its own kind.
    return /** @type {any} */ (answered);
  };
  return {
    ask: (request) => exchange(encoder.encode(JSON.stringify(request)), answer),
    keep: (bytes) => exchange(bytes, weights ?? answer),
  };
}
