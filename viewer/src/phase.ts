// Phase portraits: velocity over coordinate, with a dot at the time of the replay.
import { nearest } from './data';
import { h } from './dom';
import type { Phase } from './format';
import type { PlotContext } from './plots';
import { seriesColour } from './palette';
import { theme } from './theme';
import { XYChart } from './xychart';

const AT_START = 4;

export function phasePlots(phases: Phase[], timeArray: string, context: PlotContext): HTMLElement {
  const times = context.arrays.column(timeArray, 0);
  const grid = h('div', { class: 'phase-grid' });
  const shown = new Map<number, () => void>();
  const charts = new Map<number, XYChart>();

  const add = (index: number) => {
    const phase = phases[index];
    const x = context.arrays.column(phase.x.array, phase.x.column, times.length);
    const y = context.arrays.column(phase.y.array, phase.y.column, times.length);
    const chart = new XYChart([{ name: phase.name, colour: () => seriesColour(theme(), index), x, y, width: 1.1 }], {
      x: { label: `${phase.name}${phase.x.unit ? ` (${phase.x.unit})` : ''}`, log: false },
      y: { label: `${phase.name}'${phase.y.unit ? ` (${phase.y.unit})` : ''}`, log: false },
      height: 230,
    });
    const update = () => {
      const row = nearest(times, context.clock.time);
      chart.setDot(x[row], y[row]);
    };
    shown.set(index, update);
    charts.set(index, chart);
    update();
    const close =
      phases.length > AT_START &&
      h(
        'button',
        {
          type: 'button',
          class: 'close',
          'aria-label': `Remove the portrait of ${phase.name}`,
          click: () => {
            shown.delete(index);
            charts.delete(index);
            panel.remove();
          },
        },
        '×',
      );
    const panel = h('figure', { class: 'panel phase' }, h('figcaption', { class: 'row head' }, h('h3', {}, phase.name), close), chart.element);
    grid.append(panel);
  };
  for (let i = 0; i < Math.min(AT_START, phases.length); i++) add(i);
  context.onTime(() => {
    for (const update of shown.values()) update();
  });
  const chooser =
    phases.length > AT_START &&
    h(
      'label',
      { class: 'inline' },
      h('span', {}, 'add a portrait of'),
      h(
        'select',
        {
          change: (e: globalThis.Event) => {
            const select = e.currentTarget as HTMLSelectElement;
            const index = Number(select.value);
            if (select.value !== '' && !shown.has(index)) add(index);
            select.value = '';
          },
        },
        h('option', { value: '' }, `one of ${phases.length}`),
        ...phases.map((phase, i) => h('option', { value: i }, phase.name)),
      ),
    );
  return h('div', {}, chooser, grid);
}
