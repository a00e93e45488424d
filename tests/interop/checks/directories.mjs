// What directories of x402 and crawlers make of us, by their own tools.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar';
import { ask, program } from './shop.mjs';
import { check } from './suite.mjs';

const { PROMTOOL, SELLER_URL, VALIDATORS, VALIDATORS_PYTHON, WORK } = process.env;
const PAID = ['/v1/x402/access', '/v1/x402/proof-pack'];

const get = async (address, headers = {}) => {
  const reply = await ask(address, { method: 'GET', headers });
  assert.equal(reply.status, 200, String(reply));
  return reply;
};

for (const address of PAID) {
  check(`x402lint finds nothing to warn of at ${address}`, async () => {
    const words = ['-m', 'x402lint', 'check', '--method', 'POST', '--json', SELLER_URL + address];
    const judged = await program(VALIDATORS_PYTHON, words);
    assert.equal(judged.code, 0, judged.stdout + judged.stderr);
    const { PASS, WARN, FAIL } = JSON.parse(judged.stdout).counts;
    assert.ok(PASS > 10, judged.stdout);
    assert.deepEqual([WARN, FAIL], [0, 0], judged.stdout);
  });
}

/** The directory's own program: the words after its name, and what it printed. */
const agentcash = async (...words) => {
  const file = path.join(VALIDATORS, 'node_modules/@agentcash/discovery/bin/discovery.js');
  const judged = await program(process.execPath, [file, ...words]);
  assert.equal(judged.code, 0, judged.stdout + judged.stderr);
  return judged.stdout;
};

check('@agentcash/discovery discovers what is paid, with its prices and without a warning', async () => {
  const found = await agentcash('discover', SELLER_URL);
  assert.match(found, /Source: +openapi/);
  assert.match(found, /POST +\/v1\/x402\/access +paid +0\.012-0\.05 USD +\[x402\]/);
  assert.match(found, /POST +\/v1\/x402\/proof-pack +paid +0\.1-1 USD +\[x402\]/);
  assert.doesNotMatch(found, /\[(warn|error)\]/);
});

for (const address of PAID) {
  check(`@agentcash/discovery checks ${address} without a warning`, async () => {
    const found = await agentcash('check', SELLER_URL + address);
    assert.match(found, /POST +paid +[0-9.]+-[0-9.]+ USD +\[x402\]/);
    assert.doesNotMatch(found, /\[(warn|error)\]/);
  });
}

check('the official package takes the discovery extension of each challenge and of each listed resource', async () => {
  const { json: listing } = await get('/discovery/resources');
  const listed = listing.items.map((item) => item.extensions?.bazaar).filter(Boolean);
  assert.equal(listed.length, listing.items.length);
  const live = await Promise.all(PAID.map(async (address) => (await ask(address)).json.extensions.bazaar));
  for (const bazaar of [...listed, ...live]) {
    for (const verdict of [validateDiscoveryExtension(bazaar), validateDiscoveryExtensionSpec(bazaar)]) {
      assert.ok(verdict.valid, JSON.stringify(verdict));
    }
  }
});

check('llms.txt is what its parser expects: title, summary, sections of links with notes', async () => {
  const file = path.join(WORK, 'llms.txt');
  fs.writeFileSync(file, (await get('/llms.txt')).bytes);
  const script = `
import json, sys
from llms_txt import parse_llms_file
parsed = parse_llms_file(open(sys.argv[1]).read())
print(json.dumps({'title': parsed.title, 'summary': parsed.summary, 'sections': {
    name: [[link.title, link.url, link.desc] for link in links] for name, links in parsed.sections.items()}}))`;
  const judged = await program(VALIDATORS_PYTHON, ['-c', script, file]);
  assert.equal(judged.code, 0, judged.stderr);
  const { title, summary, sections } = JSON.parse(judged.stdout);
  assert.ok(title && summary);
  assert.deepEqual(Object.keys(sections), ['Docs', 'API', 'Discovery', 'Optional']);
  const links = Object.values(sections).flat();
  assert.equal(new Set(links.map(([, url]) => url)).size, links.length, 'a link is there twice');
  for (const [name, url, note] of links) {
    assert.ok(name && note, url);
    await get(url.slice(SELLER_URL.length));
  }
});

for (const [what, address] of [['the public', '/metrics?format=prometheus'], ['whoever asks by Accept', '/metrics']]) {
  check(`promtool finds nothing to correct in the metrics for ${what}`, async () => {
    const reply = await get(address, { accept: 'text/plain;version=0.0.4' });
    const judged = await program(PROMTOOL, ['check', 'metrics'], { input: reply.bytes });
    assert.deepEqual([judged.code, judged.stdout, judged.stderr], [0, '', '']);
    assert.match(reply.bytes.toString(), /_duration_seconds_bucket\{.*le="\+Inf"\}/);
  });
}
