// The events as a list; only the rows in sight exist.
import type { Clock } from './clock';
import { lastAtMost } from './data';
import { h } from './dom';
import type { Event } from './format';
import { grouped, timeText } from './numbers';
import { eventMark, seriesColour } from './palette';
import { markIcon } from './replay';
import { onTheme, theme } from './theme';

const ROW = 24;

export interface EventList {
  element: HTMLElement;
  update: () => void;
  reveal: (index: number) => void;
}

export function eventList(events: Event[], unlisted: number, clock: Clock, select: (index: number) => void): EventList {
  const duration = clock.end - clock.start;
  let shown = events.map((_, i) => i);
  let times = Float64Array.from(events, (e) => e.t);
  let selected = -1;
  let current = -2;
  let height = 0;
  let top = 0;
  let waiting = false;
  const rows = h('div', { class: 'event-rows', role: 'list' });
  /** The rows that exist, by their place in the list: a row stays the same element while it is in sight, so that a press that began
   * before the list was drawn again ends on it, and the keyboard stays where it is. */
  const live = new Map<number, HTMLButtonElement>();
  const scroll = h('div', { class: 'event-scroll', tabindex: 0, 'aria-label': 'List of events', scroll: () => measure() }, rows);
  const counts = h('span', { class: 'muted' });

  const kinds = [...new Set(events.map((e) => e.kind))];
  const kind = h(
    'select',
    { 'aria-label': 'Kind of events in the list', change: () => filter() },
    h('option', { value: '' }, 'all kinds'),
    ...kinds.map((k) => h('option', { value: k }, `${k} (${grouped(events.filter((e) => e.kind === k).length)})`)),
  );
  const contact = h('input', {
    type: 'search',
    placeholder: 'contact',
    'aria-label': 'Contact of events in the list',
    input: () => filter(),
  });

  const filter = () => {
    const wanted = contact.value.trim().toLowerCase();
    shown = [];
    events.forEach((e, i) => {
      if ((kind.value === '' || e.kind === kind.value) && (wanted === '' || (e.contact ?? '').toLowerCase().includes(wanted))) shown.push(i);
    });
    times = Float64Array.from(shown, (i) => events[i].t);
    scroll.scrollTop = 0;
    current = -2;
    clear();
    update();
    measure();
  };

  /** Reads what the browser laid out; drawing then needs no layout of its own. */
  const measure = () => {
    [top, height] = [scroll.scrollTop, scroll.clientHeight];
    draw();
  };

  const draw = () => {
    rows.style.height = `${shown.length * ROW}px`;
    scroll.style.height = `${Math.min(6.4, Math.max(1, events.length)) * ROW}px`;
    const first = Math.max(0, Math.floor(top / ROW) - 4);
    const last = Math.min(shown.length, Math.ceil((top + height) / ROW) + 4);
    for (const [i, row] of live) {
      if (i >= first && i < last) continue;
      row.remove();
      live.delete(i);
    }
    let before: Element | null = null;
    for (let i = first; i < last; i++) {
      let row = live.get(i);
      if (!row) {
        row = makeRow(i);
        live.set(i, row);
        if (before) before.after(row);
        else rows.prepend(row);
      }
      row.classList.toggle('current', i === current);
      if (shown[i] === selected) row.setAttribute('aria-current', 'true');
      else row.removeAttribute('aria-current');
      before = row;
    }
    counts.textContent =
      `${grouped(shown.length)} of ${grouped(events.length)} events` + (unlisted > 0 ? `; ${grouped(unlisted)} more are not in this report` : '');
  };

  const makeRow = (i: number): HTMLButtonElement => {
    const index = shown[i];
    const event = events[index];
    const { shape, colour } = eventMark(event.kind);
    const row = h(
      'button',
      { type: 'button', class: 'event', role: 'listitem', 'data-index': index, click: () => select(index) },
      markIcon(shape, () => seriesColour(theme(), colour), false),
      h('span', { class: 'event-time' }, timeText(event.t, duration)),
      h('span', {}, event.kind),
      h('span', { class: 'event-contact' }, event.contact ?? ''),
      h('span', { class: 'event-detail' }, event.detail ?? ''),
    );
    row.style.transform = `translateY(${i * ROW}px)`;
    return row;
  };

  const clear = () => {
    live.clear();
    rows.replaceChildren();
  };
  // Marks take the colours of the theme in which their row is made: rows come and go by the thousand.
  onTheme(() => {
    clear();
    draw();
  });

  const update = () => {
    const at = shown.length > 0 && times[0] <= clock.time ? lastAtMost(times, clock.time) : -1;
    if (at === current) return;
    const seen = (row: number) => row >= Math.floor(top / ROW) - 4 && row * ROW <= top + height + 4 * ROW;
    const change = seen(at) || seen(current);
    current = at;
    follow();
    if (change) draw();
  };

  /** Brings the current row into sight a little later, unless the pointer is in the list: moving it costs a layout of the page. */
  const follow = () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      if (scroll.matches(':hover, :focus-within')) return;
      const y = Math.max(0, current) * ROW;
      if (y < top || y + ROW > top + height) scroll.scrollTop = Math.max(0, y - height / 2);
    }, clock.playing ? 250 : 60);
  };

  const reveal = (index: number) => {
    selected = index;
    const row = shown.indexOf(index);
    if (row >= 0) {
      const y = row * ROW;
      if (y < scroll.scrollTop) scroll.scrollTop = y - 2 * ROW;
      else if (y + ROW > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = y + 3 * ROW - scroll.clientHeight;
    }
    measure();
  };
  new ResizeObserver(() => measure()).observe(scroll);

  const element = h(
    'div',
    { class: 'event-list' },
    h('div', { class: 'row head' }, kind, contact, counts),
    h(
      'div',
      { class: 'event event-head', 'aria-hidden': 'true' },
      h('span', {}),
      h('span', { class: 'event-time' }, 't (s)'),
      h('span', {}, 'kind'),
      h('span', {}, 'contact'),
      h('span', {}, 'detail'),
    ),
    scroll,
  );
  return { element, update, reveal };
}
