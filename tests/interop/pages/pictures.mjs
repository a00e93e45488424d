// The pictures of the README: the demo as a terminal shows it, a report that was bought, the console. Made anew by
// `tests/interop/pages/run pictures` after a change of what they show.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { check } from '../checks/suite.mjs';
import { BASE, withPage } from './browser.mjs';
import { stand } from './stand.mjs';

const { CONTEXT402_BIN, FONT, PICTURES, WORK } = process.env;
const BYTES_MAX = 150_000;
const COLUMNS = 104;
const ARTICLE = 'http://news.sample-site.org/2026/03/harbour-heat-network';
const CLAIM = 'A flat of 65 square metres paid 71 a month for heat this winter.';

const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);

async function shoot(page, name, options = {}) {
  fs.mkdirSync(PICTURES, { recursive: true });
  const file = path.join(PICTURES, `${name}.png`);
  await page.screenshot({ path: file, ...options });
  const { size } = fs.statSync(file);
  assert.ok(size <= BYTES_MAX, `${name}.png has ${size} bytes`);
}

/** What the demo has printed. */
function sale() {
  // Without `--listen` the demo has this port.
  const port = new RegExp(new URL(BASE).port, 'g');
  const lines = fs.readFileSync(path.join(WORK, 'demo.log'), 'utf8').replace(port, '4020').split('\n');
  const end = lines.findIndex((line) => line.startsWith('Stop it'));
  assert.ok(lines.slice(0, end).some((line) => line.startsWith('✓ Settled')), 'the demo has printed a sale');
  return lines.slice(0, end + 1).map((line) =>
    line.length > COLUMNS ? `${line.slice(0, COLUMNS - 1)}…` : line);
}

/** Ticks, names and the page each in their colour. */
function shown(line) {
  const text = escaped(line);
  if (line.startsWith('  | ')) return `<i>${text}</i>`;
  if (line.startsWith('✓ ')) return text.replace(/^✓ (\w+)/, '<em>✓</em> <b>$1</b>');
  return text.replace(/^( *)(Report|Try it|Console|Browser|Docs)( )/, '$1<b>$2</b>$3');
}

check('a picture of the terminal', () => withPage({ viewport: { width: 860, height: 400 } }, async (page) => {
  const font = fs.readFileSync(FONT).toString('base64');
  await page.setContent(`<!doctype html><meta charset="utf-8"><style>
    @font-face { font-family: term; src: url(data:font/ttf;base64,${font}) }
    body { margin: 0; background: #0d1b2a } pre { margin: 0; padding: 20px 24px; color: #b8c4d0; font: 13px/1.4 term }
    b { color: #fff; font-weight: 400 } em { color: #7fd1ae; font-style: normal } i { color: #e5c07b; font-style: normal }
    </style><pre><b>$ cargo run --release -- demo</b>\n\n${sale().map(shown).join('\n')}</pre>`);
  await page.evaluate(() => document.fonts.ready);
  await shoot(page, 'terminal', { fullPage: true });
}));

check('a picture of a report', async () => {
  const key = path.join(WORK, 'pictures.key');
  fs.writeFileSync(key, `0x${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  const { stdout } = await promisify(execFile)(CONTEXT402_BIN, [
    'buy', ARTICLE, '--pack', 'deep', '--question', CLAIM, '--seller', BASE, '--key-file', key, '--json',
  ]);
  const report = JSON.parse(stdout);
  assert.equal(report.decision.label, 'supported');
  await withPage({ viewport: { width: 1100, height: 740 }, colorScheme: 'light' }, async (page) => {
    await page.goto(`${BASE}/proof-pack/reports/${report.report_id}`);
    await shoot(page, 'report');
  });
});

check('a picture of the console', async () => {
  const { base, cookie } = await stand();
  await withPage({ viewport: { width: 1100, height: 1000 }, colorScheme: 'light' }, async (page, context) => {
    await context.addCookies([cookie]);
    await page.goto(`${base}/operator`);
    await shoot(page, 'console');
  });
}, { secondsMax: 180 });
