// The energy ledger: what every line did to the energy, in total and over time, and whether it closes.
import { h } from './dom';
import type { Group, Run, Series } from './format';
import { number, withUnit } from './numbers';
import { type GroupPlot, groupPlot, type PlotContext } from './plots';

/** Start + all lines = end; what is left is the defect. */
function ledgerTable(run: Run): HTMLElement | null {
  const energy = run.result?.energy;
  if (!energy) return null;
  const lines = Object.entries(energy.ledger ?? {});
  const moved = lines.filter(([, value]) => value !== 0);
  const still = lines.filter(([, value]) => value === 0).map(([name]) => name);
  const largest = Math.max(...moved.map(([, value]) => Math.abs(value)).filter(Number.isFinite), 1e-300);
  const sum = moved.reduce((total, [, value]) => total + value, 0);
  const row = (name: string, value: number | undefined, kind = '') => {
    const bar = h('span', { class: 'bar' });
    if (kind === '' && value !== undefined && Number.isFinite(value)) {
      const part = (50 * Math.abs(value)) / largest;
      bar.style.width = `${part}%`;
      bar.style.left = value < 0 ? `${50 - part}%` : '50%';
      bar.classList.add(value < 0 ? 'loss' : 'gain');
    }
    return h(
      'tr',
      { class: kind },
      h('th', { scope: 'row' }, name),
      h('td', { class: 'figure' }, `${value !== undefined && value > 0 && kind === '' ? '+' : ''}${withUnit(value ?? null, 'J', 7)}`),
      h('td', { class: 'bar-cell' }, kind === '' && h('span', { class: 'bar-holder' }, bar)),
    );
  };
  const defect = energy.final !== undefined && energy.initial !== undefined ? energy.final - energy.initial - sum : undefined;
  return h(
    'div',
    { class: 'panel' },
    h(
      'table',
      { class: 'ledger' },
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'line'), h('th', { scope: 'col', class: 'figure' }, 'energy'), h('th', { scope: 'col' }, ''))),
      h(
        'tbody',
        {},
        row('energy at the start', energy.initial, 'total'),
        ...moved.map(([name, value]) => row(name, value)),
        row('sum of the lines', sum, 'total'),
        row('energy at the end', energy.final, 'total'),
        row('end − start − lines', defect, 'total'),
        energy.max !== undefined && row('largest energy', energy.max, 'total'),
      ),
    ),
    still.length > 0 && h('p', { class: 'muted small' }, `Lines that are exactly zero: ${still.join(', ')}.`),
    h('p', { class: 'muted small' }, `Closure (relative to the ledger): ${number(run.result?.worst?.energy_closure ?? null, 3)}.`),
  );
}

export interface LedgerSection {
  elements: HTMLElement[];
  plots: Record<string, GroupPlot>;
}

export function ledgerSection(run: Run, context: PlotContext): LedgerSection {
  const elements: HTMLElement[] = [];
  const plots: Record<string, GroupPlot> = {};
  const table = ledgerTable(run);
  if (table) elements.push(table);
  const energy = run.plots?.groups?.find((group) => group.id === 'energy');
  if (energy && run.plots) {
    plots.energy = groupPlot(energy, run.plots.time, context);
    elements.push(plots.energy.element);
  }
  const ledger = run.ledger;
  if (ledger) {
    const joule = (name: string, column: { array: string; column: number }): Series => ({ name, unit: 'J', array: column.array, column: column.column });
    // Lines that never move only hide the others.
    const rows = context.arrays.table(ledger.time).rows;
    const lines = (ledger.series ?? []).filter((s) => context.arrays.column(s.array, s.column, rows).some((v) => v !== 0 && !Number.isNaN(v)));
    const series = lines.map((s) => joule(s.name, s));
    if (ledger.energy) series.push(joule('total energy', ledger.energy));
    const add = (group: Group) => {
      plots[group.id] = groupPlot(group, ledger.time, context);
      elements.push(plots[group.id].element);
    };
    if (series.length > 0) add({ id: 'ledger', title: 'Work of each line since the start', series });
    if (ledger.closure) {
      const values = context.arrays.column(ledger.closure.array, ledger.closure.column, rows);
      const worst = values.reduce((most, v) => (Math.abs(v) > most ? Math.abs(v) : most), 0);
      add({ id: 'closure', title: 'Closure defect', series: [joule('defect', ledger.closure)], note: `worst ${withUnit(worst, 'J', 3)}` });
    }
  }
  return { elements, plots };
}
