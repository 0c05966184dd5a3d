// Pictures of all bundled examples, from real runs, for docs/gallery.md: node test/gallery.mjs NONSMOOTH
//
// Every scene is run as it is (large ones shorter), its report is opened, and the replay is taken at a time at which something happens. Also pictures of the whole page:
// light and dark, wide and narrow.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, openReport } from './browser.mjs';

const [command] = process.argv.slice(2);
if (command === undefined) throw new Error('usage: node test/gallery.mjs NONSMOOTH');
const program = resolve(command);
const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gallery-'));
mkdirSync(join(docs, 'gallery'), { recursive: true });

// Arguments of runs that would take long, and times (s) that show more than the middle of the run.
const shorter = { mixing_disks: ['--end', '1'], disc_pile: ['--set', 'parameters.number=100', '--set', 'parameters.width=0.4', '--end', '0.5'] };
const times = {
  woodpecker: 0.081, slider_crank: 0.012, slider_crank_joints: 0.012, impacting_bar: 2e-4, rocking_block: 0.19, falling_mass: 0.1195,
  bouncing_ball: 0.45, tippedisk: 1.2, mixing_disks: 1, disc_pile: 0.5, rotating_ball: 0.3,
};

const run = (...args) => execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
const examples = JSON.parse(run('list', 'examples', '--json'));
const names = (examples.examples ?? examples).map((e) => e.name);
const browser = await launch();
const entries = [];
for (const name of names) {
  const extra = shorter[name] ?? [];
  run('run', name, ...extra, '--out', name, '--force');
  const { page, close } = await openReport(browser, join(folder, name, 'report.html'), { width: 1240, height: 900 });
  const end = await page.evaluate(() => Number(document.querySelector('input[type=range]').max));
  await page.evaluate((t) => window.nonsmooth.seek(t), times[name] ?? 0.5 * end);
  await page.waitForTimeout(300);
  await (await page.$('.replay')).screenshot({ path: join(docs, 'gallery', `${name}.png`) });
  await close();
  const scene = readFileSync(join(folder, name, 'meta.json'), 'utf8');
  // The first comment line, and those after it up to the end of a sentence.
  const comments = JSON.parse(scene).scene_text.split('\n').map((line) => line.replace(/^#\s*/, ''));
  const about = comments.slice(0, comments.findIndex((line) => line.endsWith('.')) + 1).join(' ');
  entries.push(`## ${name}\n\n${about}\n\n\`nonsmooth run ${[name, ...extra].join(' ')} --out ${name}\`\n\n![${name}](gallery/${name}.png)\n`);
  console.log(name);
}

run('compare', 'bouncing_ball', '--schemes', 'moreau-jean,rattle,trapezoidal-lcp', '--steps', '0.02,0.01,0.005,0.0025,0.00125', '--out', 'compared');
const pages = [
  ['report-wide', 'slider_crank/report.html', { width: 1600, height: 900 }],
  ['report-dark', 'tippedisk/report.html', { width: 1366, height: 900, dark: true }],
  ['report-narrow', 'woodpecker/report.html', { width: 390, height: 1400 }],
  ['report-compare', 'compared/compare.html', { width: 1366, height: 900 }],
];
for (const [name, file, size] of pages) {
  const { page, close } = await openReport(browser, join(folder, file), size);
  await page.evaluate((t) => window.nonsmooth.seek?.(t), times[file.split('/')[0]] ?? 0);
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(docs, 'gallery', `${name}.png`) });
  await close();
  console.log(name);
}
await browser.close();
rmSync(folder, { recursive: true, force: true });

const head = `# Gallery

All bundled examples, as their reports show them. Every picture is from a run, made by \`node test/gallery.mjs ../target/release/nonsmooth\` in \`viewer/\` (after \`npm ci\`; needs Chromium), which also writes this page.

`;
const whole = `## The page

Wide, light; dark; narrow; a comparison.

![wide](gallery/report-wide.png)

![dark](gallery/report-dark.png)

![narrow](gallery/report-narrow.png)

![comparison](gallery/report-compare.png)
`;
writeFileSync(join(docs, 'gallery.md'), `${head}${entries.join('\n')}\n${whole}`);
