// A plot over time: linked to the shared stretch of time, with a line at the time of the replay.
import uPlot from 'uplot';
import type { Clock } from './clock';
import { nearest } from './data';
import { h, onWidth } from './dom';
import { logTicks, powers, ticks } from './numbers';
import { seriesColour, seriesDash } from './palette';
import type { TimeRange } from './range';
import { onTheme, theme } from './theme';

export interface Curve {
  name: string;
  unit: string;
  /** Index of the colour. */
  colour: number;
  values: Float64Array;
}

export interface Mark {
  t: number;
  text: string;
}

export interface ChartOptions {
  label: string;
  log: boolean;
  height: number;
  marks?: Mark[];
  /** Row of the table of times under the pointer, null when it leaves. */
  hover?: (row: number | null) => void;
}

/** Points are shown once there are so few that a line alone would hide them. */
const FEW = 40;

/** uPlot takes null for a gap; a logarithmic axis has no place for numbers that are not positive. */
function gaps(values: Float64Array, log: boolean): ArrayLike<number | null> {
  let clean = true;
  for (let i = 0; i < values.length && clean; i++) clean = Number.isFinite(values[i]) && (!log || values[i] > 0);
  if (clean) return values;
  return Array.from(values, (v) => (Number.isFinite(v) && (!log || v > 0) ? v : null));
}

/** Limits of a vertical axis with some room; equal limits are moved apart. */
export function limits(min: number | null, max: number | null, log: boolean): [number, number] {
  if (min === null || max === null || !Number.isFinite(min) || !Number.isFinite(max)) return log ? [0.1, 10] : [-1, 1];
  if (log) {
    const low = 10 ** Math.floor(Math.log10(min) + 1e-9);
    const high = 10 ** Math.ceil(Math.log10(max) - 1e-9);
    return high > low ? [low, high] : [low / 10, high * 10];
  }
  if (max - min <= 1e-14 * Math.max(Math.abs(min), Math.abs(max))) {
    const room = Math.abs(max) > 0 ? 0.1 * Math.abs(max) : 1;
    return [min - room, max + room];
  }
  const room = 0.06 * (max - min);
  return [min - room, max + room];
}

/** What all diagrams share: fonts and colours of axes. */
export function axisStyle(): Pick<uPlot.Axis, 'stroke' | 'grid' | 'ticks' | 'font' | 'labelFont'> {
  const now = theme();
  return {
    stroke: now.muted,
    grid: { stroke: now.faint.grid, width: 1 },
    ticks: { stroke: now.faint.border, width: 1, size: 4 },
    font: '11px system-ui, sans-serif',
    labelFont: '12px system-ui, sans-serif',
  };
}

/** Lines and labels at powers of ten; uPlot's own filter would drop some of them. */
export function logAxis(most: number): Pick<uPlot.Axis, 'splits' | 'filter'> {
  return { splits: (_, __, min, max) => logTicks(min, max, most), filter: (_, splits) => splits };
}

export class TimeChart {
  readonly element = h('div', { class: 'chart', tabindex: 0, role: 'img' });
  private plot: uPlot | null = null;
  private readonly cursor = h('div', { class: 'cursor' });
  private readonly markElements: { mark: Mark; line: HTMLElement; label: HTMLElement }[];
  private width = 0;

  constructor(
    private readonly times: Float64Array,
    private curves: Curve[],
    private readonly clock: Clock,
    private readonly range: TimeRange,
    private readonly options: ChartOptions,
  ) {
    this.element.setAttribute('aria-label', `Plot over time: ${curves.map((c) => c.name).join(', ')}`);
    this.element.style.height = `${options.height}px`;
    this.markElements = (options.marks ?? []).map((mark) => ({
      mark,
      line: h('div', { class: 'worst-line' }),
      label: h('button', { type: 'button', class: 'worst-label', click: (e: MouseEvent) => this.seekMark(e, mark) }, mark.text),
    }));
    onWidth(this.element, (width) => {
      this.width = width;
      if (this.plot) this.plot.setSize({ width, height: options.height });
      else this.build();
    });
    range.onChange(() => this.plot?.setScale('x', { min: this.range.min, max: this.range.max }));
    onTheme(() => this.build());
  }

  setCurves(curves: Curve[]): void {
    this.curves = curves;
    this.build();
  }

  /** Range of the vertical axis shown. */
  vertical(): { min: number; max: number } {
    const { min, max } = this.plot?.scales.y ?? {};
    return { min: min ?? NaN, max: max ?? NaN };
  }

  private seekMark(e: MouseEvent, mark: Mark): void {
    e.stopPropagation();
    this.clock.pause();
    this.clock.seek(mark.t);
  }

  private build(): void {
    if (this.width === 0) return;
    this.plot?.destroy();
    const { log, label, height } = this.options;
    const now = theme();
    const style = axisStyle();
    const few = this.times.length <= FEW;
    const data = [this.times, ...this.curves.map((curve) => gaps(curve.values, log))] as unknown as uPlot.AlignedData;
    const options: uPlot.Options = {
      width: this.width,
      height,
      padding: [8, 22, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, range: () => [this.range.min, this.range.max > this.range.min ? this.range.max : this.range.min + 1] },
        y: { distr: log ? 3 : 1, range: (_, min, max) => limits(min, max, log) },
      },
      axes: [
        { ...style, size: 26, gap: 3, space: 70, values: (_, splits, __, ___, increment) => ticks(splits, increment, 's') },
        {
          ...style,
          ...(log ? logAxis(5) : {}),
          size: 66,
          gap: 4,
          label,
          labelSize: 18,
          labelGap: 0,
          space: log ? 22 : 30,
          values: (_, splits, __, ___, increment) => (log ? powers(splits) : ticks(splits, increment)),
        },
      ],
      series: [
        {},
        ...this.curves.map((curve) => ({
          label: curve.name,
          stroke: seriesColour(now, curve.colour),
          dash: seriesDash(now, curve.colour),
          width: 1.4,
          points: few ? { show: true, size: 5 } : { size: 4 },
        })),
      ],
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false, dist: 4 },
        points: { size: 6 },
        bind: { dblclick: () => () => (this.range.reset(), null) },
        sync: {
          key: 'time',
          setSeries: false,
          // Only the line under the pointer is shared: zooms go through the range.
          filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave', sub: (type) => type === 'mousemove' || type === 'mouseleave' },
        },
      },
      hooks: {
        setSelect: [
          (u) => {
            const { left, width } = u.select;
            if (width < 4) return;
            this.range.set(u.posToVal(left, 'x'), u.posToVal(left + width, 'x'));
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
        setCursor: [(u) => this.options.hover?.(u.cursor.left !== undefined && u.cursor.left >= 0 ? (u.cursor.idx ?? null) : null)],
        draw: [() => this.place()],
      },
    };
    this.plot = new uPlot(options, data, this.element);
    this.decorate(this.plot);
    this.place();
  }

  private decorate(u: uPlot): void {
    u.over.append(this.cursor);
    for (const { line, label } of this.markElements) u.over.append(line, label);
    let pressed = 0;
    u.over.addEventListener('mousedown', (e) => {
      pressed = e.clientX;
      this.element.focus({ preventScroll: true });
    });
    u.over.addEventListener('click', (e) => {
      if (Math.abs(e.clientX - pressed) > 3 || e.target !== u.over) return;
      this.clock.pause();
      this.clock.seek(u.posToVal(e.clientX - u.over.getBoundingClientRect().left, 'x'));
    });
    u.over.addEventListener(
      'wheel',
      (e) => {
        // The wheel scrolls the page until the plot was clicked or a key says otherwise.
        if (!e.ctrlKey && !e.shiftKey && !e.altKey && document.activeElement !== this.element) return;
        e.preventDefault();
        const t = u.posToVal(e.clientX - u.over.getBoundingClientRect().left, 'x');
        this.range.zoom(t, Math.exp((e.deltaY || e.deltaX) * (e.deltaMode === 1 ? 0.05 : 0.0015)));
      },
      { passive: false },
    );
  }

  /** Moves the line of the time and the marks; cheap enough for every frame. */
  place(): void {
    const u = this.plot;
    if (!u) return;
    // Not from the element: reading its size would make the browser lay out the page for every plot.
    const width = u.bbox.width / uPlot.pxRatio;
    const put = (element: HTMLElement, t: number) => {
      const x = u.valToPos(t, 'x');
      element.hidden = !(x >= -1 && x <= width + 1);
      return x;
    };
    this.cursor.style.transform = `translateX(${put(this.cursor, this.clock.time).toFixed(1)}px)`;
    this.markElements.forEach(({ mark, line, label }, i) => {
      const x = put(line, mark.t);
      line.style.transform = `translateX(${x.toFixed(1)}px)`;
      label.hidden = line.hidden;
      label.style.top = `${2 + 22 * i}px`;
      const left = x > width / 2;
      label.style.left = left ? 'auto' : `${x + 4}px`;
      label.style.right = left ? `${width - x + 4}px` : 'auto';
    });
  }

  /** The row of the time of the replay. */
  row(): number {
    return nearest(this.times, this.clock.time);
  }
}
