// Diagrams of one quantity over another (phase portraits, errors over steps): lines through points in any order of x.
import uPlot from 'uplot';
import { h, onWidth } from './dom';
import { powers, ticks } from './numbers';
import { markPath, type Shape } from './palette';
import { onTheme, theme } from './theme';
import { axisStyle, limits, logAxis } from './chart';

export interface Track {
  name: string;
  colour: () => string;
  dash?: number[];
  width?: number;
  /** Marks at the points. */
  shape?: Shape;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  /** Helping lines do not count for the range of the axes. */
  helping?: boolean;
  text?: string;
}

export interface XYOptions {
  x: { label: string; log: boolean };
  y: { label: string; log: boolean };
  height: number;
  hover?: (text: string | null, x: number, y: number) => void;
}

type Span = { min: number; max: number };

export class XYChart {
  readonly element = h('div', { class: 'chart', tabindex: 0, role: 'img' });
  private plot: uPlot | null = null;
  private readonly dot = h('div', { class: 'dot' });
  private dotAt: [number, number] | null = null;
  private zoomed: { x: Span; y: Span } | null = null;
  private width = 0;

  constructor(
    private tracks: Track[],
    private readonly options: XYOptions,
  ) {
    this.element.setAttribute('aria-label', `Diagram: ${options.y.label} over ${options.x.label}`);
    this.element.style.height = `${options.height}px`;
    onWidth(this.element, (width) => {
      this.width = width;
      if (this.plot) this.plot.setSize({ width, height: options.height });
      else this.build();
    });
    onTheme(() => this.build());
  }

  setTracks(tracks: Track[], yLabel?: string): void {
    this.tracks = tracks;
    if (yLabel !== undefined) this.options.y.label = yLabel;
    this.zoomed = null;
    this.build();
  }

  setDot(x: number, y: number): void {
    this.dotAt = [x, y];
    this.placeDot();
  }

  /** What the axes show. */
  span(): { x: Span; y: Span } {
    const get = (key: string) => ({ min: this.plot?.scales[key].min ?? NaN, max: this.plot?.scales[key].max ?? NaN });
    return { x: get('x'), y: get('y') };
  }

  zoom(x: Span, y: Span): void {
    this.zoomed = { x, y };
    this.apply();
  }

  reset(): void {
    this.zoomed = null;
    this.apply();
  }

  /** Range of all points, or what was zoomed to. */
  private wanted(key: 'x' | 'y'): [number, number] {
    if (this.zoomed) return [this.zoomed[key].min, this.zoomed[key].max];
    const { log } = this.options[key];
    let [min, max] = [Infinity, -Infinity];
    for (const track of this.tracks) {
      if (track.helping) continue;
      const values = track[key];
      const other = track[key === 'x' ? 'y' : 'x'];
      for (let i = 0; i < values.length; i++) {
        const v = values[i];
        if (!Number.isFinite(v) || !Number.isFinite(other[i]) || (log && v <= 0)) continue;
        if (v < min) min = v;
        if (v > max) max = v;
      }
    }
    if (log && max > 0) {
      // Half a decade of room instead of whole decades: steps often span only one or two.
      return [min / 1.6, max * 1.6];
    }
    return limits(min, max, log);
  }

  private apply(): void {
    const u = this.plot;
    if (!u) return;
    for (const key of ['x', 'y'] as const) {
      const [min, max] = this.wanted(key);
      u.setScale(key, { min, max });
    }
  }

  private build(): void {
    if (this.width === 0) return;
    this.plot?.destroy();
    const { x, y, height } = this.options;
    const style = axisStyle();
    const axis = (log: boolean, label: string) => ({
      ...style,
      ...(log ? logAxis(8) : {}),
      label,
      labelGap: 0,
      values: (_: uPlot, splits: number[], __: number, ___: number, increment: number) => (log ? powers(splits) : ticks(splits, increment)),
    });
    const options: uPlot.Options = {
      mode: 2,
      width: this.width,
      height,
      padding: [8, 22, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, distr: x.log ? 3 : 1, range: () => this.wanted('x') },
        y: { distr: y.log ? 3 : 1, range: () => this.wanted('y') },
      },
      axes: [
        { ...axis(x.log, x.label), size: 26, gap: 3, labelSize: 18, space: x.log ? 30 : 46 },
        { ...axis(y.log, y.label), scale: 'y', size: 50, gap: 4, labelSize: 18, space: y.log ? 22 : 30 },
      ],
      series: [
        {},
        ...this.tracks.map((track) => ({
          label: track.name,
          stroke: track.colour(),
          fill: track.colour(),
          paths: (u: uPlot, i: number) => this.draw(u, this.tracks[i - 1]),
        })),
      ],
      cursor: {
        drag: { x: true, y: true, setScale: false, dist: 4, uni: 10 },
        points: { show: false },
        bind: { dblclick: () => () => (this.reset(), null) },
      },
      hooks: {
        setSelect: [
          (u) => {
            const { left, top, width, height } = u.select;
            if (width < 4 || height < 4) return;
            this.zoom(
              { min: u.posToVal(left, 'x'), max: u.posToVal(left + width, 'x') },
              { min: u.posToVal(top + height, 'y'), max: u.posToVal(top, 'y') },
            );
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
        draw: [() => this.placeDot()],
      },
    };
    const data = [null, ...this.tracks.map(({ x, y }) => [x, y])] as unknown as uPlot.AlignedData;
    this.plot = new uPlot(options, data, this.element);
    this.plot.over.append(this.dot);
    this.listen(this.plot);
    this.placeDot();
  }

  /** Paints a track itself: the order of points is that of the data, not of x. */
  private draw(u: uPlot, track: Track): null {
    const c = u.ctx;
    const scale = uPlot.pxRatio;
    const { left, top, width, height } = u.bbox;
    c.save();
    c.beginPath();
    c.rect(left, top, width, height);
    c.clip();
    c.strokeStyle = c.fillStyle = track.colour();
    c.lineWidth = (track.width ?? 1.3) * scale;
    c.setLineDash((track.dash ?? []).map((d) => d * scale));
    c.lineJoin = 'round';
    const { log: xLog } = this.options.x;
    const { log: yLog } = this.options.y;
    const marks = new Path2D();
    c.beginPath();
    let down = false;
    for (let i = 0; i < track.x.length; i++) {
      const [x, y] = [track.x[i], track.y[i]];
      if (!Number.isFinite(x) || !Number.isFinite(y) || (xLog && x <= 0) || (yLog && y <= 0)) {
        down = false;
        continue;
      }
      const [px, py] = [u.valToPos(x, 'x', true), u.valToPos(y, 'y', true)];
      if (down) c.lineTo(px, py);
      else c.moveTo(px, py);
      down = true;
      if (track.shape) markPath(marks, track.shape, px, py, 4 * scale);
    }
    c.stroke();
    c.setLineDash([]);
    c.stroke(marks);
    if (track.shape && track.shape !== 'circle' && track.shape !== 'cross') c.fill(marks);
    if (track.text && track.x.length > 0) this.write(u, track, scale);
    c.restore();
    return null;
  }

  /** The text of a helping line, at its first end inside. */
  private write(u: uPlot, track: Track, scale: number): void {
    const c = u.ctx;
    const { left, top, width, height } = u.bbox;
    const [x0, y0] = [u.valToPos(track.x[0], 'x', true), u.valToPos(track.y[0], 'y', true)];
    const [x1, y1] = [u.valToPos(track.x[track.x.length - 1], 'x', true), u.valToPos(track.y[track.y.length - 1], 'y', true)];
    // Where the line crosses the frame, a little inside.
    let part = 1;
    const inset = 12 * scale;
    const inside = (p: number) => {
      const [x, y] = [x0 + p * (x1 - x0), y0 + p * (y1 - y0)];
      return x > left + inset && x < left + width - 4 * inset && y > top + inset && y < top + height - inset;
    };
    while (part > 0 && !inside(part)) part -= 0.01;
    if (part <= 0) return;
    c.font = `${11 * scale}px system-ui, sans-serif`;
    c.textAlign = 'left';
    c.textBaseline = 'middle';
    const [x, y] = [x0 + part * (x1 - x0) + 4 * scale, y0 + part * (y1 - y0) + 6 * scale];
    c.lineWidth = 3 * scale;
    c.strokeStyle = theme().backgrounds.panel;
    c.strokeText(track.text!, x, y);
    c.fillStyle = track.colour();
    c.fillText(track.text!, x, y);
  }

  private listen(u: uPlot): void {
    u.over.addEventListener('mousedown', () => this.element.focus({ preventScroll: true }));
    u.over.addEventListener('mouseleave', () => this.options.hover?.(null, 0, 0));
    u.over.addEventListener('mousemove', (e) => this.point(u, e));
    u.over.addEventListener(
      'wheel',
      (e) => {
        if (!e.ctrlKey && !e.shiftKey && !e.altKey && document.activeElement !== this.element) return;
        e.preventDefault();
        const factor = Math.exp((e.deltaY || e.deltaX) * (e.deltaMode === 1 ? 0.05 : 0.0015));
        const box = u.over.getBoundingClientRect();
        const now = this.span();
        const around = (key: 'x' | 'y', at: number): Span => {
          const { log } = this.options[key];
          const [to, from] = log ? [Math.log, Math.exp] : [(v: number) => v, (v: number) => v];
          const [min, max, v] = [to(now[key].min), to(now[key].max), to(u.posToVal(at, key))];
          return { min: from(v - (v - min) * factor), max: from(v + (max - v) * factor) };
        };
        this.zoom(around('x', e.clientX - box.left), around('y', e.clientY - box.top));
      },
      { passive: false },
    );
  }

  /** Tells the marked point under the pointer. */
  private point(u: uPlot, e: MouseEvent): void {
    if (!this.options.hover) return;
    const box = u.over.getBoundingClientRect();
    const [px, py] = [e.clientX - box.left, e.clientY - box.top];
    for (const track of this.tracks) {
      if (!track.shape) continue;
      for (let i = 0; i < track.x.length; i++) {
        if (Math.hypot(u.valToPos(track.x[i], 'x') - px, u.valToPos(track.y[i], 'y') - py) < 8) {
          this.options.hover(`${track.name}: ${track.y[i].toPrecision(3)} at ${track.x[i].toPrecision(3)}`, e.clientX, e.clientY);
          return;
        }
      }
    }
    this.options.hover(null, 0, 0);
  }

  private placeDot(): void {
    const u = this.plot;
    if (!u) return;
    const [x, y] = this.dotAt ? [u.valToPos(this.dotAt[0], 'x'), u.valToPos(this.dotAt[1], 'y')] : [NaN, NaN];
    const [width, height] = [u.bbox.width / uPlot.pxRatio, u.bbox.height / uPlot.pxRatio];
    this.dot.hidden = !(x >= 0 && y >= 0 && x <= width && y <= height);
    if (!this.dot.hidden) this.dot.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
  }
}
