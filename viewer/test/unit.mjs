// Tests of the parts that need no page. TypeScript is loaded through vite.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { pack } from '../sample/pack.mjs';

const load = async (name) => (await runnerImport(fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url)))).module;
const data = await load('data');
const { Clock, SPEEDS, defaultSpeed } = await load('clock');
const { contrast, DARK, LIGHT } = await load('palette');
const numbers = await load('numbers');
const { Frames } = await load('frames');
const { TimeRange } = await load('range');

test('base64 of every length is decoded as node does', () => {
  for (let n = 0; n < 70; n++) {
    const bytes = Uint8Array.from({ length: n }, (_, i) => (i * 89 + n) & 255);
    const text = Buffer.from(bytes).toString('base64');
    assert.deepEqual(data.decodeBase64(text), bytes);
    assert.deepEqual(data.decodeBase64(text.replace(/=+$/, '')), bytes);
  }
});

test('packed arrays come back as they were, all four types', () => {
  assert.deepEqual([...data.unpack(pack('f8', [1.5, NaN, -1e300])).values], [1.5, NaN, -1e300]);
  assert.deepEqual([...data.unpack(pack('f4', [[1, 2], [3, 4]])).values], [1, 2, 3, 4]);
  assert.deepEqual([...data.unpack(pack('u4', [0, 4294967295])).values], [0, 4294967295]);
  assert.deepEqual([...data.unpack(pack('u1', [0, 255])).values], [0, 255]);
});

test('columns are taken by their number; what does not exist is NaN', () => {
  const arrays = new data.Arrays({ a: pack('f4', [[1, 2], [3, 4]]) });
  assert.deepEqual([...arrays.column('a', 1)], [2, 4]);
  assert.deepEqual([...arrays.column('a', 7)], [NaN, NaN]);
  assert.deepEqual([...arrays.column('a', 0, 3)], [1, 3, NaN]);
  assert.deepEqual([...arrays.column('none', 0)], []);
  assert.equal(arrays.has('toString'), false);
});

test('a table shorter than its shape is shown as far as it goes', () => {
  const packed = pack('f8', [1, 2, 3]);
  packed.shape = [9, 1];
  assert.equal(data.unpack(packed).rows, 3);
});

test('search in increasing times', () => {
  assert.deepEqual([-1, 0, 0.5, 1, 2.4, 9].map((t) => data.lastAtMost([0, 1, 2], t)), [0, 0, 0, 1, 2, 2]);
  assert.deepEqual([-1, 0.4, 0.6, 9].map((t) => data.nearest([0, 1, 2], t)), [0, 0, 1, 2]);
});

test('the default speed shows a run in about ten seconds', () => {
  assert.equal(SPEEDS[defaultSpeed(10)], 1);
  assert.equal(SPEEDS[defaultSpeed(1)], 0.1);
  assert.equal(SPEEDS[defaultSpeed(1e-9)], 0.001);
  assert.equal(SPEEDS[defaultSpeed(1e9)], 10);
  assert.equal(SPEEDS[defaultSpeed(0)], 1);
});

test('the clock plays, stops at the end, starts again, loops', () => {
  const clock = new Clock(0, 1, [0, 0.5, 1]);
  clock.setSpeed(SPEEDS.indexOf(1));
  clock.play();
  clock.advance(0.6);
  assert.equal(clock.time, 0.6);
  clock.advance(0.6);
  assert.deepEqual([clock.time, clock.playing], [1, false]);
  clock.play();
  assert.equal(clock.time, 0);
  clock.setLoop(true);
  clock.advance(1.25);
  assert.deepEqual([clock.time, clock.playing], [0.25, true]);
});

test('single steps go from frame to frame, also from between two frames', () => {
  const clock = new Clock(0, 1, [0, 0.5, 1]);
  clock.step(1);
  assert.equal(clock.time, 0.5);
  clock.seek(0.7);
  clock.step(-1);
  assert.equal(clock.time, 0.5);
  clock.seek(0.7);
  clock.step(1);
  assert.equal(clock.time, 1);
  clock.step(10);
  assert.equal(clock.time, 1);
  clock.step(-10);
  assert.equal(clock.time, 0);
});

test('a run of zero length does not play', () => {
  const clock = new Clock(0, 0, []);
  clock.play();
  assert.equal(clock.playing, false);
  clock.step(1);
  clock.seek(NaN);
  assert.equal(clock.time, 0);
});

test('zooming the time stays inside the run', () => {
  const range = new TimeRange(0, 10);
  range.set(-5, 3);
  assert.deepEqual([range.min, range.max], [0, 3]);
  range.zoom(1, 0.5);
  assert.deepEqual([range.min, range.max], [0.5, 2]);
  range.show(9.9);
  assert.deepEqual([range.min, range.max], [8.5, 10]);
  range.set(1, 1);
  assert.deepEqual([range.min, range.max], [8.5, 10]);
  range.reset();
  assert.ok(range.whole);
});

test('poses: exact at frames, linear between, quaternions by the short way', () => {
  const half = Math.SQRT1_2;
  const arrays = new data.Arrays({
    t: pack('f8', [0, 1]),
    p: pack('f4', [[0.1, 0.2, 0, 0, 0, 1, 0, 0, 0], [0.3, 0.6, 0, 0, 0, -half, -half, 0, 0]]),
  });
  const frames = new Frames({ dimension: 3, time: 't', poses: 'p', items: [{ name: 'a', kind: 'point', first: 0 }, { name: 's', kind: 'sphere', first: 2 }] }, arrays);
  frames.moveTo(1);
  assert.equal(frames.drawn[0], Math.fround(0.3));
  frames.moveTo(0.5);
  assert.ok(Math.abs(frames.drawn[0] - 0.2) < 1e-7);
  const q = [...frames.drawn.subarray(5, 9)];
  assert.ok(Math.abs(Math.hypot(...q) - 1) < 1e-12);
  assert.ok(Math.abs(q[0] - Math.cos(Math.PI / 8)) < 1e-3, `${q}`);
});

test('numbers are written with units, signs and sensible digits', () => {
  assert.equal(numbers.number(0.0000385443), '3.854e−5');
  assert.equal(numbers.number(-12.5), '−12.5');
  assert.equal(numbers.number(3000), '3\u2009000');
  assert.equal(numbers.number(null), 'none');
  assert.equal(numbers.number(NaN), 'none');
  assert.equal(numbers.withUnit(0.5, 'm'), '0.5 m');
  assert.deepEqual(numbers.ticks([0, 0.25, 0.5], 0.25), ['0.00', '0.25', '0.50'].map((s, i) => (i === 0 ? '0' : s)));
  assert.deepEqual(numbers.ticks([0, 2e-5], 2e-5, 's'), ['0 s', '2e−5 s']);
  assert.deepEqual(numbers.powers([1e-12, 100, null]), ['10⁻¹²', '10²', '']);
  assert.equal(numbers.roundLength(0.07), 0.05);
});

test('every colour of text and thin lines has a contrast of 4.5 to 1 on both backgrounds', () => {
  for (const theme of [LIGHT, DARK]) {
    const colours = { text: theme.text, muted: theme.muted, accent: theme.accent, good: theme.good, warn: theme.warn, bad: theme.bad, surroundings: theme.surroundings };
    theme.series.forEach((colour, i) => (colours[`series ${i}`] = colour));
    theme.states.forEach((colour, i) => (colours[`state ${i}`] = colour));
    for (const [name, colour] of Object.entries(colours)) {
      for (const [where, background] of Object.entries({ ...theme.backgrounds, hover: theme.faint.hover })) {
        const ratio = contrast(colour, background);
        // Only text is written on the hover colour.
        if (where === 'hover' && !['text', 'muted', 'accent'].includes(name)) continue;
        assert.ok(ratio >= 4.5, `${theme.name}: ${name} ${colour} on ${where} ${background}: ${ratio.toFixed(2)}`);
      }
    }
    // Text in the colour of the panel: on tips and on the play button.
    assert.ok(contrast(theme.backgrounds.panel, theme.text) >= 4.5);
    assert.ok(contrast(theme.backgrounds.panel, theme.accent) >= 4.5);
  }
});

test('the style sheet has no colours of its own', () => {
  const style = readFileSync(new URL('../src/style.css', import.meta.url), 'utf8');
  const found = style.match(/#[0-9a-f]{3,8}\b|rgba?\(/gi) ?? [];
  // The veil behind the help is the only one.
  assert.deepEqual(found, ['#0008']);
});

test('the template has one placeholder, one script and one style allowed by hash, and asks nothing of the network', () => {
  const page = readFileSync(new URL('../dist/template.html', import.meta.url), 'utf8');
  assert.equal(page.split('<script type="application/json" id="data">/*DATA*/</script>').length, 2);
  assert.equal(page.split('/*DATA*/').length, 2);
  assert.equal(page.split('<title>nonsmooth</title>').length, 2);
  assert.match(page, /content="default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'/);
  assert.doesNotMatch(page, /<(script|link|img|iframe)[^>]+(src|href)=/);
  assert.doesNotMatch(page, /unsafe-(inline|eval)/);
  assert.ok(Buffer.byteLength(page) <= 900e3, `${Buffer.byteLength(page)} bytes`);
});
