// Pictures of the samples for a look by eye: node test/shots.mjs DIRECTORY [sample ...]
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { launch, openReport } from './browser.mjs';

const [directory = 'shots', ...wanted] = process.argv.slice(2);
mkdirSync(directory, { recursive: true });
const browser = await launch();
const sizes = [
  { name: 'wide', width: 1920, height: 1080 },
  { name: 'dark', width: 1366, height: 900, dark: true },
  { name: 'narrow', width: 390, height: 844, full: true },
  { name: 'all', width: 1440, height: 900, full: true },
];
for (const sample of ['ball', 'disc', 'pile', 'compare', 'bare', 'single', 'unknown']) {
  if (wanted.length > 0 && !wanted.includes(sample)) continue;
  const file = sample.includes('/') ? sample : fileURLToPath(new URL(`../sample/out/${sample}.html`, import.meta.url));
  for (const { name, full, ...size } of sizes) {
    const { page, problems, close } = await openReport(browser, file, size);
    await page.evaluate(() => {
      window.nonsmooth.seek?.(0.46);
      if (window.nonsmooth.select) window.nonsmooth.select(3);
    });
    await page.waitForTimeout(250);
    await page.screenshot({ path: `${directory}/${sample}-${name}.png`, fullPage: full === true });
    if (problems.length > 0) console.log(sample, name, problems);
    problems.length = 0;
    await close();
  }
}
await browser.close();
