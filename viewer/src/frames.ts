// Poses between frames: linear for display, and exactly the frame's numbers at its time.
import { type Arrays, lastAtMost, type Table } from './data';
import type { Item, Replay } from './format';

/** Numbers of a pose by kind; the lines have as many as they have points. */
const COUNTS: Record<string, number> = {
  point: 2,
  spring: 4,
  circle: 3,
  ring: 3,
  box: 3,
  wall: 3,
  segment: 3,
  point3: 3,
  sphere: 7,
  box3: 7,
  disc3: 7,
  floor: 6,
};
const QUATERNION_AT: Record<string, number> = { sphere: 3, box3: 3, disc3: 3 };

export function poseCount(item: Item): number {
  if (item.kind === 'line') return 2 * (item.points ?? 0);
  if (item.kind === 'line3') return 3 * (item.points ?? 0);
  return COUNTS[item.kind] ?? 0;
}

/** An item with its place in the list of numbers that is drawn. */
export interface Placed {
  item: Item;
  offset: number;
  count: number;
}

export class Frames {
  readonly times: ArrayLike<number>;
  readonly placed: Placed[] = [];
  /** The poses as they are drawn, one after the other. */
  readonly drawn: Float64Array;
  private readonly poses: Table;

  constructor(replay: Replay, arrays: Arrays) {
    this.times = arrays.table(replay.time).values.subarray(0, arrays.table(replay.time).rows);
    this.poses = arrays.table(replay.poses);
    let offset = 0;
    for (const item of replay.items ?? []) {
      const count = poseCount(item);
      if (count === 0) continue;
      this.placed.push({ item, offset, count });
      offset += count;
    }
    this.drawn = new Float64Array(offset).fill(NaN);
    for (const { item, offset, count } of this.placed) {
      if (item.fixed) for (let k = 0; k < count; k++) this.drawn[offset + k] = item.fixed[k] ?? 0;
    }
  }

  /** The frame to which `t` is nearest: its contacts are shown. */
  nearest(t: number): number {
    const i = lastAtMost(this.times, t);
    return i + 1 < this.times.length && this.times[i + 1] - t < t - this.times[i] ? i + 1 : i;
  }

  /** Writes the poses at time `t` into `drawn`. */
  moveTo(t: number): void {
    const { values, width, rows } = this.poses;
    const last = Math.min(this.times.length, rows) - 1;
    if (last < 0) return;
    const i = Math.min(last, lastAtMost(this.times, t));
    const j = Math.min(last, i + 1);
    const part = j > i ? Math.min(1, Math.max(0, (t - this.times[i]) / (this.times[j] - this.times[i]))) : 0;
    const [a, b] = [i * width, j * width];
    for (const { item, offset, count } of this.placed) {
      const first = item.first;
      if (item.fixed || first === undefined) continue;
      if (part === 0 || part === 1) {
        const from = (part === 0 ? a : b) + first;
        for (let k = 0; k < count; k++) this.drawn[offset + k] = values[from + k];
        continue;
      }
      const at = QUATERNION_AT[item.kind] ?? count;
      for (let k = 0; k < at; k++) {
        const v = values[a + first + k];
        this.drawn[offset + k] = v + part * (values[b + first + k] - v);
      }
      if (at < count) this.turn(offset + at, a + first + at, b + first + at, part);
    }
  }

  /** Normalised linear interpolation on the shorter way (q and -q are the same attitude). */
  private turn(to: number, a: number, b: number, part: number): void {
    const v = this.poses.values;
    let dot = 0;
    for (let k = 0; k < 4; k++) dot += v[a + k] * v[b + k];
    const sign = dot < 0 ? -1 : 1;
    let norm = 0;
    for (let k = 0; k < 4; k++) {
      const q = (1 - part) * v[a + k] + part * sign * v[b + k];
      this.drawn[to + k] = q;
      norm += q * q;
    }
    norm = Math.sqrt(norm) || 1;
    for (let k = 0; k < 4; k++) this.drawn[to + k] /= norm;
  }

  /** What the camera must show: the report's box, or if that has no extent, what is drawn now. */
  box(replay: Replay): { min: number[]; max: number[] } {
    const given = replay.box;
    if (given && given.min.some((v, k) => given.max[k] > v)) return given;
    const { dimension } = replay;
    const min = new Array<number>(dimension).fill(Infinity);
    const max = new Array<number>(dimension).fill(-Infinity);
    for (const { item, offset } of this.placed) {
      if (item.kind === 'wall' || item.kind === 'floor') continue;
      const r = item.radius ?? Math.max(0, ...(item.size ?? [0])) / 2;
      for (let k = 0; k < dimension; k++) {
        const v = this.drawn[offset + k];
        if (!Number.isFinite(v)) continue;
        min[k] = Math.min(min[k], v - r);
        max[k] = Math.max(max[k], v + r);
      }
    }
    for (let k = 0; k < dimension; k++) {
      if (!(max[k] > min[k])) {
        const middle = Number.isFinite(min[k]) ? min[k] : 0;
        [min[k], max[k]] = [middle - 1, middle + 1];
      }
    }
    return { min, max };
  }
}
