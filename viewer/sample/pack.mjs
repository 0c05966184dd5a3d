// Packs numbers as the report format asks, and puts an object into the template.
import { readFileSync } from 'node:fs';

const KINDS = { f8: Float64Array, f4: Float32Array, u4: Uint32Array, u1: Uint8Array };

/** `rows`: an array of rows, or of numbers for one column. */
export function pack(type, rows, width) {
  const table = rows.map((row) => (Array.isArray(row) ? row : [row]));
  width ??= table[0]?.length ?? 1;
  const values = new KINDS[type](table.length * width);
  table.forEach((row, i) => values.set(row, i * width));
  return { type, shape: [table.length, width], data: Buffer.from(values.buffer).toString('base64') };
}

export function fill(data, template = new URL('../dist/template.html', import.meta.url)) {
  const json = JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const page = readFileSync(template, 'utf8');
  if (page.split('/*DATA*/').length !== 2) throw new Error('the template must have the placeholder once');
  return page.replace('/*DATA*/', () => json);
}

/** Numbers that are the same on every run. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
