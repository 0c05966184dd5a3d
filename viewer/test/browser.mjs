// Checks of report pages in a real browser (Chromium by playwright-core).
//
//   node test/browser.mjs                 all checks on the samples in sample/out (npm run sample makes them)
//   node test/browser.mjs FILE.html ...   the general checks on these files (reports made by the engine)
//
// Helpers for other scripts, all of which throw an Error that says what is wrong:
//
//   const browser = await launch();                 Chromium; CHROMIUM names another binary. Missing: throws, never skips.
//   const opened = await openReport(browser, file, {width, height, dark});
//       opens file:// and waits for window.nonsmooth. Everything but that one file is blocked and recorded.
//       opened.page      playwright's page
//       opened.problems  list of console errors, page errors, attempted requests, dialogs (it grows while the page lives)
//       opened.millis    on the page's clock: from the start of the navigation until it answered and had drawn twice
//   await opened.close();                           closes the page and throws if there were problems
//   await itemsAt(page, t)                          seeks and returns [{name, kind, pose}] as drawn
//   await contactsAt(page, t)                       seeks and returns [{name, point, arrow, state, gap, impact}] as drawn
//   await checkItems(page, t, expected, tolerance)  expected: {name: [numbers]} or [{name, pose}]; every one must be drawn so.
//                                                   tolerance is relative to the largest number of the pose, absolute below 1.
//                                                   Quaternions of 3D poses may differ by their sign.
//   await checkPoses(page, data, frames)            the same against the report's own arrays at the given frames (default: some)
//   await checkEventClick(page)                     a click on a row of the list moves time and slider
//   await checkZoom(page)                           a drag in the first plot zooms all plots; r resets
//   await checkKeys(page)                           every key of the help does what it says
//   await checkTheme(page)                          the button and the key change the theme
//   await checkLayout(page)                         nothing is wider than the page
//   await checkGeneral(browser, file)               all of the above that fit the report in the file
//   reportData(file)                                the JSON object inside a report
//   unpack(packed)                                  a packed array as {values, rows, width}
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const ARGUMENTS = [
  '--headless', '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-gpu', '--enable-unsafe-swiftshader',
];

export async function launch() {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath)) {
    throw new Error(`no Chromium at ${executablePath}: install it (apt-get install chromium) or set CHROMIUM to its path`);
  }
  return chromium.launch({ executablePath, args: ARGUMENTS });
}

function ensure(condition, text) {
  if (!condition) throw new Error(text);
}

export async function openReport(browser, file, { width = 1400, height = 900, dark = false, scale = 1 } = {}) {
  const url = pathToFileURL(resolve(file)).href;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', deviceScaleFactor: scale });
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => {
    // Software rendering in the test makes Chromium remark on its speed; that is not the page's doing.
    if (/GPU stall|GL Driver Message|swiftshader|software WebGL/i.test(message.text())) return;
    if (message.type() === 'error' || message.type() === 'warning') problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.stack ?? error.message}`));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await context.route('**/*', (route) => {
    const asked = route.request().url();
    if (asked.split('#')[0] === url) return route.continue();
    problems.push(`request: ${asked}`);
    return route.abort();
  });
  await page.goto(url);
  await page.waitForFunction(() => window.nonsmooth !== undefined, null, { timeout: 60000 });
  const millis = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))));
  const close = async () => {
    await context.close();
    ensure(problems.length === 0, `${file}:\n  ${problems.join('\n  ')}`);
  };
  return { page, problems, millis, close };
}

export function reportData(file) {
  const found = /<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(readFileSync(file, 'utf8'));
  ensure(found, `${file}: no data`);
  return JSON.parse(found[1]);
}

export function unpack({ type, shape, data }) {
  const bytes = Uint8Array.from(Buffer.from(data, 'base64'));
  const Kind = { f8: Float64Array, f4: Float32Array, u4: Uint32Array, u1: Uint8Array }[type];
  return { values: new Kind(bytes.buffer), rows: shape[0], width: shape[1] ?? 1 };
}

export const itemsAt = (page, t) =>
  page.evaluate((t) => {
    window.nonsmooth.pause();
    window.nonsmooth.seek(t);
    return window.nonsmooth.items();
  }, t);

export const contactsAt = (page, t) =>
  page.evaluate((t) => {
    window.nonsmooth.pause();
    window.nonsmooth.seek(t);
    return window.nonsmooth.contacts();
  }, t);

const QUATERNIONS = new Set(['sphere', 'box3', 'disc3']);

function near(found, expected, tolerance) {
  const size = Math.max(1, ...expected.filter(Number.isFinite).map(Math.abs));
  return found.length === expected.length && expected.every((v, k) => (Number.isNaN(v) ? Number.isNaN(found[k]) || found[k] === null : Math.abs(found[k] - v) <= tolerance * size));
}

export async function checkItems(page, t, expected, tolerance = 1e-6) {
  const list = Array.isArray(expected) ? expected : Object.entries(expected).map(([name, pose]) => ({ name, pose }));
  const items = await itemsAt(page, t);
  for (const { name, pose } of list) {
    const found = items.find((item) => item.name === name);
    ensure(found, `t = ${t}: no item ${name} is drawn, only ${items.map((item) => item.name).join(', ')}`);
    const other = QUATERNIONS.has(found.kind) ? pose.map((v, k) => (k >= 3 ? -v : v)) : pose;
    ensure(near(found.pose, pose, tolerance) || near(found.pose, other, tolerance), `t = ${t}: ${name} is drawn at ${found.pose}, expected ${pose}`);
  }
}

const COUNTS = { point: 2, spring: 4, circle: 3, ring: 3, box: 3, wall: 3, segment: 3, point3: 3, sphere: 7, box3: 7, disc3: 7, floor: 6 };

export async function checkPoses(page, data, frames) {
  if (!data.replay) return;
  const times = unpack(data.arrays[data.replay.time]);
  const poses = unpack(data.arrays[data.replay.poses]);
  const last = times.rows - 1;
  for (const frame of frames ?? [...new Set([0, last >> 2, last >> 1, last])]) {
    const expected = [];
    for (const item of data.replay.items) {
      const count = item.kind === 'line' ? 2 * item.points : item.kind === 'line3' ? 3 * item.points : COUNTS[item.kind];
      if (!count) continue;
      const from = frame * poses.width + item.first;
      expected.push({ name: item.name, pose: item.fixed ?? Array.from(poses.values.subarray(from, from + count)) });
    }
    await checkItems(page, times.values[frame], expected);
    const shown = await page.evaluate(() => window.nonsmooth.frame());
    ensure(shown === frame, `frame ${frame} is shown as frame ${shown}`);
    if (data.replay.contacts) await checkContacts(page, data, frame, times.values[frame]);
  }
}

async function checkContacts(page, data, frame, t) {
  const { start, which, point, state, names } = data.replay.contacts;
  const [starts, points, states, indices] = [start, point, state, which].map((name) => unpack(data.arrays[name]));
  const found = await contactsAt(page, t);
  const [from, to] = [starts.values[frame], starts.values[frame + 1]];
  ensure(found.length === to - from, `frame ${frame}: ${found.length} contacts are drawn, expected ${to - from}`);
  found.forEach((contact, i) => {
    const k = from + i;
    ensure(contact.name === names[indices.values[k]] && contact.state === states.values[k], `frame ${frame}: contact ${i} is ${contact.name}, state ${contact.state}`);
    ensure(near(contact.point, Array.from(points.values.subarray(k * points.width, (k + 1) * points.width)), 1e-6), `frame ${frame}: contact ${i} is at ${contact.point}`);
  });
}

const now = (page) => page.evaluate(() => window.nonsmooth.time());
const slider = (page) => page.locator('#time').evaluate((s) => Number(s.value) / Number(s.max));
const view = (page) => page.evaluate(() => window.nonsmooth.view());
const same = (a, b) => a.length === b.length && a.every((v, k) => Math.abs(v - b[k]) <= 1e-9 * Math.max(1, Math.abs(v)));
const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

export async function checkEventClick(page) {
  // The list follows the time a moment later; a row can be taken only once the rows at the start are there.
  await page.evaluate(() => window.nonsmooth.seek(-1e9));
  await page.locator('button.event[data-index="0"]').waitFor();
  await page.locator('.event-scroll').scrollIntoViewIfNeeded();
  const index = Math.min(2, (await page.locator('button.event').count()) - 1);
  const row = page.locator(`button.event[data-index="${index}"]`);
  const text = await row.locator('.event-time').textContent();
  await row.click();
  await settle(page);
  const t = await now(page);
  const [start, end] = await page.evaluate(() => {
    const { time, seek } = window.nonsmooth;
    const t = time();
    seek(-1e300);
    const start = time();
    seek(1e300);
    const end = time();
    seek(t);
    return [start, end];
  });
  ensure(Math.abs(t - Number(text.replace('−', '-'))) <= 1e-4 * Math.max(end - start, 1e-12), `event ${index}: time ${t}, but the row says ${text}`);
  await settle(page);
  ensure(end === start || Math.abs((await slider(page)) - (t - start) / (end - start)) < 1e-3, `event ${index}: the slider did not move to ${t}`);
}

const range = (page) =>
  page.evaluate(() => Object.fromEntries(Object.entries(window.nonsmooth.plots).map(([id, plot]) => [id, { min: plot.min, max: plot.max }])));

export async function checkZoom(page) {
  const before = await range(page);
  const over = page.locator('.u-over').first();
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + 0.3 * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.5 * box.width, y, { steps: 4 });
  await page.mouse.move(box.x + 0.6 * box.width, y, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  const after = await range(page);
  const ids = Object.keys(before);
  ensure(ids.length > 0, 'no plots');
  for (const id of ids) {
    const part = (after[id].max - after[id].min) / (before[id].max - before[id].min);
    ensure(Math.abs(part - 0.3) < 0.03, `plot ${id}: a drag over 0.3 of the width left ${part} of the range`);
  }
  const zoomed = after[ids[0]];
  await page.mouse.click(box.x + 0.5 * box.width, y);
  await settle(page);
  const middle = (zoomed.min + zoomed.max) / 2;
  ensure(Math.abs((await now(page)) - middle) < 0.02 * (zoomed.max - zoomed.min), `a click in the middle moved the time to ${await now(page)}, not to ${middle}`);
  // The wheel zooms once the plot was clicked.
  await page.mouse.wheel(0, -200);
  await settle(page);
  const closer = (await range(page))[ids[0]];
  ensure(closer.max - closer.min < zoomed.max - zoomed.min, 'the wheel did not zoom the plot');
  await page.keyboard.press('r');
  await settle(page);
  ensure(JSON.stringify(await range(page)) === JSON.stringify(before), 'r did not show the whole time again');
  await page.mouse.dblclick(box.x + 0.5 * box.width, y);
  await page.evaluate(() => document.activeElement?.blur());
}

export async function checkTheme(page) {
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const first = await theme();
  await page.click('#theme');
  ensure((await theme()) !== first, 'the button did not change the theme');
  await page.keyboard.press('t');
  ensure((await theme()) === first, 't did not change the theme');
  await settle(page);
}

export async function checkKeys(page) {
  const press = async (key) => {
    await page.keyboard.press(key);
    await settle(page);
  };
  const ask = (name) => page.evaluate((name) => window.nonsmooth[name](), name);
  const frames = await ask('frames');
  await press('Home');
  const start = await now(page);
  ensure((await ask('frame')) === 0, 'home did not go to the first frame');
  await press('End');
  const end = await now(page);
  if (frames > 20) {
    ensure(end > start, 'end did not go to the end');
    await press('Home');
    await press('ArrowRight');
    ensure((await ask('frame')) === 1, 'right did not go one frame forward');
    await press('Shift+ArrowRight');
    ensure((await ask('frame')) === 11, 'shift right did not go ten frames forward');
    await press('ArrowLeft');
    ensure((await ask('frame')) === 10, 'left did not go one frame back');
    await press('Shift+ArrowLeft');
    ensure((await ask('frame')) === 0, 'shift left did not go ten frames back');
    await press('Space');
    ensure(await ask('playing'), 'space did not play');
    await page.waitForFunction((start) => window.nonsmooth.time() > start, start);
    await press('Space');
    ensure(!(await ask('playing')), 'space did not pause');
  }
  const speed = () => page.locator('#speed').evaluate((s) => s.selectedIndex);
  const before = await speed();
  const [more, less] = before < 12 ? ['ArrowUp', 'ArrowDown'] : ['ArrowDown', 'ArrowUp'];
  await press(more);
  ensure((await speed()) !== before, `${more} did not change the speed`);
  await press(less);
  ensure((await speed()) === before, `${less} did not change the speed back`);
  const loop = () => page.locator('button[aria-label=Loop]').getAttribute('aria-pressed');
  await press('l');
  ensure((await loop()) === 'true', 'l did not switch the loop on');
  await press('l');
  ensure((await loop()) === 'false', 'l did not switch the loop off');
  if ((await page.locator('button.event').count()) > 0) {
    await press('Home');
    await press('n');
    const first = await now(page);
    await press('n');
    ensure((await now(page)) >= first, 'n did not go to the next event');
    await press('p');
    ensure((await now(page)) === first, 'p did not go back to the event before');
  }
  if (await page.locator('#arrows').count()) {
    await press('a');
    ensure(!(await page.locator('#arrows').isChecked()), 'a did not switch the arrows off');
    await press('a');
    ensure(await page.locator('#arrows').isChecked(), 'a did not switch the arrows on');
  }
  if ((await page.locator('canvas.stage').count()) && frames > 1) {
    const plain = await view(page);
    await press('+');
    const zoomed = await view(page);
    ensure(!same(plain, zoomed), '+ did not zoom the replay');
    await press('-');
    await press('-');
    ensure(!same(await view(page), zoomed) && !same(await view(page), plain), '- did not zoom the replay');
    await press('0');
    ensure(same(await view(page), plain), '0 did not show everything again');
  }
  await press('?');
  ensure(await page.locator('dialog.help').isVisible(), '? did not open the help');
  await press('Escape');
  ensure(!(await page.locator('dialog.help').isVisible()), 'escape did not close the help');
}

export async function checkLayout(page) {
  const wide = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (e) => e.closest('.scroll, pre, .choices, .event-scroll, .stage-holder, .tip, .u-over, svg') !== null;
    return [...document.querySelectorAll('#page *')]
      .filter((e) => !scrolls(e) && e.getBoundingClientRect().right > width + 1)
      .map((e) => `${e.tagName.toLowerCase()}.${e.className} ends at ${Math.round(e.getBoundingClientRect().right)} of ${width}`)
      .slice(0, 5);
  });
  ensure(wide.length === 0, `wider than the page: ${wide.join('; ')}`);
}

export async function checkGeneral(browser, file) {
  const data = reportData(file);
  const opened = await openReport(browser, file);
  const { page } = opened;
  const title = await page.locator('h1').textContent();
  ensure(title === (data.title || data.scene || 'nonsmooth'), `the title is ${title}`);
  await checkLayout(page);
  await checkTheme(page);
  if (data.kind === 'run') {
    await checkPoses(page, data);
    if ((data.events ?? []).length > 0) await checkEventClick(page);
    if ((await page.locator('.group .u-over').count()) > 0 && data.time.end > data.time.start) await checkZoom(page);
    await checkKeys(page);
  }
  await opened.close();
  const narrow = await openReport(browser, file, { width: 390, height: 844, dark: true });
  await checkLayout(narrow.page);
  await narrow.close();
}

/** Processor time in seconds, in which other work on the machine does not count: `thread`, of the page's main thread since this call;
 * `process`, of all of the page since its beginning. */
async function processorTime(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async (name) => (await session.send('Performance.getMetrics')).metrics.find((metric) => metric.name === name).value;
  return { thread: () => read('ThreadTime'), process: () => read('ProcessTime') };
}

/** The checks that need to know the sample. */
const SAMPLE_CHECKS = {
  async 'a mark of the timeline moves the time'(browser, file) {
    const { page, close } = await openReport(browser, file('ball'));
    const data = reportData(file('ball'));
    const wanted = data.events.find((e) => e.kind === 'impact' && e.contact === 'wall');
    const box = await page.locator('canvas.timeline').boundingBox();
    // Search the lane of impacts for the mark: a click on it hits the exact time of an event.
    const gutter = await page.evaluate(() => new DOMMatrix(getComputedStyle(document.querySelector('.timeline-holder .cursor')).transform).e);
    const x = gutter + (wanted.t / data.time.end) * (box.width - gutter - 10);
    await page.mouse.move(box.x + x, box.y + 10);
    ensure((await page.locator('.timeline-holder .tip').textContent()).includes('impact'), 'no text at the mark');
    await page.mouse.click(box.x + x, box.y + 10);
    await settle(page);
    const t = await now(page);
    ensure(data.events.some((e) => e.t === t && e.kind === 'impact'), `the click moved the time to ${t}, which is no impact`);
    ensure(Math.abs((await slider(page)) - t / data.time.end) < 1e-3, 'the slider did not move');
    await close();
  },
  async 'poses between frames are linear, quaternions take the short way'(browser, file) {
    const { page, close } = await openReport(browser, file('ball'));
    const [a, b, middle] = [await itemsAt(page, 0.5), await itemsAt(page, 0.51), await itemsAt(page, 0.505)];
    a.forEach((item, i) => item.pose.forEach((v, k) => ensure(Math.abs(middle[i].pose[k] - (v + b[i].pose[k]) / 2) < 1e-9, `${item.name} is not in the middle`)));
    await close();
    const disc = await openReport(browser, file('disc'));
    const [p, q, m] = [await itemsAt(disc.page, 0.5), await itemsAt(disc.page, 0.505), await itemsAt(disc.page, 0.5025)];
    const ball = (items) => items.find((item) => item.name === 'ball').pose.slice(3);
    const dot = (u, v) => Math.abs(u.reduce((sum, x, k) => sum + x * v[k], 0));
    ensure(dot(ball(p), ball(m)) > 0.9999 && dot(ball(q), ball(m)) > 0.9999, 'the ball turns the long way');
    ensure(Math.abs(dot(ball(m), ball(m)) - 1) < 1e-9, 'the quaternion is not normalised');
    await disc.close();
  },
  async 'playing goes through the run, stops at the end, and loops'(browser, file) {
    const { page, close } = await openReport(browser, file('ball'));
    await page.evaluate(() => {
      window.nonsmooth.seek(2.95);
      window.nonsmooth.play();
    });
    await page.waitForFunction(() => !window.nonsmooth.playing());
    ensure((await now(page)) === 3, 'it did not stop at the end');
    await page.keyboard.press('l');
    await page.evaluate(() => {
      window.nonsmooth.seek(2.95);
      window.nonsmooth.play();
    });
    await page.waitForFunction(() => window.nonsmooth.time() < 1);
    await close();
  },
  async 'the replay moves with a drag, zooms with the wheel, shows everything after a double click'(browser, file) {
    for (const sample of ['ball', 'disc']) {
      const { page, close } = await openReport(browser, file(sample));
      const box = await page.locator('.stage-holder').boundingBox();
      const [x, y] = [box.x + 20, box.y + 20];
      const plain = await view(page);
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x + 60, y + 30, { steps: 3 });
      await page.mouse.up();
      await settle(page);
      const dragged = await view(page);
      ensure(!same(dragged, plain), `${sample}: a drag changed nothing`);
      await page.mouse.wheel(0, -300);
      await settle(page);
      ensure(!same(await view(page), dragged), `${sample}: the wheel changed nothing`);
      await page.mouse.dblclick(x, y);
      await settle(page);
      ensure(same(await view(page), plain), `${sample}: a double click did not show everything`);
      await close();
    }
  },
  async 'hover tells the name of an item'(browser, file) {
    for (const sample of ['ball', 'disc']) {
      const { page, close } = await openReport(browser, file(sample));
      const box = await page.locator('.stage-holder').boundingBox();
      const names = new Set();
      for (let i = 1; i < 24; i++) {
        for (let k = 1; k < 16; k++) {
          await page.mouse.move(box.x + (i * box.width) / 24, box.y + (k * box.height) / 16);
          const text = await page.locator('.stage-holder .tip').evaluate((tip) => (tip.hidden ? null : tip.textContent));
          if (text) names.add(text);
        }
      }
      const wanted = sample === 'ball' ? ['ball', 'bob', 'plate'] : ['disc', 'block'];
      for (const name of wanted) ensure(names.has(name), `${sample}: the pointer never found ${name}, only ${[...names]}`);
      await close();
    }
  },
  async 'a press on an event counts although the list is drawn again before the release'(browser, file) {
    const { page, close } = await openReport(browser, file('pile'));
    const data = reportData(file('pile'));
    const first = page.locator('button.event[data-index="0"]');
    await first.hover();
    await page.mouse.down();
    // The next rows become the current one: the list is drawn again.
    const { t } = data.events[3];
    await page.evaluate((t) => window.nonsmooth.seek(t), t);
    await page.waitForFunction(() => document.querySelector('button.event.current') !== null);
    await page.mouse.up();
    await settle(page);
    ensure((await now(page)) === data.events[0].t, `the time is ${await now(page)}, not that of the event, ${data.events[0].t}`);
    await close();
  },
  async 'the keyboard walks through the events'(browser, file) {
    const { page, close } = await openReport(browser, file('pile'));
    const data = reportData(file('pile'));
    await page.locator('button.event[data-index="0"]').focus();
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-index'));
    for (let i = 0; i < 3; i++) {
      await page.keyboard.press('Enter');
      await settle(page);
      ensure((await now(page)) === data.events[i].t, `event ${i}: the time is ${await now(page)}`);
      await page.keyboard.press('Tab');
      ensure((await focused()) === String(i + 1), `after event ${i} the keyboard is at ${await focused()}`);
    }
    await close();
  },
  async 'a group of very many series has a chooser'(browser, file) {
    const { page, close } = await openReport(browser, file('pile'));
    const sub = page.locator('#plot-coordinates .subplot').first();
    ensure((await sub.locator('.series').count()) === 6, 'not six series at the start');
    await sub.locator('summary').click();
    await sub.locator('input[type=search]').fill('disc_777.y');
    await sub.locator('.choice input').check();
    ensure((await sub.locator('.series').count()) === 7, 'the chosen series is not in the legend');
    await close();
  },
  async 'the worst step is marked and a click goes there'(browser, file) {
    const { page, close } = await openReport(browser, file('ball'));
    const data = reportData(file('ball'));
    const label = page.locator('#plot-certificate .worst-label').first();
    await label.scrollIntoViewIfNeeded();
    await label.click();
    ensure((await now(page)) === data.worst_at.residual, 'the label did not move the time');
    await close();
  },
  async 'a thousand discs are drawn fast'(browser, file) {
    const { page, close } = await openReport(browser, file('pile'), { width: 1920, height: 1080 });
    const spent = await processorTime(page);
    await page.evaluate(() => {
      for (let i = 0; i < 50; i++) window.nonsmooth.seek(0.013 * i);
    });
    const millis = (1e3 * (await spent.thread())) / 50;
    console.log(`    ${millis.toFixed(1)} ms for the script's part of a frame`);
    ensure(millis > 0.01 && millis < 16, `a frame takes ${millis} ms`);
    await close();
  },
  async 'thirty megabytes are usable after three seconds of work'(browser, file) {
    const data = reportData(file('large'));
    const { page, millis, close } = await openReport(browser, file('large'));
    const seconds = await (await processorTime(page)).process();
    console.log(`    ${(1e3 * seconds).toFixed(0)} ms of work, ${millis.toFixed(0)} ms, for ${(readFileSync(file('large')).length / 1e6).toFixed(0)} MB`);
    ensure(seconds > 0.1 && seconds < 3, `it took ${seconds} s`);
    await checkPoses(page, data, [17]);
    await close();
  },
  async 'hostile text stays text'(browser, file) {
    const hostile = '</script><img src=x onerror=alert(1)>';
    for (const name of ['bare', 'single']) {
      const { page, close } = await openReport(browser, file(name));
      ensure((await page.locator('img').count()) === 0, 'an element was made of data');
      if (name === 'bare') {
        ensure((await page.locator('h1').textContent()) === hostile, 'the title is not shown as text');
        ensure((await page.title()).startsWith(hostile), 'the title of the window');
      } else {
        ensure((await page.locator('.banner.bad').textContent()).includes(hostile), 'the reason is not shown');
      }
      await close();
    }
  },
  async 'an unknown format and no data are told'(browser, file) {
    const { page, close } = await openReport(browser, file('unknown'));
    ensure((await page.locator('.problem').textContent()).includes('format 99'), 'no sentence about the format');
    await close();
    const empty = await openReport(browser, fileURLToPath(new URL('../dist/template.html', import.meta.url)));
    ensure((await empty.page.locator('.problem').textContent()).includes('no data'), 'no sentence about missing data');
    await empty.close();
  },
  async 'a comparison: norms, quantities, zoom'(browser, file) {
    const { page, close } = await openReport(browser, file('compare'));
    const span = () => page.evaluate(() => window.nonsmooth.plots.step.span());
    const first = await span();
    ensure(first.x.min < 1e-4 && first.x.max > 1e-2, `the steps are not all shown: ${JSON.stringify(first)}`);
    await page.click('button[data-quantity=u]');
    await page.click('button[data-norm=sup]');
    await settle(page);
    const other = await span();
    ensure(other.y.max > first.y.max, 'another quantity did not change the diagram');
    const over = page.locator('.u-over').first();
    const box = await over.boundingBox();
    await page.mouse.move(box.x + 0.2 * box.width, box.y + 0.2 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.6 * box.height, { steps: 5 });
    await page.mouse.up();
    await settle(page);
    const zoomed = await span();
    ensure(zoomed.x.min > other.x.min && zoomed.x.max < other.x.max && zoomed.y.max < other.y.max, 'a drag did not zoom');
    await page.keyboard.press('r');
    await settle(page);
    ensure(JSON.stringify(await span()) === JSON.stringify(other), 'r did not reset');
    await close();
  },
};

async function main(files) {
  const browser = await launch();
  let failed = 0;
  const run = async (name, check) => {
    const before = Date.now();
    try {
      await check();
      console.log(`ok   ${name} (${Date.now() - before} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAIL ${name}\n     ${error.message}`);
    }
  };
  const sample = (name) => {
    const path = fileURLToPath(new URL(`../sample/out/${name}.html`, import.meta.url));
    ensure(existsSync(path), `${path} is missing: npm run sample makes it`);
    return path;
  };
  if (files.length > 0) {
    for (const file of files) await run(file, () => checkGeneral(browser, file));
  } else {
    for (const name of ['ball', 'disc', 'pile', 'compare', 'bare', 'single']) await run(`sample ${name}`, () => checkGeneral(browser, sample(name)));
    for (const [name, check] of Object.entries(SAMPLE_CHECKS)) await run(name, () => check(browser, sample));
  }
  await browser.close();
  if (failed > 0) {
    console.log(`${failed} failed`);
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  main(process.argv.slice(2)).catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
