// Makes dist/template.html of index.html, dist/parts/page.js and dist/parts/page.css, and allows exactly these two
// by their hashes in the Content-Security-Policy.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const part = (name) => readFileSync(new URL(`../dist/parts/${name}`, import.meta.url), 'utf8').trim();
const hash = (text) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;

const unexpected = readdirSync(new URL('../dist/parts/', import.meta.url)).filter((name) => !/^page\.(js|css)$/.test(name));
if (unexpected.length > 0) throw new Error(`the page must be one script and one style, but there is also ${unexpected}`);

const script = part('page.js');
const style = part('page.css');
// A closing tag inside would end the element early. In a script `<\/` is the same string.
if (/<\/script|<!--/i.test(script)) throw new Error('the script contains </script or <!--');
if (/<\/style/i.test(style)) throw new Error('the style contains </style');
if (script.includes('/*DATA*/')) throw new Error('the script contains the placeholder of the data');

const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const page = readFileSync(new URL('../index.html', import.meta.url), 'utf8')
  .replace('<!--CSP-->', () => policy)
  .replace('<!--STYLE-->', () => style)
  .replace('<!--SCRIPT-->', () => script);
if (page.split('/*DATA*/').length !== 2) throw new Error('the placeholder of the data must occur once');
writeFileSync(new URL('../dist/template.html', import.meta.url), page);
console.log(`dist/template.html: ${(Buffer.byteLength(page) / 1000).toFixed(0)} kB`);
