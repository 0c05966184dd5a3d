// Events over time in lanes: single marks, or where there are too many for the width, bars of how many fall into each stretch.
import type { Clock } from './clock';
import { lastAtMost } from './data';
import { fitCanvas, h } from './dom';
import type { Event } from './format';
import { ticks, timeText } from './numbers';
import { eventMark, EVENT_MARKS, filled, markPath, seriesColour } from './palette';
import type { TimeRange } from './range';
import { onTheme, theme } from './theme';

const LANE = 20;
const AXIS = 20;
const MOST_LANES = 12;
/** Width of a stretch in pixels. */
const BIN = 3;

interface Lane {
  name: string;
  /** Indices of events, in order of time. */
  events: number[];
  times: Float64Array;
}

function lanesBy(events: Event[], key: (event: Event) => string, order: string[]): Lane[] {
  const found = new Map<string, number[]>(order.map((name) => [name, []]));
  events.forEach((event, i) => {
    const name = key(event);
    const list = found.get(name);
    if (list) list.push(i);
    else found.set(name, [i]);
  });
  let lanes = [...found].filter(([, list]) => list.length > 0);
  if (lanes.length > MOST_LANES) {
    // The busiest keep a lane of their own, in their order; the others share one.
    const busiest = new Set([...lanes].sort((a, b) => b[1].length - a[1].length).slice(0, MOST_LANES - 1));
    const others = lanes.filter((lane) => !busiest.has(lane));
    const rest = others.flatMap(([, list]) => list).sort((a, b) => a - b);
    lanes = [...lanes.filter((lane) => busiest.has(lane)), [`${others.length} others`, rest]];
  }
  return lanes.map(([name, list]) => ({ name, events: list, times: Float64Array.from(list, (i) => events[i].t) }));
}

export function eventText(event: Event, duration: number): string {
  return `${event.kind}${event.contact ? `, ${event.contact}` : ''}, t = ${timeText(event.t, duration)} s${
    event.detail ? ` (${event.detail})` : ''
  }`;
}

export interface Timeline {
  element: HTMLElement;
  update: () => void;
}

export function timeline(events: Event[], clock: Clock, range: TimeRange, select: (index: number) => void): Timeline {
  const lanesOf = {
    kind: lanesBy(events, (e) => e.kind, Object.keys(EVENT_MARKS)),
    contact: lanesBy(events, (e) => e.contact ?? 'none', []),
  };
  let by: keyof typeof lanesOf = 'kind';
  const canvas = h('canvas', { class: 'timeline', role: 'img', 'aria-label': `Timeline of ${events.length} events; the list below has them as text` });
  const c = canvas.getContext('2d')!;
  const cursor = h('div', { class: 'cursor' });
  const tip = h('div', { class: 'tip', role: 'status' });
  tip.hidden = true;
  const holder = h('div', { class: 'timeline-holder' }, canvas, cursor, tip);
  const duration = clock.end - clock.start;
  let width = 0;
  let gutter = 60;
  let pixels = 1;

  const x = (t: number) => gutter + ((t - range.min) / (range.max - range.min || 1)) * (width - gutter - 10);
  const timeAt = (px: number) => range.min + ((px - gutter) / (width - gutter - 10)) * (range.max - range.min);

  const draw = () => {
    if (width === 0) return;
    const lanes = lanesOf[by];
    const now = theme();
    c.setTransform(pixels, 0, 0, pixels, 0, 0);
    c.clearRect(0, 0, width, canvas.clientHeight);
    c.font = '12px system-ui, sans-serif';
    c.textBaseline = 'middle';
    gutter = Math.min(140, 16 + Math.max(36, ...lanes.map((lane) => c.measureText(lane.name).width)));
    lanes.forEach((lane, row) => {
      const y = row * LANE + LANE / 2;
      c.strokeStyle = now.faint.grid;
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(gutter, Math.round(y) + 0.5);
      c.lineTo(width - 10, Math.round(y) + 0.5);
      c.stroke();
      c.fillStyle = now.text;
      c.textAlign = 'left';
      c.fillText(shortened(lane.name), 0, y);
      paintLane(lane, y);
    });
    paintAxis(lanes.length * LANE);
    update();
  };

  /** A name that does not fit into the gutter ends with dots. */
  const shortened = (name: string) => {
    if (c.measureText(name).width <= gutter - 10) return name;
    let length = name.length;
    while (length > 1 && c.measureText(`${name.slice(0, length)}…`).width > gutter - 10) length--;
    return `${name.slice(0, length)}…`;
  };

  const paintLane = (lane: Lane, y: number) => {
    const first = lastAtMost(lane.times, range.min);
    const visible = lastAtMost(lane.times, range.max) - first + 1;
    if (visible > (width - gutter) / 5) {
      paintDensity(lane, y, first);
      return;
    }
    const taken = new Map<string, number>();
    const paths = new Map<string, Path2D>();
    for (let i = first; i < lane.times.length && lane.times[i] <= range.max; i++) {
      if (lane.times[i] < range.min) continue;
      const { kind } = events[lane.events[i]];
      const px = Math.round(x(lane.times[i]) * 2) / 2;
      if (taken.get(kind) === px) continue;
      taken.set(kind, px);
      let path = paths.get(kind);
      if (!path) paths.set(kind, (path = new Path2D()));
      markPath(path, eventMark(kind).shape, px, y, 4.5);
    }
    for (const [kind, path] of paths) {
      const { shape, colour } = eventMark(kind);
      c.strokeStyle = c.fillStyle = seriesColour(theme(), colour);
      c.lineWidth = 1.3;
      if (filled(shape)) {
        c.globalAlpha = 0.75;
        c.fill(path);
        c.globalAlpha = 1;
      }
      c.stroke(path);
    }
  };

  const paintDensity = (lane: Lane, y: number, first: number) => {
    const counts = new Float64Array(Math.ceil((width - gutter - 10) / BIN) + 1);
    for (let i = first; i < lane.times.length && lane.times[i] <= range.max; i++) {
      if (lane.times[i] >= range.min) counts[Math.floor((x(lane.times[i]) - gutter) / BIN)]++;
    }
    const most = counts.reduce((a, b) => Math.max(a, b), 1);
    c.fillStyle = by === 'kind' ? seriesColour(theme(), eventMark(lane.name).colour) : theme().muted;
    counts.forEach((count, i) => {
      // The root keeps rare events visible beside frequent ones.
      const half = count > 0 ? Math.max(1.5, (LANE / 2 - 2) * Math.sqrt(count / most)) : 0;
      if (half > 0) c.fillRect(gutter + i * BIN, y - half, BIN - 0.5, 2 * half);
    });
  };

  const paintAxis = (y: number) => {
    const now = theme();
    const space = (range.max - range.min) / Math.max(2, Math.floor((width - gutter) / 90));
    const power = 10 ** Math.floor(Math.log10(space || 1));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= space) ?? space;
    const places: number[] = [];
    for (let k = Math.ceil(range.min / step - 1e-9); k * step <= range.max + 1e-9 * step && places.length < 50; k++) places.push(k * step);
    c.strokeStyle = now.muted;
    c.beginPath();
    c.moveTo(gutter, y + 0.5);
    c.lineTo(width - 10, y + 0.5);
    for (const t of places) {
      c.moveTo(Math.round(x(t)) + 0.5, y);
      c.lineTo(Math.round(x(t)) + 0.5, y + 4);
    }
    c.lineWidth = 1;
    c.stroke();
    c.fillStyle = now.muted;
    c.font = '11px system-ui, sans-serif';
    ticks(places, step, 's').forEach((text, i) => {
      const half = c.measureText(text).width / 2;
      c.textAlign = 'center';
      c.fillText(text, Math.min(width - half - 1, Math.max(gutter - 6 + half, x(places[i]))), y + 12);
    });
  };

  /** The event nearest to a place, if one is near, and how many share the place. */
  const eventAt = (px: number, py: number): { index: number; others: number } | null => {
    const lane = lanesOf[by][Math.floor(py / LANE)];
    if (!lane) return null;
    let best = -1;
    let others = -1;
    const from = lastAtMost(lane.times, timeAt(px - 8));
    for (let i = from; i < lane.times.length; i++) {
      const away = Math.abs(x(lane.times[i]) - px);
      if (x(lane.times[i]) > px + 8) break;
      if (away > 8) continue;
      others++;
      if (best < 0 || away < Math.abs(x(lane.times[best]) - px)) best = i;
    }
    return best < 0 ? null : { index: lane.events[best], others };
  };

  const update = () => {
    const px = x(clock.time);
    cursor.hidden = px < gutter - 1 || px > width;
    cursor.style.transform = `translateX(${px.toFixed(1)}px)`;
    cursor.style.height = `${lanesOf[by].length * LANE}px`;
  };

  const layout = () => {
    canvas.style.height = `${Math.max(1, lanesOf[by].length) * LANE + AXIS}px`;
  };
  canvas.addEventListener('pointermove', (e) => {
    const found = eventAt(e.offsetX, e.offsetY);
    tip.hidden = found === null;
    canvas.style.cursor = found ? 'pointer' : 'crosshair';
    if (!found) return;
    tip.textContent = eventText(events[found.index], duration) + (found.others > 0 ? ` and ${found.others} more here` : '');
    const left = Math.max(0, Math.min(e.offsetX + 12, width - tip.offsetWidth - 2));
    tip.style.transform = `translate(${left}px, ${e.offsetY + 16}px)`;
  });
  canvas.addEventListener('pointerleave', () => (tip.hidden = true));
  canvas.addEventListener('click', (e) => {
    const found = eventAt(e.offsetX, e.offsetY);
    if (found) select(found.index);
    else if (e.offsetX >= gutter - 4) {
      clock.pause();
      clock.seek(timeAt(e.offsetX));
    }
  });
  canvas.addEventListener('dblclick', () => range.reset());
  canvas.addEventListener(
    'wheel',
    (e) => {
      if (!e.ctrlKey && !e.shiftKey && !e.altKey) return;
      e.preventDefault();
      range.zoom(timeAt(e.offsetX), Math.exp((e.deltaY || e.deltaX) * 0.0015));
    },
    { passive: false },
  );

  const choice = h(
    'div',
    { class: 'segmented', role: 'group', 'aria-label': 'Lanes of the timeline' },
    ...(['kind', 'contact'] as const).map((name) =>
      h(
        'button',
        {
          type: 'button',
          'aria-pressed': String(name === by),
          click: (e: MouseEvent) => {
            by = name;
            for (const b of choice.children) b.setAttribute('aria-pressed', String(b === e.currentTarget));
            layout();
            draw();
          },
        },
        `by ${name}`,
      ),
    ),
  );
  layout();
  fitCanvas(canvas, (w, height, scale) => {
    canvas.width = Math.round(w * scale);
    canvas.height = Math.round(height * scale);
    [width, pixels] = [w, scale];
    draw();
  });
  range.onChange(draw);
  onTheme(draw);
  return { element: h('div', { class: 'timeline-block' }, h('div', { class: 'row head' }, h('h2', {}, 'Events'), choice), holder), update };
}
