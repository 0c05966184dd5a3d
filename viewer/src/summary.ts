// What the run was and how it ended, as text and tables.
import { h } from './dom';
import type { Method, Report, Run } from './format';
import { grouped, number, withUnit, words } from './numbers';

const UNITS: Record<string, string> = {
  penetration: 'm',
  gap_velocity: 'm/s',
  wall_seconds: 's',
  seconds: 's',
};

export function statusText(run: Run): { kind: 'good' | 'warn' | 'bad'; text: string; reason: string | null } {
  const status = run.result?.status ?? 'unknown';
  const stopped = run.result?.stopped;
  const reason = stopped === null || stopped === undefined ? null : typeof stopped === 'string' ? stopped : describe(stopped);
  const kind = status === 'done' ? 'good' : status === 'interrupted' ? 'warn' : 'bad';
  return { kind, text: status, reason };
}

/** Any value of the result as one line of text. */
function describe(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'number') return number(value, 6);
  if (Array.isArray(value)) return value.map(describe).join(', ');
  if (typeof value === 'object') {
    return Object.entries(value)
      .map(([key, v]) => `${words(key)} ${describe(v)}`)
      .join(', ');
  }
  return String(value);
}

function table(caption: string, rows: [string, string][]): HTMLElement | null {
  if (rows.length === 0) return null;
  return h(
    'div',
    { class: 'panel' },
    h('h3', {}, caption),
    h('table', { class: 'facts' }, h('tbody', {}, ...rows.map(([name, value]) => h('tr', {}, h('th', { scope: 'row' }, name), h('td', { class: 'figure' }, value))))),
  );
}

function method(caption: string, m: Method | undefined, more: [string, string][] = []): HTMLElement | null {
  if (!m) return null;
  return table(caption, [['name', m.name], ...more, ...(m.options ?? []).map((o): [string, string] => [words(o.name), describe(o.value)])]);
}

/** The worst numbers that there are: those of what was not watched are null. */
function watched(worst: Record<string, number | null> | undefined): Record<string, number | null> {
  return Object.fromEntries(Object.entries(worst ?? {}).filter(([, value]) => value !== null));
}

/** The figures that belong at the top of the page. */
export function keyFigures(run: Run): HTMLElement {
  const { result } = run;
  const figure = (name: string, value: string, title = '') => h('div', { class: 'key-figure', title }, h('dt', {}, name), h('dd', {}, value));
  const list: HTMLElement[] = [];
  if (run.scheme) list.push(figure('scheme', run.scheme.name));
  if (typeof result?.step === 'number') list.push(figure('step', withUnit(result.step, 's')));
  if (typeof result?.work?.steps === 'number') list.push(figure('steps', grouped(result.work.steps)));
  if (typeof result?.t === 'number') list.push(figure('reached', withUnit(result.t, 's', 6)));
  if (run.events) list.push(figure('events', grouped(run.events.length + (run.events_unlisted ?? 0))));
  const worst = watched(result?.worst);
  if ('residual' in worst) list.push(figure('worst residual', number(worst.residual, 2), 'Largest residual of a one-step problem'));
  if ('penetration' in worst) list.push(figure('penetration', withUnit(worst.penetration, 'm', 3), 'Largest penetration'));
  if ('energy_closure' in worst) list.push(figure('energy closure', number(worst.energy_closure, 2), 'Largest defect of the ledger, relative to it'));
  return h('dl', { class: 'key-figures' }, ...list);
}

function copyable(command: string): HTMLElement {
  const text = h('code', { class: 'command', tabindex: 0 }, command);
  const button = h('button', { type: 'button', class: 'copy' }, 'copy');
  button.addEventListener('click', async () => {
    // Pages from disk may not use the clipboard: then the text is selected for the user's own copy key.
    try {
      await navigator.clipboard.writeText(command);
      button.textContent = 'copied';
    } catch {
      const range = document.createRange();
      range.selectNodeContents(text);
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
      button.textContent = 'selected';
    }
    setTimeout(() => (button.textContent = 'copy'), 2000);
  });
  return h('div', { class: 'panel' }, h('h3', {}, 'Run again'), h('div', { class: 'row nowrap' }, text, button));
}

/** What runs and comparisons have in common: command, scene file, version. */
export function origin(report: Report): HTMLElement[] {
  return [
    ...(report.command ? [copyable(report.command)] : []),
    ...(report.scene_text
      ? [
          h(
            'details',
            { class: 'panel' },
            h('summary', {}, h('h3', {}, `Scene file${report.scene ? ` (${report.scene})` : ''}`)),
            h('pre', { class: 'scene-text', tabindex: 0 }, report.scene_text),
          ),
        ]
      : []),
    h('p', { class: 'muted small' }, `nonsmooth ${report.version ?? ''}, report format ${report.format}.`),
  ];
}

export function notesList(title: string, notes: string[] | undefined): HTMLElement | null {
  if (!notes || notes.length === 0) return null;
  return h('div', { class: 'panel' }, h('h3', {}, title), h('ul', { class: 'plain' }, ...notes.map((note) => h('li', {}, note))));
}

function percussions(run: Run): HTMLElement | null {
  const entries = Object.entries(run.result?.percussions ?? {});
  if (entries.length === 0) return null;
  const most = 200;
  const parts = Math.max(...entries.map(([, p]) => [p.tangential ?? []].flat().length), 0);
  const head = ['contact', 'normal (N s)', ...Array.from({ length: parts }, (_, i) => (parts > 1 ? `tangential ${i + 1} (N s)` : 'tangential (N s)'))];
  return h(
    'div',
    { class: 'panel' },
    h('h3', {}, 'Percussion sums by contact'),
    h(
      'div',
      { class: 'scroll' },
      h(
        'table',
        { class: 'grid' },
        h('thead', {}, h('tr', {}, ...head.map((name, i) => h('th', { scope: 'col', class: i > 0 ? 'figure' : '' }, name)))),
        h(
          'tbody',
          {},
          ...entries.slice(0, most).map(([name, p]) => {
            const tangential = [p.tangential ?? []].flat();
            return h(
              'tr',
              {},
              h('th', { scope: 'row' }, name),
              h('td', { class: 'figure' }, number(p.normal, 6)),
              ...Array.from({ length: parts }, (_, i) => h('td', { class: 'figure' }, i < tangential.length ? number(tangential[i], 6) : '')),
            );
          }),
        ),
      ),
    ),
    entries.length > most && h('p', { class: 'muted small' }, `and ${grouped(entries.length - most)} more contacts`),
  );
}

/** Coordinates and velocities at the end. */
function state(run: Run): HTMLElement | null {
  const { coordinates, q, u } = run.result ?? {};
  if (!coordinates || coordinates.length === 0) return null;
  const most = 100;
  return h(
    'div',
    { class: 'panel' },
    h('h3', {}, `State at t = ${withUnit(run.result?.t ?? null, 's', 6)}`),
    h(
      'div',
      { class: 'scroll' },
      h(
        'table',
        { class: 'grid' },
        h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'coordinate'), h('th', { scope: 'col', class: 'figure' }, 'q'), h('th', { scope: 'col', class: 'figure' }, 'u'))),
        h(
          'tbody',
          {},
          ...coordinates.slice(0, most).map((name, i) =>
            h('tr', {}, h('th', { scope: 'row' }, name), h('td', { class: 'figure' }, number(q?.[i] ?? null, 8)), h('td', { class: 'figure' }, number(u?.[i] ?? null, 8))),
          ),
        ),
      ),
    ),
    coordinates.length > most && h('p', { class: 'muted small' }, `and ${grouped(coordinates.length - most)} more coordinates`),
  );
}

export function summary(run: Run): HTMLElement[] {
  const { result } = run;
  const facts = (values: Record<string, unknown> | undefined) =>
    Object.entries(values ?? {}).map(([key, value]): [string, string] => [
      words(key),
      typeof value === 'number' || value === null ? withUnit(value, UNITS[key]) : describe(value),
    ]);
  const { kind, text, reason } = statusText(run);
  const status = h(
    'div',
    { class: 'panel' },
    h('h3', {}, 'Status'),
    h('p', {}, h('span', { class: `chip ${kind}` }, text), typeof result?.t === 'number' && ` at t = ${withUnit(result.t, 's', 6)}`),
    reason && h('p', {}, reason),
    run.overrides && run.overrides.length > 0 && h('p', { class: 'small' }, h('span', { class: 'muted' }, 'changed: '), h('code', {}, run.overrides.join(', '))),
  );
  const cards = h(
    'div',
    { class: 'cards' },
    status,
    method('Scheme', run.scheme, typeof result?.step === 'number' ? [['step', withUnit(result.step, 's')]] : []),
    method('Solver', run.solver),
    notesList('Warnings', run.warnings),
    notesList('Notes', run.notes),
    table('Worst numbers', facts(watched(result?.worst))),
    table('Work', facts(result?.work)),
    percussions(run),
    state(run),
  );
  return [cards, ...origin(run)];
}
