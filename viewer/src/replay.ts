// The replay panel: the stage, what the marks mean, and controls of the picture.
import { Contacts, type Stage } from './contacts';
import type { Arrays } from './data';
import { h, svg } from './dom';
import type { Replay } from './format';
import { Frames } from './frames';
import { number } from './numbers';
import { STATE_NAMES, STATE_SHAPES, type Shape, filled } from './palette';
import { Replay2D } from './replay2d';
import { Replay3D } from './replay3d';
import { onTheme, theme } from './theme';

/** A mark of the legend, the same shape as on the canvas; `follow`: it changes with the theme. */
export function markIcon(shape: Shape, colour: () => string, follow = true): SVGElement {
  const forms: Record<Shape, [string, Record<string, string | number>]> = {
    triangle: ['path', { d: 'M7 2 12 11.500H2z' }],
    disc: ['circle', { cx: 7, cy: 7, r: 4.5 }],
    circle: ['circle', { cx: 7, cy: 7, r: 4 }],
    square: ['rect', { x: 3, y: 3, width: 8, height: 8 }],
    diamond: ['path', { d: 'M7 1.500 12.500 7 7 12.500 1.500 7z' }],
    cross: ['path', { d: 'M3 3 11 11M11 3 3 11' }],
  };
  const [tag, properties] = forms[shape];
  const mark = svg(tag, { ...properties, 'stroke-width': 1.8 });
  const paint = () => {
    mark.setAttribute('stroke', colour());
    mark.setAttribute('fill', filled(shape) ? colour() : 'none');
  };
  paint();
  if (follow) onTheme(paint);
  return svg('svg', { viewBox: '0 0 14 14', width: 14, height: 14, 'aria-hidden': 'true', class: 'mark' }, mark);
}

export interface ReplayPanel {
  element: HTMLElement;
  stage: Stage | null;
  frames: Frames;
  toggleArrows(): void;
}

export function replayPanel(replay: Replay, arrays: Arrays): ReplayPanel {
  const frames = new Frames(replay, arrays);
  frames.moveTo(frames.times[0] ?? 0);
  const contacts = replay.contacts ? new Contacts(replay.contacts, arrays, replay.dimension) : null;
  const tip = h('div', { class: 'tip', role: 'status' });
  tip.hidden = true;
  const hover = (text: string | null, x: number, y: number) => {
    tip.hidden = text === null;
    if (text === null) return;
    tip.textContent = text;
    tip.style.transform = `translate(${Math.round(x + 12)}px, ${Math.round(y + 14)}px)`;
    // Near the right edge the text goes to the left of the pointer.
    const room = tip.parentElement!.clientWidth;
    if (x + 12 + tip.offsetWidth > room) tip.style.transform = `translate(${Math.max(4, Math.round(x - tip.offsetWidth - 8))}px, ${Math.round(y + 14)}px)`;
  };

  let stage: Stage | null = null;
  let reason = '';
  try {
    stage = replay.dimension === 3 ? new Replay3D(frames, contacts, replay, hover) : new Replay2D(frames, contacts, replay, hover);
  } catch (error) {
    reason = `The replay cannot be drawn here: ${error instanceof Error ? error.message : String(error)}`;
  }
  const holder = h('div', { class: 'stage-holder' }, stage ? stage.element : h('p', { class: 'empty' }, reason), tip);
  if (stage) {
    const tool = (text: string, label: string, click: () => void) =>
      h('button', { type: 'button', 'aria-label': label, title: label, click }, text);
    const camera = stage;
    holder.append(
      h(
        'div',
        { class: 'stage-tools' },
        tool('+', 'Zoom in (+)', () => camera.zoom(1.25)),
        tool('−', 'Zoom out (−)', () => camera.zoom(0.8)),
        tool('fit', 'Show everything (0)', () => camera.resetView()),
      ),
    );
  }

  let toggleArrows = () => {};
  const legend = h('div', { class: 'legend-row' });
  if (contacts && stage) {
    const box = h('input', { type: 'checkbox', id: 'arrows', checked: true, change: () => apply() });
    // The slider is the power of ten: percussions of impacts and of rest differ by orders of magnitude.
    const scale = h('input', {
      type: 'range',
      id: 'arrow-scale',
      min: -1,
      max: 3,
      step: 0.05,
      value: 0,
      'aria-label': 'Scale of the arrows',
      title: 'Scale of the arrows',
      input: () => apply(),
    });
    const factor = h('span', { class: 'figure' }, '1×');
    const apply = () => {
      const value = 10 ** Number(scale.value);
      factor.textContent = `${number(value, 2)}×`;
      stage.setArrows(box.checked, value);
    };
    toggleArrows = () => {
      box.checked = !box.checked;
      apply();
    };
    legend.append(
      h('span', { class: 'legend-title' }, 'contacts'),
      ...STATE_NAMES.map((name, i) => h('span', { class: 'key' }, markIcon(STATE_SHAPES[i], () => theme().states[i]), name)),
      h('label', { class: 'inline push', title: 'Percussion on the second body, in N s (a)' }, box, h('span', {}, 'percussions')),
      h('span', { class: 'inline' }, scale, factor),
    );
  }
  const element = h('div', { class: 'panel replay' }, holder, legend.childNodes.length > 0 && legend);
  return { element, stage, frames, toggleArrows: () => toggleArrows() };
}
