// Reads the data of the page and builds what it describes.
import 'uplot/dist/uPlot.min.css';
import './style.css';
import { comparePage } from './compare';
import { h } from './dom';
import type { Report } from './format';
import { helpOverlay, type Key, listenKeys } from './keys';
import { runPage } from './run';
import { startTheme, toggleTheme } from './theme';

const FORMAT = 1;
const HINTS = [
  'Replay: drag moves (3D: turns) the view, the wheel zooms, a double click shows everything, the pointer tells names.',
  'Plots: drag zooms all plots over time, a double click shows the whole time, a click moves the time. ' +
    'The wheel zooms after a click on the plot, or with ctrl or shift.',
  'Timeline: a click on a mark goes to the event.',
];

declare global {
  interface Window {
    nonsmooth: Record<string, unknown>;
  }
}

function read(): { report: Report | null; problem: string } {
  const text = document.getElementById('data')?.textContent ?? '';
  let report: Report;
  try {
    report = JSON.parse(text) as Report;
  } catch {
    return { report: null, problem: 'This page has no data: the place for it is empty or not valid JSON.' };
  }
  if (report === null || typeof report !== 'object' || report.format !== FORMAT) {
    const found = report === null || typeof report !== 'object' ? 'none' : String((report as { format?: unknown }).format);
    return { report: null, problem: `This page reads report format ${FORMAT}, but the data has format ${found}. A page of another version of nonsmooth can show it.` };
  }
  if (report.kind !== 'run' && report.kind !== 'compare') {
    return { report: null, problem: `This page shows runs and comparisons, but the data is of kind "${String((report as { kind?: unknown }).kind)}".` };
  }
  return { report, problem: '' };
}

function header(report: Report, help: () => void, parts: HTMLElement[]): HTMLElement {
  const title = report.title || report.scene || 'nonsmooth';
  document.title = `${title} - nonsmooth`;
  return h(
    'header',
    { class: 'page-head' },
    h(
      'div',
      { class: 'title-row' },
      h('h1', {}, title),
      h('span', { class: 'muted' }, report.kind === 'compare' ? `comparison, ${report.scene ?? ''}` : (report.scene ?? '')),
      h(
        'div',
        { class: 'page-tools' },
        h('button', { type: 'button', 'aria-label': 'Light or dark', title: 'Light or dark (t)', id: 'theme', click: toggleTheme }, 'theme'),
        h('button', { type: 'button', 'aria-label': 'Keys and help', title: 'Keys (?)', id: 'help', click: help }, 'keys ?'),
      ),
    ),
    parts.length > 0 && h('div', { class: 'facts-row' }, ...parts),
  );
}

function start(): void {
  startTheme();
  const page = document.getElementById('page')!;
  const { report, problem } = read();
  if (!report) {
    page.replaceChildren(h('main', {}, h('p', { class: 'problem', role: 'alert' }, problem)));
    window.nonsmooth = { problem };
    return;
  }
  const tip = h('div', { class: 'tip floating', role: 'status' });
  tip.hidden = true;
  const showTip = (text: string | null, x: number, y: number) => {
    tip.hidden = text === null;
    if (text === null) return;
    tip.textContent = text;
    tip.style.transform = `translate(${Math.min(x + 12, document.documentElement.clientWidth - tip.offsetWidth - 4)}px, ${y + 14}px)`;
  };

  let body: HTMLElement[];
  let head: HTMLElement[] = [];
  let keys: Key[] = [];
  let tick: ((seconds: number) => void) | null = null;
  if (report.kind === 'run') {
    const run = runPage(report);
    ({ head, body, keys, tick } = run);
    window.nonsmooth = run.api;
  } else {
    const compare = comparePage(report, showTip);
    body = [compare.element];
    keys = [{ keys: ['r'], shown: 'r', does: 'show all of the diagrams', run: () => Object.values(compare.charts).forEach((c) => c.reset()) }];
    window.nonsmooth = { plots: compare.charts };
  }
  const toggleHelp = () => (help.open ? help.close() : help.showModal());
  keys.push(
    { keys: ['t'], shown: 't', does: 'light or dark', run: toggleTheme },
    { keys: ['?'], shown: '?', does: 'this list', run: toggleHelp },
  );
  const help: HTMLDialogElement = helpOverlay(keys, HINTS);
  page.replaceChildren(header(report, toggleHelp, head), h('main', {}, ...body), tip, help);
  listenKeys(keys, help);

  if (tick) {
    const run = tick;
    let before = performance.now();
    const loop = (now: number) => {
      // After a pause of the page (hidden tab) time goes on from where it was.
      run(Math.min(0.25, Math.max(0, (now - before) / 1000)));
      before = now;
      requestAnimationFrame(loop);
    };
    run(0);
    requestAnimationFrame(loop);
  }
}

start();
