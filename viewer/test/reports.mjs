// Reports that the engine really makes, in a real browser: node test/reports.mjs NONSMOOTH [SCENE ...]
//
// Runs scenes with the command NONSMOOTH, opens their reports from disk, and compares what is drawn at some times with poses that are
// computed here, by hand, from the coordinates in trajectory.npz. Then a page of a comparison, and a scene whose title is hostile.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { checkGeneral, checkItems, launch, openReport, reportData, unpack } from './browser.mjs';

const [command, ...wanted] = process.argv.slice(2);
if (command === undefined) throw new Error('usage: node test/reports.mjs NONSMOOTH [SCENE ...]');
const program = resolve(command);
const folder = mkdtempSync(join(tmpdir(), 'reports-'));

// Column 1 of the rotation by a unit quaternion.
const first = ([w, x, y, z]) => [w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y)];

// For every scene: what is given to the command, the largest report (MB), and poses of some items at a time, of the coordinates by name
// (q), and the parameters (p).
const scenes = {
  woodpecker: {
    limit: 3,
    poses: (q, p) => {
      const [x, y] = [p.l_m + p.l_g, q.y + p.l_m * q.phi_m + p.l_g * q.phi_s];
      const beak = [x - p.l_s - p.h_s * q.phi_s, y + p.h_s - p.l_s * q.phi_s];
      return {
        sleeve: [0, q.y, q.phi_m],
        body: [x, y, q.phi_s],
        neck: [x, y, x - p.l_s / 2 - p.h_s * q.phi_s, y + p.h_s - (p.l_s / 2) * q.phi_s, ...beak],
      };
    },
  },
  slider_crank: {
    limit: 3,
    poses: (q, p) => {
      const joint = [p.l_1 * Math.cos(q.theta1), p.l_1 * Math.sin(q.theta1)];
      const pin = [joint[0] + p.l_2 * Math.cos(q.theta2), joint[1] + p.l_2 * Math.sin(q.theta2)];
      return { crank: [0, 0, ...joint], rod: [...joint, ...pin], slider: [...pin, q.theta3] };
    },
  },
  tippedisk: {
    limit: 3,
    poses: (q, p) => {
      const turned = [q.p0, q.p1, q.p2, q.p3];
      const centre = first(turned).map((a, i) => [q.x, q.y, q.z][i] - p.e * a);
      return { mass: [q.x, q.y, q.z], disk: [...centre, ...turned] };
    },
  },
  impacting_bar: {
    limit: 3,
    // Both ends of the bar; the points between are checked against the report's own arrays.
    ends: (q, p, names) => [q[names[0]], p.length + q[names[names.length - 1]]],
  },
  mixing_disks: {
    arguments: ['--end', '0.05'],
    limit: 30,
    poses: (q, _, names) => {
      const discs = names.filter((name) => /^disc_\d+_x$/.test(name)).map((name) => name.slice(0, -2));
      return Object.fromEntries(discs.map((d) => [d, [q[`${d}_x`], q[`${d}_y`], q[`${d}_phi`]]]));
    },
  },
};

function ensure(condition, text) {
  if (!condition) throw new Error(text);
}

// Arrays of doubles of an archive without compression.
function readNpz(file) {
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let at = bytes.readUInt32LE(end + 16);
  const arrays = {};
  for (let i = bytes.readUInt16LE(end + 10); i > 0; i--) {
    const [size, name, extra, local] = [bytes.readUInt32LE(at + 24), bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30), bytes.readUInt32LE(at + 42)];
    const key = bytes.toString('utf8', at + 46, at + 46 + name).replace(/\.npy$/, '');
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const header = bytes.readUInt16LE(start + 8);
    const text = bytes.toString('latin1', start + 10, start + 10 + header);
    if (text.includes("'<f8'")) {
      const body = bytes.subarray(start + 10 + header, start + size);
      arrays[key] = new Float64Array(body.buffer.slice(body.byteOffset, body.byteOffset + body.length));
    }
    at += 46 + name + extra + bytes.readUInt16LE(at + 32);
  }
  return arrays;
}

function run(...args) {
  execFileSync(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], timeout: 300000 });
}

// What is drawn against the trajectory, at times of frames spread over the run.
async function checkTrajectory(browser, directory, scene) {
  const meta = JSON.parse(readFileSync(join(directory, 'meta.json'), 'utf8'));
  const { t, q } = readNpz(join(directory, 'trajectory.npz'));
  const { page, millis, close } = await openReport(browser, join(directory, 'report.html'));
  const data = reportData(join(directory, 'report.html'));
  const frames = unpack(data.arrays[data.replay.time]).values;
  const names = meta.coordinates;
  let compared = 0;
  for (const share of [0, 0.21, 0.5, 0.83, 1]) {
    // Every frame is a row of the trajectory.
    const at = frames[Math.round(share * (frames.length - 1))];
    const there = t.indexOf(at);
    ensure(there >= 0, `the frame at ${at} s is no row of the trajectory`);
    const now = Object.fromEntries(names.map((name, i) => [name, q[there * names.length + i]]));
    if (scene.poses) {
      // Poses are single precision.
      const poses = scene.poses(now, meta.parameters, names);
      await checkItems(page, at, poses, 1e-6);
      compared += Object.keys(poses).length;
    }
    if (scene.ends) {
      await page.evaluate((x) => window.nonsmooth.seek(x), at);
      const bar = await page.evaluate(() => window.nonsmooth.items().find((i) => i.name === 'bar').pose);
      const [from, to] = scene.ends(now, meta.parameters, names);
      ensure(Math.abs(bar[0] - from) <= 1e-7 && Math.abs(bar[bar.length - 2] - to) <= 1e-6, `bar from ${bar[0]} to ${bar[bar.length - 2]}, expected ${from}, ${to}`);
      compared += 1;
    }
  }
  await close();
  return { compared, millis };
}

const browser = await launch();
let failed = 0;
async function attempt(name, check) {
  try {
    console.log(`ok   ${name}: ${await check()}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}: ${error.stack}`);
  }
}

for (const [name, scene] of Object.entries(scenes)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  await attempt(name, async () => {
    run('run', name, ...(scene.arguments ?? []), '--out', name);
    const file = join(folder, name, 'report.html');
    const megabytes = statSync(file).size / 1e6;
    ensure(megabytes <= scene.limit, `${megabytes} MB, more than ${scene.limit}`);
    const { compared, millis } = await checkTrajectory(browser, join(folder, name), scene);
    await checkGeneral(browser, file);
    return `${megabytes.toFixed(2)} MB, usable after ${millis.toFixed(0)} ms, ${compared} poses as in the trajectory`;
  });
}

if (wanted.length === 0) {
  await attempt('comparison', async () => {
    run('compare', 'bouncing_ball', '--schemes', 'moreau-jean,rattle', '--steps', '0.01,0.005,0.0025', '--out', 'compared');
    await checkGeneral(browser, join(folder, 'compared', 'compare.html'));
    return 'opens, zooms';
  });

  // A report shows what was watched, and nothing of the rest: with contacts of a scene and with contacts that detection found.
  const parts = { events: '#events', certificate: '#certificates', energy: '#energy' };
  for (const [scene, end] of [['woodpecker', '0.3'], ['mixing_disks', '0.1']]) {
    for (const watch of ['none', 'events', 'certificate,energy', 'percussions', 'all']) {
      await attempt(`${scene} --watch ${watch}`, async () => {
        const name = `${scene}-${watch}`;
        run('run', scene, '--end', end, '--watch', watch, '--out', name);
        const file = join(folder, name, 'report.html');
        const { page, close } = await openReport(browser, file);
        const text = await page.evaluate(() => document.body.innerText);
        for (const word of ['NaN', 'undefined', 'null', 'none']) {
          // The command, the changes and the options of the scheme may say none.
          const said = text.split('\n').filter((line) => new RegExp(`\\b${word}\\b`).test(line) && !/watch|stabilise/.test(line));
          ensure(said.length === 0, `the page says ${word}: ${said.join(' | ')}`);
        }
        const shown = [];
        for (const [part, selector] of Object.entries(parts)) {
          const there = (await page.locator(selector).count()) > 0;
          const wanted = watch === 'all' || watch.split(',').includes(part);
          ensure(there === wanted, `${part}: ${there ? 'shown' : 'not shown'}`);
          if (there) shown.push(part);
        }
        ensure((watch !== 'all') === text.includes('Not watched: '), 'the notes do not say what was not watched');
        await close();
        await checkGeneral(browser, file);
        return `shows ${shown.join(', ') || 'the motion alone'}`;
      });
    }
  }

  await attempt('hostile title', async () => {
    const title = '</script><img src=x onerror=alert(1)>';
    const text = execFileSync(program, ['show', 'bouncing_ball'], { encoding: 'utf8' });
    writeFileSync(join(folder, 'hostile.toml'), text.replace(/^title = .*$/m, `title = '${title}'`));
    run('run', 'hostile.toml', '--out', 'hostile');
    const file = join(folder, 'hostile', 'report.html');
    ensure(!readFileSync(file, 'utf8').includes('<img'), 'the title stands in the file as markup');
    const { page, close } = await openReport(browser, file);
    const shown = await page.evaluate(() => ({ head: document.querySelector('h1').textContent, images: document.images.length, scripts: document.scripts.length }));
    ensure(shown.head.includes(title) && shown.images === 0, `shown: ${JSON.stringify(shown)}`);
    await close();
    return 'shown as text, nothing runs';
  });
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
if (failed > 0) {
  console.log(`${failed} failed`);
  process.exit(1);
}
