// The controls of time: play, steps, speed, the slider.
import { type Clock, SPEEDS } from './clock';
import { h } from './dom';
import { type Icon, icon } from './icons';
import { grouped, timeText } from './numbers';

const SLIDER_STEPS = 100000;

function button(name: Icon, label: string, key: string, click: () => void): HTMLButtonElement {
  return h('button', { type: 'button', class: 'icon', 'aria-label': label, title: `${label} (${key})`, click }, icon(name));
}

export interface EventSteps {
  next(): void;
  previous(): void;
  count: number;
}

export function transport(clock: Clock, events: EventSteps): { element: HTMLElement; update: () => void } {
  const play = button('play', 'Play', 'space', () => clock.toggle());
  play.classList.add('play');
  const loop = button('loop', 'Loop', 'l', () => clock.setLoop(!clock.loop));
  const speed = h(
    'select',
    {
      'aria-label': 'Speed relative to real time',
      title: 'Speed relative to real time (up, down)',
      id: 'speed',
      change: () => clock.setSpeed(Number(speed.value)),
    },
    ...SPEEDS.map((s, i) => h('option', { value: i }, `${s}×`)),
  );
  const slider = h('input', {
    type: 'range',
    id: 'time',
    class: 'time',
    min: 0,
    max: SLIDER_STEPS,
    step: 1,
    'aria-label': 'Time',
    input: () => {
      clock.pause();
      clock.seek(clock.start + ((clock.end - clock.start) * Number(slider.value)) / SLIDER_STEPS);
    },
  });
  const time = h('output', { class: 'now', 'aria-label': 'Time now', for: 'time' });
  const frame = h('span', { class: 'frame' });
  const length = clock.end - clock.start;

  let playing: boolean | null = null;
  const update = () => {
    slider.value = String(length > 0 ? Math.round(((clock.time - clock.start) / length) * SLIDER_STEPS) : 0);
    slider.setAttribute('aria-valuetext', `${timeText(clock.time, length)} s`);
    time.textContent = `t = ${timeText(clock.time, length)} s`;
    frame.textContent = clock.frames.length > 0 ? `frame ${grouped(clock.frame() + 1)} of ${grouped(clock.frames.length)}` : '';
    speed.value = String(clock.speed);
    loop.setAttribute('aria-pressed', String(clock.loop));
    if (playing !== clock.playing) {
      playing = clock.playing;
      play.replaceChildren(icon(playing ? 'pause' : 'play'));
      play.setAttribute('aria-label', playing ? 'Pause' : 'Play');
      play.title = `${playing ? 'Pause' : 'Play'} (space)`;
    }
  };
  const still = (action: () => void) => () => {
    clock.pause();
    action();
  };
  const element = h(
    'div',
    { class: 'transport', role: 'group', 'aria-label': 'Time controls' },
    slider,
    h(
      'div',
      { class: 'row' },
      h(
        'div',
        { class: 'buttons' },
        button('start', 'To the start', 'home', still(() => clock.seek(clock.start))),
        button('back', 'One frame back', 'left', () => clock.step(-1)),
        play,
        button('forward', 'One frame forward', 'right', () => clock.step(1)),
        button('end', 'To the end', 'end', still(() => clock.seek(clock.end))),
        loop,
      ),
      events.count > 0 &&
        h(
          'div',
          { class: 'buttons' },
          button('previousEvent', 'Previous event', 'p', () => events.previous()),
          button('nextEvent', 'Next event', 'n', () => events.next()),
        ),
      h('label', { class: 'inline' }, h('span', {}, 'speed'), speed),
      h('div', { class: 'clock' }, time, frame),
    ),
  );
  update();
  return { element, update };
}
