// Several sources in one purchase: pages, Evidence Bundles and checked texts, bought by the official clients at exactly
// their price.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { KEYS } from '../rig/world.mjs';
import { ACCESS, BUNDLE, CHECK, CLAIM, PAGE_WORDS, PRICES, QUICK_SOURCE, SCOUT, ask, gain, newPage, officialClient, program } from './shop.mjs';
import { check } from './suite.mjs';

const { CONTEXT402_BIN, RIG_PYTHON, SELLER_URL, SITE_URL, WORK } = process.env;

const kept = async (report) => {
  const read = (url) => ask(url.slice(SELLER_URL.length), { method: 'GET' });
  assert.deepEqual((await read(report.report_url)).json, report);
  const receipt = await read(report.verify_url);
  assert.equal(receipt.json.valid, true, String(receipt));
};

const clients = [
  ['TypeScript', process.execPath, 'pay_fetch.mjs'],
  ['Python', RIG_PYTHON, 'pay_httpx.py'],
];
for (const [name, command, script] of clients) {
  const buy = (url, body) => gain(() => officialClient(command, script, SELLER_URL + url, body));

  check(`the official ${name} client buys three pages in one answer for three times the price`, async () => {
    const target_urls = [newPage(), newPage(), newPage()];
    const { gained, result } = await buy(ACCESS, { target_urls, tier: 'basic' });
    assert.equal(result.status, 200, JSON.stringify(result));
    assert.deepEqual(result.body.pages.map((page) => page.target_url), target_urls);
    for (const page of result.body.pages) assert.match(page.markdown, PAGE_WORDS);
    assert.equal(gained, 3n * PRICES.basic);
  });

  check(`the official ${name} client buys an Evidence Bundle for exactly ${SCOUT} units`, async () => {
    const sources = [newPage(), { title: 'Notes', text: CLAIM }];
    const { gained, result } = await buy(BUNDLE, { sources, question: CLAIM });
    assert.equal(result.status, 200, JSON.stringify(result));
    assert.equal(result.body.bundle, 'scout');
    assert.match(result.body.decision.label, /^(partially_)?supported$/);
    assert.equal(gained, SCOUT);
    await kept(result.body);
  });

  check(`the official ${name} client has a text checked against two sources for exactly ${2n * QUICK_SOURCE} units`, async () => {
    const text = `Good question. ${CLAIM} The newest one was lit in 1802.`;
    const { gained, result } = await buy(CHECK, { text, sources: [newPage(), { text: CLAIM }], depth: 'quick' });
    assert.equal(result.status, 200, JSON.stringify(result));
    for (const { start, end, text: said } of result.body.claims) {
      assert.equal(Buffer.from(text).subarray(start, end).toString(), said);
    }
    assert.equal(gained, 2n * QUICK_SOURCE);
    await kept(result.body);
  });
}

check('pages that cannot all be read cost nothing', async () => {
  const target_urls = [newPage(), `${SITE_URL}/missing`];
  const { gained, result } = await gain(() =>
    officialClient(process.execPath, 'pay_fetch.mjs', SELLER_URL + ACCESS, { target_urls, tier: 'fresh' }));
  assert.equal(result.status, 400, JSON.stringify(result));
  assert.equal(result.body.error.code, 'sources_unread');
  assert.deepEqual(result.body.readable, [target_urls[0]]);
  assert.equal(gained, 0n);
});

/** Our own command, with the words that say what to buy. */
const command = (...words) => {
  const keyFile = path.join(WORK, 'several-buyer.key');
  fs.writeFileSync(keyFile, KEYS.buyer2, { mode: 0o600 });
  return gain(() => program(CONTEXT402_BIN, ['buy', ...words, '--seller', SELLER_URL, '--key-file', keyFile]));
};

check('context402 buy pays for two pages at once and prints both', async () => {
  const pages = [newPage(), newPage()];
  const { gained, result } = await command(...pages, '--tier', 'basic');
  assert.equal(result.code, 0, result.stderr);
  for (const page of pages) assert.ok(result.stdout.includes(`<!-- ${page} -->`), result.stdout);
  assert.match(result.stdout, PAGE_WORDS);
  assert.equal(gained, 2n * PRICES.basic);
});

check('context402 buy --check pays for each source and prints what became of each claim', async () => {
  const draft = path.join(WORK, 'draft.txt');
  fs.writeFileSync(draft, `Good question. ${CLAIM}`);
  const { gained, result } = await command(newPage(), newPage(), '--check', draft, '--depth', 'quick');
  assert.equal(result.code, 0, result.stderr);
  assert.match(result.stdout, /^score [01]\.[0-9]{2}\./);
  assert.match(result.stdout, /\nClaims:\n/);
  assert.equal(gained, 2n * QUICK_SOURCE);
});

check('context402 buy --bundle pays and prints the report', async () => {
  const { gained, result } = await command(newPage(), newPage(), '--bundle', 'scout', '--question', CLAIM);
  assert.equal(result.code, 0, result.stderr);
  assert.match(result.stdout, /decision +(partly )?supported/);
  assert.equal(gained, SCOUT);
});
