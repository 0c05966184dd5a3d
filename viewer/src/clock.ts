// The one time of the page: what the replay, the timeline and the plots show, and what moves it.
import { lastAtMost } from './data';

/** Speeds relative to real time. */
export const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const SHOW_SECONDS = 10;

/** Index of the speed at which a run of `duration` seconds takes about ten seconds. */
export function defaultSpeed(duration: number): number {
  if (!(duration > 0)) return SPEEDS.indexOf(1);
  const wanted = Math.log(duration / SHOW_SECONDS);
  let best = 0;
  for (let i = 1; i < SPEEDS.length; i++) {
    if (Math.abs(Math.log(SPEEDS[i]) - wanted) < Math.abs(Math.log(SPEEDS[best]) - wanted)) best = i;
  }
  return best;
}

export class Clock {
  time: number;
  playing = false;
  loop = false;
  speed: number;
  private readonly listeners: (() => void)[] = [];

  /** `frames`: the increasing times that single steps go to. */
  constructor(
    readonly start: number,
    readonly end: number,
    readonly frames: ArrayLike<number>,
  ) {
    this.time = start;
    this.speed = defaultSpeed(end - start);
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  private clamp(t: number): number {
    return Math.min(this.end, Math.max(this.start, t));
  }

  seek(t: number): void {
    if (!Number.isFinite(t)) return;
    this.time = this.clamp(t);
    this.changed();
  }

  play(): void {
    if (!(this.end > this.start)) return;
    if (this.time >= this.end) this.time = this.start;
    this.playing = true;
    this.changed();
  }

  pause(): void {
    this.playing = false;
    this.changed();
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  setLoop(loop: boolean): void {
    this.loop = loop;
    this.changed();
  }

  setSpeed(index: number): void {
    this.speed = Math.min(SPEEDS.length - 1, Math.max(0, index));
    this.changed();
  }

  /** Lets `seconds` of real time pass. */
  advance(seconds: number): void {
    if (!this.playing) return;
    const t = this.time + seconds * SPEEDS[this.speed];
    if (t < this.end) {
      this.time = t;
    } else if (this.loop) {
      this.time = this.start + ((t - this.start) % (this.end - this.start));
    } else {
      this.time = this.end;
      this.playing = false;
    }
    this.changed();
  }

  /** The last frame that is not later than now. */
  frame(): number {
    return lastAtMost(this.frames, this.time);
  }

  /** Moves by `count` frames; from between two frames, one step back is to the earlier of them. */
  step(count: number): void {
    if (this.frames.length === 0) return;
    const now = this.frame();
    const between = this.time > this.frames[now];
    const target = now + count + (count < 0 && between ? 1 : 0);
    this.playing = false;
    this.seek(this.frames[Math.min(this.frames.length - 1, Math.max(0, target))]);
  }
}
