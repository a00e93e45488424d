// Proof Packs: bought by the official clients at exactly their price, and what their buyers do with them later.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { ask, gain, newPage, officialClient } from './shop.mjs';
import { check } from './suite.mjs';

const { RIG_PYTHON, SELLER_URL } = process.env;
const PROOF_PACK = '/v1/x402/proof-pack';
const PACKS = { quick: 100000n, standard: 250000n, deep: 1000000n };
const CLAIM = 'The oldest lighthouse on this coast was lit in 1774.';

const clients = [
  ['TypeScript', process.execPath, 'pay_fetch.mjs'],
  ['Python', RIG_PYTHON, 'pay_httpx.py'],
];
for (const [name, command, script] of clients) {
  for (const pack of Object.keys(PACKS)) {
    check(`the official ${name} client buys a ${pack} Proof Pack for exactly ${PACKS[pack]} units`, async () => {
      const body = { target_url: newPage(), question: CLAIM, pack };
      const { gained, result } = await gain(() =>
        officialClient(command, script, `${SELLER_URL}${PROOF_PACK}?pack=${pack}`, body));
      assert.equal(result.status, 200, JSON.stringify(result));
      assert.equal(result.body.pack, pack);
      assert.match(result.body.decision.label, /^(partially_)?supported$/);
      assert.match(result.body.citations[0].excerpt, /lit in 1774/);
      assert.equal(result.payment_response.success, true);
      assert.equal(gained, PACKS[pack]);
      const kept = await ask(result.body.report_url.slice(SELLER_URL.length), { method: 'GET' });
      assert.deepEqual(kept.json, result.body);
    });
  }
}

/** The canonical form (RFC 8785): JavaScript writes numbers and texts as it asks, only the members want sorting. */
const canonical = (value) => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${members.join(',')}}`;
};

check('a buyer recomputes the hash of a report with nothing of ours', async () => {
  const { json: report } = await ask('/v1/proof-pack/sample', { method: 'GET' });
  const receipt = await ask('/v1/proof-pack/reports/ppr_sample/verify', { method: 'GET' });
  assert.equal(receipt.json.valid, true, String(receipt));
  const hashed = { ...report };
  for (const name of receipt.json.excluded_members) delete hashed[name];
  const hash = createHash('sha256').update(canonical(hashed)).digest('hex');
  assert.equal(hash, report.result_hash);
});
