// The stretch of time that the timeline and all plots over time show.

export class TimeRange {
  min: number;
  max: number;
  private readonly listeners: (() => void)[] = [];

  constructor(
    readonly start: number,
    readonly end: number,
  ) {
    this.min = start;
    this.max = end;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  get whole(): boolean {
    return this.min === this.start && this.max === this.end;
  }

  set(min: number, max: number): void {
    if (!Number.isFinite(min) || !Number.isFinite(max)) return;
    // Below this the ticks of the axes would repeat themselves.
    const least = 1e-12 * Math.max(Math.abs(this.start), Math.abs(this.end), 1e-300);
    if (max - min < least) return;
    this.min = Math.max(this.start, min);
    this.max = Math.min(this.end, max);
    if (!(this.max > this.min)) this.reset();
    for (const listener of this.listeners) listener();
  }

  reset(): void {
    this.min = this.start;
    this.max = this.end;
    for (const listener of this.listeners) listener();
  }

  /** Makes the stretch `factor` times as long, with `t` kept in place. */
  zoom(t: number, factor: number): void {
    this.set(t - (t - this.min) * factor, t + (this.max - t) * factor);
  }

  /** Moves the stretch so that `t` is inside. */
  show(t: number): void {
    if (this.whole || (t >= this.min && t <= this.max)) return;
    const length = this.max - this.min;
    const min = Math.min(Math.max(this.start, t - length / 2), this.end - length);
    this.set(min, min + length);
  }
}
