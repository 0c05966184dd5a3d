// Certificates of the steps: residual and penetration, with the worst step marked.
import type { Mark } from './chart';
import type { Run, Series } from './format';
import { number, timeText, withUnit } from './numbers';
import { type GroupPlot, groupPlot, type PlotContext } from './plots';

export function certificatePlot(run: Run, context: PlotContext): GroupPlot | null {
  const group = run.plots?.groups?.find((g) => g.id === 'certificate');
  if (!group || !run.plots) return null;
  const length = context.clock.end - context.clock.start;
  const marksOf = (series: Series): Mark[] => {
    for (const name of ['residual', 'penetration'] as const) {
      const t = run.worst_at?.[name];
      if (!series.name.includes(name) || t === undefined || t === null || !Number.isFinite(t)) continue;
      const worst = run.result?.worst?.[name];
      const value = worst === undefined || worst === null ? '' : name === 'penetration' ? withUnit(worst, 'm', 3) : number(worst, 3);
      return [{ t, text: `worst ${value} at ${timeText(t, length)} s` }];
    }
    return [];
  };
  return groupPlot(group, run.plots.time, context, marksOf);
}
