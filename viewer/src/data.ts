// Packed arrays of the report: base64, little endian, decoded when first asked for.
import type { Packed } from './format';

export type Numbers = Float64Array | Float32Array | Uint32Array | Uint8Array;

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const DIGIT_OF = new Uint8Array(256);
for (let i = 0; i < DIGITS.length; i++) DIGIT_OF[DIGITS.charCodeAt(i)] = i;

/** The bytes of a base64 text. A table instead of atob, which makes a second string of the same length. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 61) end--;
  const bytes = new Uint8Array(Math.floor((end * 3) / 4));
  const whole = end - (end % 4);
  let to = 0;
  for (let i = 0; i < whole; i += 4) {
    const word =
      (DIGIT_OF[text.charCodeAt(i) & 255] << 18) |
      (DIGIT_OF[text.charCodeAt(i + 1) & 255] << 12) |
      (DIGIT_OF[text.charCodeAt(i + 2) & 255] << 6) |
      DIGIT_OF[text.charCodeAt(i + 3) & 255];
    bytes[to++] = word >> 16;
    bytes[to++] = (word >> 8) & 255;
    bytes[to++] = word & 255;
  }
  if (end - whole > 1) {
    const digit = (k: number) => (k < end ? DIGIT_OF[text.charCodeAt(k) & 255] : 0);
    const word = (digit(whole) << 18) | (digit(whole + 1) << 12) | (digit(whole + 2) << 6);
    if (to < bytes.length) bytes[to++] = word >> 16;
    if (to < bytes.length) bytes[to++] = (word >> 8) & 255;
  }
  return bytes;
}

export interface Table {
  values: Numbers;
  rows: number;
  width: number;
}

const EMPTY: Table = { values: new Float64Array(0), rows: 0, width: 1 };

export function unpack(packed: Packed): Table {
  const buffer = decodeBase64(packed.data ?? '').buffer;
  const whole = (size: number) => Math.floor(buffer.byteLength / size);
  let values: Numbers;
  switch (packed.type) {
    case 'f8':
      values = new Float64Array(buffer, 0, whole(8));
      break;
    case 'f4':
      values = new Float32Array(buffer, 0, whole(4));
      break;
    case 'u4':
      values = new Uint32Array(buffer, 0, whole(4));
      break;
    default:
      values = new Uint8Array(buffer);
  }
  const width = Math.max(1, packed.shape?.[1] ?? 1);
  // A table that is shorter than its shape says is shown as far as it goes.
  const rows = Math.min(packed.shape?.[0] ?? Infinity, Math.floor(values.length / width));
  return { values, rows, width };
}

/** All arrays of a report by name. */
export class Arrays {
  private readonly decoded = new Map<string, Table>();

  constructor(private readonly packed: Record<string, Packed>) {}

  table(name: string | null | undefined): Table {
    if (name == null || !Object.hasOwn(this.packed, name)) return EMPTY;
    let table = this.decoded.get(name);
    if (!table) {
      table = unpack(this.packed[name]);
      this.decoded.set(name, table);
    }
    return table;
  }

  has(name: string | null | undefined): boolean {
    return name != null && Object.hasOwn(this.packed, name);
  }

  /** One column, of `rows` numbers; what does not exist is NaN. */
  column(name: string, column: number, rows?: number): Float64Array {
    const table = this.table(name);
    const out = new Float64Array(rows ?? table.rows).fill(NaN);
    if (column < 0 || column >= table.width) return out;
    const n = Math.min(out.length, table.rows);
    for (let i = 0; i < n; i++) out[i] = table.values[i * table.width + column];
    return out;
  }
}

/** Index of the last of the increasing `times` that is at most `t`; 0 if there is none. */
export function lastAtMost(times: ArrayLike<number>, t: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** Index of the value of the increasing `times` that is nearest to `t`. */
export function nearest(times: ArrayLike<number>, t: number): number {
  const i = lastAtMost(times, t);
  return i + 1 < times.length && times[i + 1] - t < t - times[i] ? i + 1 : i;
}
