// Groups of plots over time, with their legends.
import { type Curve, type Mark, TimeChart } from './chart';
import type { Clock } from './clock';
import type { Arrays } from './data';
import { h } from './dom';
import type { Group, Series } from './format';
import { grouped, number } from './numbers';
import { DASHES, seriesColour } from './palette';
import type { TimeRange } from './range';
import { onTheme, theme } from './theme';

/** With more series than this, a chooser replaces the plain legend. */
const MANY = 8;
const AT_START = 6;
/** Matches that the chooser lists at once. */
const MOST_MATCHES = 60;

export interface PlotContext {
  arrays: Arrays;
  clock: Clock;
  range: TimeRange;
  /** Called when the time changed. */
  onTime: (update: () => void) => void;
}

interface Entry {
  series: Series;
  colour: number;
  on: boolean;
  values: Float64Array | null;
}

/** The plots of one unit of a group: series of different units do not share an axis. */
class Subplot {
  readonly element: HTMLElement;
  readonly chart: TimeChart;
  private readonly entries: Entry[];
  private readonly legend = h('div', { class: 'legend' });
  private readonly figures = new Map<Entry, HTMLElement>();
  private hovered: number | null = null;
  private written = 0;

  constructor(
    series: Series[],
    readonly unit: string,
    log: boolean,
    private readonly times: Float64Array,
    private readonly context: PlotContext,
    marks: Mark[],
    height: number,
    label: string,
    firstColour: number,
  ) {
    const first = series.length > MANY ? 0 : firstColour;
    this.entries = series.map((s, i) => ({ series: s, colour: first + i, on: series.length <= MANY || i < AT_START, values: null }));
    this.chart = new TimeChart(times, this.curves(), context.clock, context.range, {
      label,
      log,
      height,
      marks,
      hover: (row) => {
        this.hovered = row;
        this.writeFigures();
      },
    });
    this.drawLegend();
    onTheme(() => this.drawLegend());
    context.onTime(() => {
      this.chart.place();
      // Nobody reads figures at sixty a second.
      const now = performance.now();
      if (this.hovered !== null || (context.clock.playing && now - this.written < 100)) return;
      this.written = now;
      this.writeFigures();
    });
    this.element = h('div', { class: 'subplot' }, this.legend, series.length > MANY && this.chooser(), this.chart.element);
  }

  private values(entry: Entry): Float64Array {
    entry.values ??= this.context.arrays.column(entry.series.array, entry.series.column, this.times.length);
    return entry.values;
  }

  private curves(): Curve[] {
    return this.entries
      .filter((e) => e.on)
      .map((e) => ({ name: e.series.name, unit: this.unit, colour: e.colour, values: this.values(e) }));
  }

  private toggle(entry: Entry): void {
    entry.on = !entry.on;
    if (entry.on && this.entries.length > MANY) {
      // The first colour that none of the others has.
      const taken = new Set(this.entries.filter((e) => e.on && e !== entry).map((e) => e.colour));
      entry.colour = 0;
      while (taken.has(entry.colour)) entry.colour++;
    }
    this.chart.setCurves(this.curves());
    this.drawLegend();
  }

  private drawLegend(): void {
    this.figures.clear();
    const listed = this.entries.length > MANY ? this.entries.filter((e) => e.on) : this.entries;
    this.legend.replaceChildren(
      ...listed.map((entry) => {
        const figure = h('span', { class: 'figure' });
        this.figures.set(entry, figure);
        const swatch = h('span', { class: 'swatch' });
        swatch.style.borderTopColor = seriesColour(theme(), entry.colour);
        const dashed = Math.floor(entry.colour / theme().series.length) % DASHES.length;
        swatch.style.borderTopStyle = dashed === 0 ? 'solid' : dashed === 2 ? 'dotted' : 'dashed';
        return h(
          'button',
          {
            type: 'button',
            class: 'series',
            'aria-pressed': String(entry.on),
            title: `${entry.on ? 'Hide' : 'Show'} ${entry.series.name}`,
            click: () => this.toggle(entry),
          },
          swatch,
          h('span', { class: 'series-name' }, entry.series.name),
          figure,
        );
      }),
    );
    this.writeFigures();
  }

  private writeFigures(): void {
    const row = this.hovered ?? this.chart?.row() ?? 0;
    for (const [entry, figure] of this.figures) {
      const value = entry.on ? this.values(entry)[row] : NaN;
      figure.textContent = !entry.on || Number.isNaN(value) || value === undefined ? '' : `${number(value)}${this.unit ? ` ${this.unit}` : ''}`;
    }
  }

  /** A search box for groups of very many series. */
  private chooser(): HTMLElement {
    const list = h('div', { class: 'choices' });
    const search = h('input', {
      type: 'search',
      placeholder: 'name',
      'aria-label': 'Search a series by name',
      input: () => fill(),
    });
    const fill = () => {
      const wanted = search.value.trim().toLowerCase();
      const matches = this.entries.filter((e) => e.series.name.toLowerCase().includes(wanted));
      list.replaceChildren(
        ...matches.slice(0, MOST_MATCHES).map((entry) => {
          const box = h('input', {
            type: 'checkbox',
            checked: entry.on,
            change: () => this.toggle(entry),
          });
          return h('label', { class: 'choice' }, box, entry.series.name);
        }),
        ...(matches.length > MOST_MATCHES ? [h('span', { class: 'muted' }, `and ${grouped(matches.length - MOST_MATCHES)} more; type to narrow`)] : []),
      );
    };
    const none = h(
      'button',
      {
        type: 'button',
        click: () => {
          for (const entry of this.entries) entry.on = false;
          this.chart.setCurves(this.curves());
          this.drawLegend();
          fill();
        },
      },
      'none',
    );
    return h(
      'details',
      { class: 'chooser', toggle: () => fill() },
      h('summary', {}, `choose of ${grouped(this.entries.length)} series`),
      h('div', { class: 'row' }, search, none),
      list,
    );
  }
}

export interface GroupPlot {
  element: HTMLElement;
  charts: TimeChart[];
}

/** All plots of a group, one for each unit. `marksOf` gives the marks of a series. */
export function groupPlot(
  group: Group,
  timeArray: string,
  context: PlotContext,
  marksOf: (series: Series) => Mark[] = () => [],
  heading = true,
): GroupPlot {
  const times = context.arrays.column(timeArray, 0);
  const series = (group.series ?? []).filter((s) => context.arrays.has(s.array));
  const byAxis = new Map<string, Series[]>();
  for (const s of series) {
    const log = s.log ?? (group.log === true && s.name !== 'order');
    const key = `${s.unit ?? ''}\n${log}`;
    const list = byAxis.get(key);
    if (list) list.push(s);
    else byAxis.set(key, [s]);
  }
  const charts: TimeChart[] = [];
  const parts: HTMLElement[] = [];
  let colour = 0;
  for (const [key, list] of byAxis) {
    const [unit, log] = key.split('\n');
    const small = group.id === 'step' && list.every((s) => s.name === 'order');
    const label = unit || (list.length === 1 ? list[0].name : 'no unit');
    const sub = new Subplot(list, unit, log === 'true', times, context, list.flatMap(marksOf), small ? 110 : 170, label, colour);
    colour += list.length;
    charts.push(sub.chart);
    parts.push(sub.element);
  }
  if (times.length === 0 || parts.length === 0) parts.splice(0, parts.length, h('p', { class: 'empty' }, 'No values.'));
  const element = h(
    'div',
    { class: 'panel group', id: `plot-${group.id}` },
    heading && h('div', { class: 'row head' }, h('h3', {}, group.title), group.note ? h('span', { class: 'muted' }, group.note) : null),
    !heading && group.note ? h('p', { class: 'muted' }, group.note) : null,
    ...parts,
  );
  return { element, charts };
}
