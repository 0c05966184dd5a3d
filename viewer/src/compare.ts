// The page of a comparison: errors of schemes over step, calls and time.
import { h, section } from './dom';
import type { Compare, CompareRow } from './format';
import { number, withUnit, words } from './numbers';
import { type Shape, seriesColour, seriesDash } from './palette';
import { markIcon } from './replay';
import { notesList, origin } from './summary';
import { theme } from './theme';
import { type Track, XYChart } from './xychart';

const SHAPES: Shape[] = ['disc', 'square', 'triangle', 'diamond', 'circle', 'cross'];
const NORMS: Record<string, string> = { l1: 'L1', l2: 'L2', sup: 'sup', graph: 'graph distance' };
const QUANTITIES: Record<string, string> = { q: 'coordinates q', u: 'velocities u', p: 'percussions p' };
const AXES = [
  { key: 'step', label: 'step (s)', sign: 1 },
  { key: 'calls', label: 'calls of the scheme', sign: -1 },
  { key: 'seconds', label: 'computing time (s)', sign: -1 },
] as const;
const SLOPES = [1, 2, 4];

function optionsText(options: unknown): string {
  if (options === null || options === undefined) return '';
  if (Array.isArray(options)) return options.map((o) => (typeof o === 'object' && o ? `${o.name}=${o.value}` : String(o))).join(', ');
  if (typeof options === 'object') return Object.entries(options).map(([k, v]) => `${k}=${v}`).join(', ');
  return String(options);
}

// Known names in the order in which they are known, others after them.
function keys(rows: CompareRow[], of: (row: CompareRow) => object | null | undefined): string[] {
  const known = [...Object.keys(QUANTITIES), ...Object.keys(NORMS)];
  const rank = (name: string) => (known.includes(name) ? known.indexOf(name) : known.length);
  return [...new Set(rows.flatMap((row) => Object.keys(of(row) ?? {})))].sort((a, b) => rank(a) - rank(b));
}

export interface ComparePage {
  element: HTMLElement;
  charts: Record<string, XYChart>;
}

export function comparePage(data: Compare, tip: (text: string | null, x: number, y: number) => void): ComparePage {
  const rows = data.rows ?? [];
  const labels = [...new Set(rows.map((row) => row.label))];
  const quantities = keys(rows, (row) => row.errors);
  const off = new Set<string>();
  let quantity = quantities[0] ?? 'q';
  const norms = () => keys(rows, (row) => row.errors?.[quantity]);
  let norm = norms()[0] ?? 'l1';

  const error = (row: CompareRow) => row.errors?.[quantity]?.[norm] ?? NaN;
  const tracks = (key: 'step' | 'calls' | 'seconds', sign: number): Track[] => {
    const list = labels
      .map((label, i): Track => {
        const points = rows
          .filter((row) => row.label === label && row[key] !== null && row[key] !== undefined && error(row) > 0)
          .sort((a, b) => a[key]! - b[key]!);
        return {
          name: label,
          colour: () => seriesColour(theme(), i),
          dash: seriesDash(theme(), i),
          shape: SHAPES[i % SHAPES.length],
          width: 1.5,
          x: points.map((row) => row[key]!),
          y: points.map(error),
        };
      })
      .filter((track) => !off.has(track.name) && track.x.length > 0);
    return [...guides(list, sign), ...list];
  };
  /** Dashed lines of slope 1, 2, 4 through the corner where the errors are largest. */
  const guides = (list: Track[], sign: number): Track[] => {
    const xs = list.flatMap((track) => Array.from(track.x));
    const ys = list.flatMap((track) => Array.from(track.y));
    if (xs.length < 2) return [];
    const [low, high] = [Math.min(...xs), Math.max(...xs)];
    const top = Math.max(...ys);
    const corner = sign > 0 ? high : low;
    const far = (sign > 0 ? low : high) * (sign > 0 ? 1e-3 : 1e3);
    return SLOPES.map((slope) => ({
      name: `slope ${slope}`,
      text: `slope ${sign * slope}`.replace('-', '−'),
      helping: true,
      colour: () => theme().muted,
      dash: [3, 4],
      width: 1,
      x: [corner, far],
      y: [top, top * (far / corner) ** (sign * slope)],
    }));
  };

  const label = () => `error of ${QUANTITIES[quantity] ?? quantity}, ${NORMS[norm] ?? norm}`;
  const charts: Record<string, XYChart> = {};
  const panels: HTMLElement[] = [];
  for (const { key, label: xLabel, sign } of AXES) {
    if (!rows.some((row) => row[key] !== null && row[key] !== undefined)) continue;
    const chart = new XYChart(tracks(key, sign), { x: { label: xLabel, log: true }, y: { label: label(), log: true }, height: 340, hover: tip });
    charts[key] = chart;
    const reset = h('button', { type: 'button', 'aria-label': `Reset the diagram over ${xLabel}`, click: () => chart.reset() }, 'reset');
    panels.push(h('figure', { class: 'panel' }, h('figcaption', { class: 'row head' }, h('h3', {}, `Error over ${xLabel.replace(/ \(.*/, '')}`), reset), chart.element));
  }
  const refresh = () => {
    for (const { key, sign } of AXES) charts[key]?.setTracks(tracks(key, sign), label());
  };

  const normButtons = h('div', { class: 'segmented', role: 'group', 'aria-label': 'Norm of the error' });
  const drawNorms = () => {
    if (!norms().includes(norm)) norm = norms()[0] ?? norm;
    normButtons.replaceChildren(
      ...norms().map((name) =>
        h(
          'button',
          {
            type: 'button',
            'aria-pressed': String(name === norm),
            'data-norm': name,
            click: () => {
              norm = name;
              drawNorms();
              refresh();
            },
          },
          NORMS[name] ?? name,
        ),
      ),
    );
  };
  const quantityButtons = h('div', { class: 'segmented', role: 'group', 'aria-label': 'Quantity' });
  const drawQuantities = () => {
    quantityButtons.replaceChildren(
      ...quantities.map((name) =>
        h(
          'button',
          {
            type: 'button',
            'aria-pressed': String(name === quantity),
            'data-quantity': name,
            click: () => {
              quantity = name;
              drawQuantities();
              drawNorms();
              refresh();
            },
          },
          QUANTITIES[name] ?? name,
        ),
      ),
    );
  };
  drawQuantities();
  drawNorms();

  const legend = h(
    'div',
    { class: 'legend' },
    ...labels.map((name, i) =>
      h(
        'button',
        {
          type: 'button',
          class: 'series',
          'aria-pressed': 'true',
          click: (e: MouseEvent) => {
            if (off.has(name)) off.delete(name);
            else off.add(name);
            (e.currentTarget as HTMLElement).setAttribute('aria-pressed', String(!off.has(name)));
            refresh();
          },
        },
        markIcon(SHAPES[i % SHAPES.length], () => seriesColour(theme(), i)),
        h('span', { class: 'series-name' }, name),
      ),
    ),
  );

  const element = h(
    'div',
    { class: 'compare' },
    section(
      'diagrams',
      'Diagrams',
      data.reference ? h('p', { class: 'muted' }, `Errors against: ${data.reference}. Dashed: slopes 1, 2 and 4.`) : null,
      h('div', { class: 'row toolbar' }, quantityButtons, normButtons, legend),
      rows.length > 0 ? h('div', { class: 'diagrams' }, ...panels) : h('p', { class: 'empty' }, 'No rows.'),
    ),
    ordersTable(data),
    rowsTable(rows, quantities),
    section('origin', 'Origin', h('div', { class: 'cards' }, notesList('Warnings', data.warnings), notesList('Notes', data.notes), ), ...origin(data)),
  );
  return { element, charts };
}

function ordersTable(data: Compare): HTMLElement | null {
  const orders = data.orders ?? [];
  if (orders.length === 0) return null;
  const names = [...new Set(orders.flatMap((row) => Object.keys(row)))].filter((key) => !['scheme', 'label'].includes(key) && !key.endsWith('_uncertainty'));
  return section(
    'orders',
    'Observed orders',
    h(
      'div',
      { class: 'panel scroll' },
      h(
        'table',
        { class: 'grid' },
        h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'curve'), h('th', { scope: 'col' }, 'scheme'), ...names.map((name) => h('th', { scope: 'col', class: 'figure' }, words(name))))),
        h(
          'tbody',
          {},
          ...orders.map((row) =>
            h(
              'tr',
              {},
              h('th', { scope: 'row' }, row.label ?? row.scheme),
              h('td', {}, row.scheme),
              ...names.map((name) => {
                const uncertainty = row[`${name}_uncertainty`];
                const value = row[name];
                const text = typeof value === 'number' ? `${value.toFixed(2)}${typeof uncertainty === 'number' ? ` ± ${uncertainty.toFixed(2)}` : ''}` : 'none';
                return h('td', { class: 'figure' }, text);
              }),
            ),
          ),
        ),
      ),
    ),
  );
}

function rowsTable(rows: CompareRow[], quantities: string[]): HTMLElement | null {
  if (rows.length === 0) return null;
  const columns = quantities.flatMap((q) => keys(rows, (row) => row.errors?.[q]).map((n) => [q, n] as const));
  const hasStatus = rows.some((row) => row.status);
  return section(
    'rows',
    'All runs',
    h(
      'div',
      { class: 'panel scroll' },
      h(
        'table',
        { class: 'grid' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, 'curve'),
            h('th', { scope: 'col' }, 'options'),
            ...['step', 'calls', 'time', ...columns.map(([q, n]) => `${q} ${NORMS[n] ?? n}`)].map((name) => h('th', { scope: 'col', class: 'figure' }, name)),
            hasStatus && h('th', { scope: 'col' }, 'status'),
          ),
        ),
        h(
          'tbody',
          {},
          ...rows.map((row) =>
            h(
              'tr',
              {},
              h('th', { scope: 'row' }, row.label ?? row.scheme),
              h('td', {}, optionsText(row.options)),
              h('td', { class: 'figure' }, withUnit(row.step, 's', 3)),
              h('td', { class: 'figure' }, number(row.calls)),
              h('td', { class: 'figure' }, withUnit(row.seconds, 's', 3)),
              ...columns.map(([q, n]) => h('td', { class: 'figure' }, number(row.errors?.[q]?.[n], 3))),
              hasStatus && h('td', {}, row.status ?? ''),
            ),
          ),
        ),
      ),
    ),
  );
}
