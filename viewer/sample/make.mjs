// Synthetic reports for development and tests: sample/out/NAME.html and NAME.json. Not physics, only shapes of data.
import { mkdirSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { fill, pack, random } from './pack.mjs';

const common = (title, scene) => ({
  kind: 'run',
  format: 1,
  title,
  scene,
  version: '0.1.0',
  command: `nonsmooth run ${scene} --scheme moreau-jean --set scheme.theta=0.5 --out ${scene}-run`,
  scene_text: `title = "${title}"\n\n[model]\ncoordinates = ["x", "y"]        # m\nmass = ["m", "m"]               # kg\n\n[parameters]\nm = 2\ng = 9.81\n\n[time]\nstep = 1e-3\nend = 2\n`,
  overrides: ['scheme.theta=0.5'],
  scheme: { name: 'moreau-jean', options: [{ name: 'theta', value: '0.5' }, { name: 'force', value: 'midpoint' }] },
  solver: { name: 'auto', options: [{ name: 'tolerance', value: '1e-12' }, { name: 'iterations', value: '1000' }] },
  warnings: [],
  notes: [],
  events: [],
  events_unlisted: 0,
});

const result = (scene, more) => ({
  status: 'done',
  stopped: null,
  scene,
  scheme: 'moreau-jean',
  step: 1e-3,
  t: 3,
  coordinates: ['x', 'y'],
  q: [1.2345678901, 0.1],
  u: [0.41, -1e-17],
  at: [],
  worst: { penetration: 3.854430685571505e-5, gap_velocity: 1.3877787807814457e-16, joint_violation: 0, cone: 0, residual: 4.089107710668017e-13, energy_closure: 1.1176619167574752e-14, multiplier: 0 },
  energy: {
    initial: 19.62,
    final: 1.962,
    max: 19.62,
    ledger: { 'contact.friction': -3.2713, 'contact.normal': -14.3867, drive: 0, elements: 0, 'force.gravity': 0, joints: 0, 'numerical.quadrature': -9.55e-18, 'numerical.theta': 0 },
  },
  work: { steps: 3000, rejected: 0, scheme_calls: 3000, solves: 3000, iterations: 1711, newton_max: 1, newton_avg: 1, stages: [{ newton_max: 1, newton_avg: 1 }], retries: 0, index_set_max: 1, contacts_avg: 0.6711, pivots: 0, wall_seconds: 0.016986038 },
  percussions: { floor: { normal: 29.43, tangential: [-3.05] }, wall: { normal: 0.41, tangential: [0.002] } },
  warnings: [],
  ...more,
});

/** A ball that bounces along a floor, to a wall, with a pendulum and a spring beside it. */
export function ball() {
  const [steps, dt, r, g, e, mu] = [3000, 1e-3, 0.1, 9.81, 0.75, 0.25];
  let [x, y, phi, u, v, w] = [0.15, 1, 0, 0.9, 0, -6];
  const report = common('Bouncing ball with spin', 'bouncing_ball');
  const rows = [];
  const events = [];
  let closed = false;
  let work = [0, 0];
  const energy = () => 0.5 * 2 * (u * u + v * v) + 0.5 * 0.008 * w * w + 2 * g * y;
  const frames = [];
  const contacts = { start: [0], which: [], point: [], arrow: [], state: [], gap: [], impact: [] };
  let waiting = [];
  for (let i = 0; i <= steps; i++) {
    const t = i * dt;
    if (i > 0) {
      v -= g * dt;
      x += u * dt;
      y += v * dt;
      phi += w * dt;
      let pn = 0;
      let pt = 0;
      if (y < r && v < 0) {
        const before = energy();
        const impact = v < -0.12;
        pn = -2 * v * (1 + (impact ? e : 0));
        const slip = u + w * r;
        pt = -Math.sign(slip) * Math.min(mu * pn, Math.abs(slip) * 0.5);
        const sticking = Math.abs(slip) * 0.5 < mu * pn;
        v += pn / 2;
        if (!impact) y = r;
        const middle = energy();
        u += pt / 2;
        w += (pt * r) / 0.008 / 4;
        work = [work[0] + middle - before, work[1] + energy() - middle];
        waiting.push({ which: 0, point: [x, 0], arrow: [pt, pn], state: sticking ? 1 : 2, gap: y - r, impact: impact ? 1 : 0 });
        if (impact) events.push({ t, kind: 'impact', contact: 'floor', detail: null });
        if (!closed) events.push({ t, kind: 'close', contact: 'floor', detail: null }, { t, kind: sticking ? 'stick' : 'slip', contact: 'floor', detail: impact ? null : 'slip to stick' });
        closed = true;
      } else if (closed && y > r + 1e-4) {
        closed = false;
        events.push({ t, kind: 'open', contact: 'floor', detail: null });
      }
      if (x > 1.9 && u > 0) {
        waiting.push({ which: 1, point: [2, y], arrow: [-2 * u * 1.5, 0], state: 3, gap: 0, impact: 1 });
        u *= -0.5;
        events.push({ t, kind: 'impact', contact: 'wall', detail: null });
      }
    }
    const angle = 0.6 * Math.cos(3.1 * t);
    rows.push([t, x, y, phi, u, v, w, y - r, waiting.length ? NaN : 0, energy(), work[0], work[1], 1e-14 * Math.sin(3 * t) * t, i % 7 ? 1e-13 * (1.5 + Math.sin(9 * t)) : 0, Math.max(0, r - y) + 1e-9, dt]);
    if (i % 10 === 0) {
      frames.push([t, x, y, phi, 0.55 + 0.35 * Math.sin(angle), 1.25 - 0.35 * Math.cos(angle), angle, 1.3 + 0.06 * Math.sin(8 * t)]);
      for (const c of waiting) {
        contacts.which.push(c.which);
        for (const key of ['point', 'arrow']) contacts[key].push(c[key]);
        for (const key of ['state', 'gap', 'impact']) contacts[key].push(c[key]);
      }
      contacts.start.push(contacts.which.length);
      waiting = [];
    }
  }
  // A pose for every moving item: ball, rod, bob, spring, load, bar.
  const poses = frames.map(([, x, y, phi, bx, by, a, s]) => [x, y, phi, 0.55, 1.25, bx, by, bx, by, a, 1.3, 1.45, 1.3, s - 0.2, 1.3, s - 0.25, 0, 1.7, 0.5, a]);
  const column = (k) => rows.map((row) => row[k]);
  const largest = Math.max(...contacts.arrow.map(([a, b]) => Math.hypot(a, b)));
  const worst = rows.reduce((best, row) => (row[13] > best[13] ? row : best));
  const deepest = rows.reduce((best, row) => (row[14] > best[14] ? row : best));
  return {
    ...report,
    result: result('bouncing_ball', { t: steps * dt }),
    worst_at: { residual: worst[0], penetration: deepest[0] },
    warnings: ['contact `floor` penetrates by 8.800e-7 m at the start and starts closed'],
    notes: ['Replay: 301 of 3001 steps.', 'Plots: every step.'],
    time: { start: 0, end: steps * dt },
    arrays: {
      frame_t: pack('f8', frames.map((f) => f[0])),
      poses: pack('f4', poses),
      contact_start: pack('u4', contacts.start),
      contact_which: pack('u4', contacts.which),
      contact_point: pack('f4', contacts.point, 2),
      contact_arrow: pack('f4', contacts.arrow, 2),
      contact_state: pack('u1', contacts.state),
      contact_gap: pack('f4', contacts.gap),
      contact_impact: pack('u1', contacts.impact),
      plot_t: pack('f8', column(0)),
      plot_q: pack('f8', rows.map((row) => row.slice(1, 4))),
      plot_u: pack('f8', rows.map((row) => row.slice(4, 7))),
      plot_gap: pack('f8', column(7)),
      plot_force: pack('f8', column(8)),
      plot_energy: pack('f8', rows.map((row) => [row[9] - 19.62 * row[2], 19.62 * row[2]])),
      ledger: pack('f8', rows.map((row) => [row[10], row[11], 0, row[9], row[12]])),
      certificate: pack('f8', rows.map((row) => [row[13], row[14]])),
      step: pack('f8', rows.map((row, i) => [row[15] * (1 + (Math.floor(i / 60) % 5) ** 2), 1 + (Math.floor(i / 300) % 4)])),
    },
    replay: {
      dimension: 2,
      time: 'frame_t',
      poses: 'poses',
      box: { min: [0, 0], max: [2, 1.5] },
      items: [
        { name: 'floor', kind: 'wall', colour: null, fixed: [0, 0, Math.PI / 2] },
        { name: 'wall', kind: 'wall', colour: null, fixed: [2, 0, Math.PI] },
        { name: 'drum', kind: 'ring', colour: null, radius: 0.22, fixed: [1.7, 1.15, 0.3] },
        { name: 'ball', kind: 'circle', colour: 0, radius: r, first: 0 },
        { name: 'rod', kind: 'line', colour: 4, points: 2, closed: false, first: 3 },
        { name: 'bob', kind: 'box', colour: 1, size: [0.16, 0.1], first: 7 },
        { name: 'spring', kind: 'spring', colour: 3, first: 10 },
        { name: 'load', kind: 'point', colour: 3, first: 14, label: 'load' },
        { name: 'bar', kind: 'segment', colour: 2, from: [-0.15, 0], to: [0.15, 0], thickness: 0.05, first: 17 },
        { name: 'plate', kind: 'line', colour: 6, points: 3, closed: true, fixed: [0.1, 1.2, 0.3, 1.2, 0.2, 1.4] },
      ],
      contacts: { start: 'contact_start', which: 'contact_which', names: ['floor', 'wall'], point: 'contact_point', arrow: 'contact_arrow', state: 'contact_state', gap: 'contact_gap', impact: 'contact_impact', largest },
    },
    plots: {
      time: 'plot_t',
      groups: [
        { title: 'Coordinates', id: 'coordinates', log: false, note: null, series: ['x', 'y', 'phi'].map((name, k) => ({ name, unit: k < 2 ? 'm' : 'rad', array: 'plot_q', column: k })) },
        { title: 'Velocities', id: 'velocities', log: false, note: null, series: ['x', 'y', 'phi'].map((name, k) => ({ name: `${name}'`, unit: k < 2 ? 'm/s' : 'rad/s', array: 'plot_u', column: k })) },
        { title: 'Gaps', id: 'gaps', log: false, note: null, series: [{ name: 'floor', unit: 'm', array: 'plot_gap', column: 0 }] },
        { title: 'Mean contact forces', id: 'forces', log: false, note: 'steps without impact', series: [{ name: 'floor', unit: 'N', array: 'plot_force', column: 0 }] },
        { title: 'Step size', id: 'step', log: true, note: null, series: [{ name: 'step', unit: 's', array: 'step', column: 0 }, { name: 'order', unit: '', array: 'step', column: 1 }] },
        { title: 'Energy', id: 'energy', log: false, note: null, series: [{ name: 'kinetic', unit: 'J', array: 'plot_energy', column: 0 }, { name: 'potential', unit: 'J', array: 'plot_energy', column: 1 }] },
        { title: 'Certificates of the steps', id: 'certificate', log: true, note: null, series: [{ name: 'residual', unit: '', array: 'certificate', column: 0 }, { name: 'penetration', unit: 'm', array: 'certificate', column: 1 }] },
      ],
      phase: ['x', 'y', 'phi'].map((name, k) => ({ name, x: { array: 'plot_q', column: k, unit: k < 2 ? 'm' : 'rad' }, y: { array: 'plot_u', column: k, unit: k < 2 ? 'm/s' : 'rad/s' } })),
    },
    ledger: {
      time: 'plot_t',
      series: [{ name: 'contact.normal', array: 'ledger', column: 0 }, { name: 'contact.friction', array: 'ledger', column: 1 }, { name: 'drive', array: 'ledger', column: 2 }],
      energy: { array: 'ledger', column: 3 },
      closure: { array: 'ledger', column: 4 },
    },
    events,
    events_unlisted: 12,
  };
}

const turned = (axis, angle) => {
  const [s, n] = [Math.sin(angle / 2), Math.hypot(...axis) || 1];
  return [Math.cos(angle / 2), ...axis.map((a) => (a / n) * s)];
};
const times = ([a, b, c, d], [e, f, g, h]) => [a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g, a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e];

/** A disc that rolls in a circle on a floor, with a ball, a box and a trace. */
export function disc() {
  const frames = 401;
  const [r, tilt, end] = [0.1, 0.5, 2];
  const rows = [];
  const contacts = [];
  for (let i = 0; i < frames; i++) {
    const t = (i * end) / (frames - 1);
    const way = 4 * t;
    const centre = [0.15 * Math.cos(way), 0.15 * Math.sin(way), r * Math.cos(tilt)];
    const attitude = times(times(turned([0, 0, 1], way), turned([0, 1, 0], Math.PI / 2 - tilt)), turned([0, 0, 1], -6 * t));
    const ground = [centre[0] + r * Math.sin(tilt) * Math.cos(way), centre[1] + r * Math.sin(tilt) * Math.sin(way), 0];
    const ball = [-0.25 + 0.2 * t, -0.2, 0.04 + Math.abs(0.12 * Math.cos(5 * t))];
    const sign = i % 2 ? -1 : 1; // the attitude is the same; the viewer must not turn the long way
    const flip = turned([1, 0, 0], 5 * t).map((q) => q * sign);
    rows.push([...centre, ...attitude, ...ball, ...flip, 0.25, 0.2, 0.05, ...turned([0, 0, 1], t), ...centre, 0, 0, 0.3, ...ground]);
    contacts.push({ point: ground, arrow: [0.002 * Math.cos(way), 0.002 * Math.sin(way), 0.01 + 0.004 * Math.sin(7 * t)], state: i % 100 < 60 ? 1 : 2 });
  }
  const tt = rows.map((_, i) => (i * end) / (frames - 1));
  return {
    ...common('Tippedisk: tumbling disc on a floor', 'tippedisk'),
    result: result('tippedisk', { t: 2, status: 'stopped', stopped: 'step 1421 at t = 1.421 s: the one-step problem was not solved (residual 3.1e-4 after 1000 iterations)' }),
    worst_at: { residual: 1.421, penetration: null },
    time: { start: 0, end },
    arrays: {
      frame_t: pack('f8', tt),
      poses: pack('f4', rows),
      contact_start: pack('u4', [...rows.keys(), rows.length]),
      contact_which: pack('u4', rows.map(() => 0)),
      contact_point: pack('f4', contacts.map((c) => c.point)),
      contact_arrow: pack('f4', contacts.map((c) => c.arrow)),
      contact_state: pack('u1', contacts.map((c) => c.state)),
      contact_impact: pack('u1', contacts.map(() => 0)),
      plot_q: pack('f8', rows.map((row) => row.slice(0, 7))),
    },
    replay: {
      dimension: 3,
      time: 'frame_t',
      poses: 'poses',
      box: { min: [-0.3, -0.25, 0], max: [0.35, 0.25, 0.25] },
      items: [
        { name: 'table', kind: 'floor', colour: null, fixed: [0, 0, 0, 0, 0, 1] },
        { name: 'disc', kind: 'disc3', colour: 0, radius: r, thickness: 0.012, first: 0 },
        { name: 'ball', kind: 'sphere', colour: 1, radius: 0.04, first: 7 },
        { name: 'block', kind: 'box3', colour: 2, size: [0.12, 0.08, 0.1], first: 14 },
        { name: 'axis', kind: 'line3', colour: 5, points: 2, first: 21 },
        { name: 'foot', kind: 'point3', colour: 3, first: 27 },
      ],
      contacts: { start: 'contact_start', which: 'contact_which', names: ['table'], point: 'contact_point', arrow: 'contact_arrow', state: 'contact_state', gap: null, impact: 'contact_impact', largest: 0.0143 },
    },
    plots: {
      time: 'frame_t',
      groups: [{ title: 'Coordinates', id: 'coordinates', log: false, note: null, series: ['x', 'y', 'z', 'e0', 'e1', 'e2', 'e3'].map((name, k) => ({ name, unit: k < 3 ? 'm' : '', array: 'plot_q', column: k })) }],
      phase: [],
    },
    ledger: null,
    events: [{ t: 0.3, kind: 'slip', contact: 'table', detail: 'stick to slip' }, { t: 0.5, kind: 'stick', contact: 'table', detail: null }, { t: 1.421, kind: 'law', contact: 'table', detail: 'sphere spinning' }],
  };
}

/** A thousand discs, many series, thousands of events. */
export function pile(discs = 1000, frames = 400) {
  const next = random(7);
  const home = Array.from({ length: discs }, (_, i) => [(i % 40) * 0.05 - 1 + 0.01 * next(), 0.03 + Math.floor(i / 40) * 0.05, next() * 6]);
  const tt = Array.from({ length: frames }, (_, i) => i * 0.01);
  const poses = tt.map((t) => home.flatMap(([x, y, a]) => [x + 0.01 * Math.sin(3 * t + a), y + 0.8 * Math.max(0, 1 - t / 2) ** 2, a + 2 * t * Math.cos(a)]));
  const which = [];
  const point = [];
  const arrow = [];
  const start = [0];
  for (let f = 0; f < frames; f++) {
    for (let i = 0; i < Math.min(discs, 300); i++) {
      which.push(i);
      point.push([home[i][0] + 0.025, home[i][1]]);
      arrow.push([0.001 * Math.sin(i), 0.004 * (1 + Math.sin(i + f / 9))]);
    }
    start.push(which.length);
  }
  const events = Array.from({ length: 20000 }, (_, i) => ({ t: Math.sqrt(i / 20000) * 4 * (frames / 400), kind: ['impact', 'close', 'open', 'stick', 'slip'][Math.floor(next() * 5)], contact: `disc_${Math.floor(next() * discs)} floor`, detail: null }));
  return {
    ...common('A thousand discs fall into a box', 'disc_pile'),
    result: result('disc_pile', { t: 4, coordinates: Array.from({ length: 300 }, (_, i) => `disc_${i}_x`), q: new Array(300).fill(0.5), u: new Array(300).fill(0) }),
    worst_at: { residual: 1, penetration: 2 },
    notes: ['Replay: 400 of 40000 steps.', 'Events: the first 20000 of 61234.'],
    time: { start: 0, end: tt[frames - 1] },
    arrays: {
      frame_t: pack('f8', tt),
      poses: pack('f4', poses),
      contact_start: pack('u4', start),
      contact_which: pack('u4', which),
      contact_point: pack('f4', point),
      contact_arrow: pack('f4', arrow),
      contact_state: pack('u1', which.map((i) => 1 + (i % 3))),
      contact_impact: pack('u1', which.map((i) => (i % 50 === 0 ? 1 : 0))),
    },
    replay: {
      dimension: 2,
      time: 'frame_t',
      poses: 'poses',
      box: { min: [-1.05, 0], max: [1.05, 2.1] },
      items: [
        { name: 'floor', kind: 'wall', colour: null, fixed: [0, 0, Math.PI / 2] },
        { name: 'left', kind: 'wall', colour: null, fixed: [-1.05, 0, 0] },
        { name: 'right', kind: 'wall', colour: null, fixed: [1.05, 0, Math.PI] },
        ...home.map((_, i) => ({ name: `disc_${i}`, kind: 'circle', colour: i % 8, radius: 0.022, first: 3 * i })),
      ],
      contacts: { start: 'contact_start', which: 'contact_which', names: home.map((_, i) => `disc_${i} floor`), point: 'contact_point', arrow: 'contact_arrow', state: 'contact_state', gap: null, impact: 'contact_impact', largest: 0.008 },
    },
    plots: {
      time: 'frame_t',
      groups: [{ title: 'Coordinates', id: 'coordinates', log: false, note: 'shown: 3000 of 3000', series: home.flatMap((_, i) => ['x', 'y', 'phi'].map((k, c) => ({ name: `disc_${i}.${k}`, unit: c < 2 ? 'm' : 'rad', array: 'poses', column: 3 * i + c }))) }],
      phase: home.slice(0, 12).map((_, i) => ({ name: `disc_${i}.x`, x: { array: 'poses', column: 3 * i, unit: 'm' }, y: { array: 'poses', column: 3 * i + 1, unit: 'm' } })),
    },
    ledger: null,
    events,
    events_unlisted: 41234,
  };
}

export function compare() {
  const schemes = [['moreau-jean', 'theta=0.5', 1, 0.8, 1], ['rattle', '', 2, 0.5, 2.5], ['tdg-plus', 'M=3', 4, 2, 6], ['augmented', 'order=2', 2, 0.05, 4], ['schatzman-paoli', '', 1, 2.2, 0.9]];
  const rows = [];
  for (const [scheme, options, order, factor, cost] of schemes) {
    for (const step of [1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4]) {
      const failed = scheme === 'rattle' && step === 1e-2;
      const error = (scale) => (failed ? null : scale * factor * (step * 10) ** order * (1 + 0.2 * Math.sin(step * 3e4)));
      const norms = (scale, last) => ({ l1: error(scale), l2: error(1.3 * scale), sup: error(last * scale), graph: scheme === 'schatzman-paoli' ? null : error(1.1 * scale) });
      rows.push({ scheme, options, label: options ? `${scheme} ${options}` : scheme, step, calls: Math.round((cost * 2) / step), seconds: (cost * 2e-6) / step, errors: { q: norms(0.01, 2), u: norms(0.2, 9) }, status: failed ? 'stopped: not solved' : 'done' });
    }
  }
  return {
    kind: 'compare',
    format: 1,
    title: 'Bouncing ball: orders of schemes',
    scene: 'bouncing_ball',
    version: '0.1.0',
    command: 'nonsmooth compare bouncing_ball --schemes all --steps 1e-2,1e-3,1e-4 --out orders',
    scene_text: 'title = "Bouncing ball"\n',
    reference: 'closed form',
    notes: ['schatzman-paoli has no velocity at the end of a step: no graph distance.'],
    rows,
    orders: schemes.map(([scheme, options, order]) => ({ scheme, label: options ? `${scheme} ${options}` : scheme, q: order + 0.01, q_uncertainty: 0.02, u: order - 0.03, u_uncertainty: scheme === 'rattle' ? null : 0.05 })),
  };
}

const HOSTILE = '</script><img src=x onerror=alert(1)>';

/** Everything that may be missing is missing. */
export function bare() {
  return { kind: 'run', format: 1, title: HOSTILE, scene: HOSTILE, version: '0', command: HOSTILE, scene_text: HOSTILE, result: { status: 'interrupted' }, arrays: {}, replay: null, plots: null, ledger: null, events: [], time: { start: 0, end: 0 }, warnings: [HOSTILE], notes: [HOSTILE] };
}

/** One frame, zero length, NaN. */
export function single() {
  return {
    ...common('One frame', 'single'),
    result: result('single', { status: 'stopped', stopped: HOSTILE, t: 0 }),
    time: { start: 0, end: 0 },
    arrays: { frame_t: pack('f8', [0]), poses: pack('f4', [[NaN, 1, 0, 0.5, 0.5]]), plot_t: pack('f8', [0]), plot_q: pack('f8', [[NaN, NaN, 3]]) },
    replay: { dimension: 2, time: 'frame_t', poses: 'poses', box: { min: [0, 0], max: [0, 0] }, items: [{ name: 'lost', kind: 'circle', colour: 0, radius: 0.1, first: 0 }, { name: 'here', kind: 'point', colour: 1, first: 3 }, { name: 'odd', kind: 'unknown', colour: 1, first: 0 }], contacts: null },
    plots: { time: 'plot_t', groups: [{ title: 'Coordinates', id: 'coordinates', series: [0, 1, 2].map((k) => ({ name: `q${k}`, unit: 'm', array: 'plot_q', column: k })) }, { title: 'Certificates', id: 'certificate', log: true, series: [{ name: 'residual', unit: '', array: 'plot_q', column: 0 }, { name: 'missing', unit: '', array: 'nothing', column: 0 }] }], phase: [{ name: 'q0', x: { array: 'plot_q', column: 0 }, y: { array: 'plot_q', column: 9 } }] },
    ledger: { time: 'plot_t', series: [], energy: null, closure: { array: 'plot_q', column: 1 } },
    events: [{ t: 0, kind: HOSTILE, contact: HOSTILE, detail: HOSTILE }],
  };
}

export const SAMPLES = {
  ball,
  disc,
  pile,
  compare,
  bare,
  single,
  unknown: () => ({ kind: 'run', format: 99, title: 'from the future' }),
  large: () => pile(1800, 750),
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const out = new URL('./out/', import.meta.url);
  mkdirSync(out, { recursive: true });
  const wanted = process.argv.slice(2);
  for (const [name, make] of Object.entries(SAMPLES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const data = make();
    const page = fill(data);
    writeFileSync(new URL(`${name}.html`, out), page);
    writeFileSync(new URL(`${name}.json`, out), JSON.stringify(data));
    console.log(`sample/out/${name}.html: ${(page.length / 1e6).toFixed(1)} MB`);
  }
}
