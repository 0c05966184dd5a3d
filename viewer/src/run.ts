// The page of a run: joins the clock, the replay, the timeline and the plots.
import { certificatePlot } from './certificates';
import type { TimeChart } from './chart';
import { Clock } from './clock';
import { Arrays, lastAtMost } from './data';
import { h, section } from './dom';
import { eventList } from './eventlist';
import type { Run } from './format';
import type { Key } from './keys';
import { ledgerSection } from './ledger';
import { phasePlots } from './phase';
import { type GroupPlot, groupPlot, type PlotContext } from './plots';
import { TimeRange } from './range';
import { type ReplayPanel, replayPanel } from './replay';
import { keyFigures, statusText, summary } from './summary';
import { timeline } from './timeline';
import { transport } from './transport';

export interface PlotHandle {
  readonly min: number;
  readonly max: number;
  readonly vertical: { min: number; max: number }[];
  zoom(min: number, max: number): void;
  reset(): void;
}

export interface RunPage {
  head: HTMLElement[];
  body: HTMLElement[];
  keys: Key[];
  api: Record<string, unknown>;
  /** Lets real time pass and draws what changed. */
  tick(seconds: number): void;
}

export function runPage(run: Run): RunPage {
  const arrays = new Arrays(run.arrays ?? {});
  const events = (run.events ?? []).filter((e) => Number.isFinite(e?.t)).sort((a, b) => a.t - b.t);
  const replay: ReplayPanel | null = run.replay ? replayPanel(run.replay, arrays) : null;

  const plotTimes = run.plots ? arrays.column(run.plots.time, 0) : new Float64Array(0);
  const frameTimes: ArrayLike<number> = replay && replay.frames.times.length > 0 ? replay.frames.times : plotTimes;
  const start = run.time?.start ?? frameTimes[0] ?? 0;
  const end = Math.max(start, run.time?.end ?? frameTimes[frameTimes.length - 1] ?? start);
  const clock = new Clock(start, end, frameTimes);
  const range = new TimeRange(start, end > start ? end : start + 1);

  // What must follow the time. Drawing waits for the next frame of the screen, or for somebody who asks what is drawn.
  let dirty = true;
  let drawnFrame = 0;
  const followers: (() => void)[] = [];
  clock.onChange(() => (dirty = true));
  const flush = () => {
    if (!dirty) return;
    dirty = false;
    const frame = replay ? replay.frames.nearest(clock.time) : 0;
    replay?.stage?.draw(clock.time, clock.playing && frame > drawnFrame ? drawnFrame + 1 : null);
    drawnFrame = frame;
    for (const follow of followers) follow();
  };
  const context: PlotContext = { arrays, clock, range, onTime: (update) => followers.push(update) };

  let selected = -1;
  const select = (index: number) => {
    if (!events[index]) return;
    selected = index;
    clock.pause();
    clock.seek(events[index].t);
    range.show(events[index].t);
    list?.reveal(index);
  };
  const eventTimes = Float64Array.from(events, (e) => e.t);
  /** Several events may share a time: from a selected one, the next in the list. */
  const stepEvent = (direction: 1 | -1) => {
    if (events.length === 0) return;
    if (selected >= 0 && events[selected].t === clock.time) {
      select(Math.min(events.length - 1, Math.max(0, selected + direction)));
      return;
    }
    const before = eventTimes[0] <= clock.time ? lastAtMost(eventTimes, clock.time) : -1;
    if (direction > 0) select(before + 1);
    else select(before >= 0 && events[before].t === clock.time ? before - 1 : before);
  };

  const controls = transport(clock, { next: () => stepEvent(1), previous: () => stepEvent(-1), count: events.length });
  followers.push(controls.update);
  const line = events.length > 0 ? timeline(events, clock, range, select) : null;
  const list = events.length > 0 ? eventList(events, run.events_unlisted ?? 0, clock, select) : null;
  if (line) followers.push(line.update);
  if (list) followers.push(list.update);

  const charts: Record<string, PlotHandle> = {};
  const register = (id: string, group: GroupPlot) => {
    charts[id] = handle(range, group.charts);
  };

  // Energy and certificates have sections of their own.
  const apart = new Set(['energy', 'certificate']);
  const groups = (run.plots?.groups ?? []).filter((group) => !apart.has(group.id));
  const groupPanels = groups.map((group) => {
    const plot = groupPlot(group, run.plots!.time, context);
    register(group.id, plot);
    return plot.element;
  });
  const energy = ledgerSection(run, context);
  for (const [id, plot] of Object.entries(energy.plots)) register(id, plot);
  const certificate = certificatePlot(run, context);
  if (certificate) register('certificate', certificate);
  const phases = run.plots?.phase ?? [];

  const resetPlots = () => range.reset();
  const resetButton = h('button', { type: 'button', class: 'reset', title: 'Show the whole time in all plots (r)', click: resetPlots }, 'whole time');
  const showReset = () => (resetButton.hidden = range.whole);
  range.onChange(showReset);
  showReset();

  const notes = run.notes ?? [];
  const sections = [
    groupPanels.length > 0 &&
      section('plots', 'Plots over time', h('p', { class: 'muted small hint' }, 'Drag: zoom. Double click: whole time. Click: go there. Click, then wheel: zoom.'), ...groupPanels),
    phases.length > 0 && section('phase', 'Phase portraits', phasePlots(phases, run.plots!.time, context)),
    energy.elements.length > 0 && section('energy', 'Energy ledger', ...energy.elements),
    certificate && section('certificates', 'Certificates', certificate.element),
    section('summary', 'Summary', ...summary(run)),
  ].filter((s): s is HTMLElement => s instanceof HTMLElement);

  const nav = h(
    'nav',
    { class: 'sections', 'aria-label': 'Sections' },
    ...sections.map((s) => h('a', { href: `#${s.id}` }, s.querySelector('h2')!.textContent)),
    resetButton,
  );

  const { kind, text, reason } = statusText(run);
  const warnings = run.warnings ?? [];
  const head = [
    h('span', { class: `chip ${kind}` }, text),
    keyFigures(run),
    reason !== null && kind !== 'good' ? h('p', { class: `banner ${kind}`, role: 'alert' }, h('strong', {}, `${text}: `), reason) : null,
    warnings.length > 0
      ? h(
          'details',
          { class: 'banner warn' },
          h('summary', {}, warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`, h('span', { class: 'first-warning' }, `: ${warnings[0]}`)),
          h('ul', { class: 'plain' }, ...warnings.map((w) => h('li', {}, w))),
        )
      : null,
  ].filter((e): e is HTMLElement => e !== null);

  // Once the head has scrolled away the instrument takes its room.
  const instrument = h(
    'div',
    { class: 'instrument' },
    replay ? replay.element : h('div', { class: 'panel empty-replay' }, h('p', { class: 'empty' }, 'This report has no replay.')),
    h(
      'div',
      { class: 'panel controls' },
      controls.element,
      notes.length > 0 && h('p', { class: 'muted small' }, notes.join(' ')),
    ),
    run.events &&
      h(
        'div',
        { class: 'panel events', id: 'events' },
        line ? line.element : h('div', { class: 'row head' }, h('h2', {}, 'Events')),
        list ? list.element : h('p', { class: 'empty' }, 'No events.'),
      ),
  );
  new ResizeObserver(() => {
    const top = instrument.parentElement!.offsetTop;
    instrument.style.setProperty('--head', `${top}px`);
  }).observe(instrument.ownerDocument.body);
  document.addEventListener('scroll', () => {
    const head = instrument.parentElement?.offsetTop ?? 0;
    instrument.classList.toggle('alone', window.scrollY >= head - 12);
  });
  const body = [h('div', { class: 'columns' }, instrument, h('div', { class: 'results' }, nav, ...sections))];

  const still = (t: number) => () => {
    clock.pause();
    clock.seek(t);
  };
  const keys: Key[] = [
    { keys: [' '], shown: 'space', does: 'play, pause', run: () => clock.toggle() },
    { keys: ['ArrowLeft'], shown: '←', does: 'one frame back', run: () => clock.step(-1) },
    { keys: ['ArrowRight'], shown: '→', does: 'one frame forward', run: () => clock.step(1) },
    { keys: ['Shift+ArrowLeft'], shown: 'shift ←', does: 'ten frames back', run: () => clock.step(-10) },
    { keys: ['Shift+ArrowRight'], shown: 'shift →', does: 'ten frames forward', run: () => clock.step(10) },
    { keys: ['Home'], shown: 'home', does: 'to the start', run: still(start) },
    { keys: ['End'], shown: 'end', does: 'to the end', run: still(end) },
    { keys: ['ArrowUp'], shown: '↑', does: 'faster', run: () => clock.setSpeed(clock.speed + 1) },
    { keys: ['ArrowDown'], shown: '↓', does: 'slower', run: () => clock.setSpeed(clock.speed - 1) },
    { keys: ['n'], shown: 'n', does: 'next event', run: () => stepEvent(1) },
    { keys: ['p'], shown: 'p', does: 'previous event', run: () => stepEvent(-1) },
    { keys: ['+', '='], shown: '+', does: 'zoom the replay in', run: () => replay?.stage?.zoom(1.25) },
    { keys: ['-', '_'], shown: '−', does: 'zoom the replay out', run: () => replay?.stage?.zoom(0.8) },
    { keys: ['0'], shown: '0', does: 'replay: show everything', run: () => replay?.stage?.resetView() },
    { keys: ['r'], shown: 'r', does: 'plots: show the whole time', run: resetPlots },
    { keys: ['l'], shown: 'l', does: 'loop on, off', run: () => clock.setLoop(!clock.loop) },
    { keys: ['a'], shown: 'a', does: 'percussion arrows on, off', run: () => replay?.toggleArrows() },
  ];

  const api = {
    seek: (t: number) => {
      clock.seek(t);
      flush();
    },
    play: () => clock.play(),
    pause: () => clock.pause(),
    time: () => clock.time,
    playing: () => clock.playing,
    frame: () => clock.frame(),
    frames: () => frameTimes.length,
    items: () => {
      flush();
      return replay?.stage?.items() ?? [];
    },
    contacts: () => {
      flush();
      return replay?.stage?.contacts() ?? [];
    },
    view: () => replay?.stage?.view() ?? [],
    select: (index: number) => {
      select(index);
      flush();
    },
    plots: charts,
  };
  const tick = (seconds: number) => {
    clock.advance(seconds);
    flush();
  };
  return { head, body, keys, api, tick };
}

function handle(range: TimeRange, charts: TimeChart[]): PlotHandle {
  return {
    get min() {
      return range.min;
    },
    get max() {
      return range.max;
    },
    get vertical() {
      return charts.map((chart) => chart.vertical());
    },
    zoom: (min, max) => range.set(min, max),
    reset: () => range.reset(),
  };
}
