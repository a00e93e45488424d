// Purchases that go well, by every client, and refusals that must cost nothing.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { KEYS } from '../rig/world.mjs';
import {
  ACCESS, PAGE_WORDS, PRICES, ask, challenge, facilitator, gain, newPage, officialClient, prepare, program, sign,
  transfers,
} from './shop.mjs';
import { check } from './suite.mjs';

const { CONTEXT402_BIN, RIG_PYTHON, SELLER_URL, SITE_URL, WALLET1271, WORK } = process.env;

function assertSold(answer, tier) {
  assert.equal(answer.status, 200, JSON.stringify(answer));
  assert.equal(answer.body.status, 'success');
  assert.equal(answer.body.tier, tier);
  assert.match(answer.body.markdown, PAGE_WORDS);
  assert.match(answer.body.markdown, /^# Lighthouses of the North Sea$/m);
  assert.equal(answer.payment_response.success, true);
  assert.match(answer.payment_response.transaction, /^0x[0-9a-f]{64}$/);
}

const clients = [
  ['TypeScript', process.execPath, 'pay_fetch.mjs'],
  ['Python', RIG_PYTHON, 'pay_httpx.py'],
];
for (const [name, command, script] of clients) {
  for (const tier of ['basic', 'fresh', 'deep']) {
    check(`the official ${name} client buys ${tier} for exactly ${PRICES[tier]} units`, async () => {
      const body = { target_url: newPage(), tier };
      const { gained, result } = await gain(() =>
        officialClient(command, script, `${SELLER_URL}${ACCESS}?tier=${tier}`, body));
      assertSold(result, tier);
      assert.equal(gained, PRICES[tier]);
    });
  }
}

check(`what was bought fresh is delivered from the cache for ${PRICES.cached} units`, async () => {
  const page = newPage();
  const buy = (tier) => officialClient(process.execPath, 'pay_fetch.mjs', `${SELLER_URL}${ACCESS}?tier=${tier}`, {
    target_url: page, tier,
  });
  const fresh = await buy('fresh');
  const { gained, result } = await gain(() => buy('cached'));
  assertSold(result, 'cached');
  assert.equal(result.body.cache.hit, true);
  assert.equal(result.body.markdown, fresh.body.markdown);
  assert.equal(gained, PRICES.cached);
});

check('the cheapest tier delivers the sample', async () => {
  const { gained, result } = await gain(async () =>
    (await prepare({ tier: 'starter', page: `${SELLER_URL}/sample` })).send());
  assert.equal(result.status, 200, String(result));
  assert.ok(result.json.markdown.length > 100);
  assert.equal(gained, PRICES.starter);
});

check('the price in the body alone is enough for the official client', async () => {
  const { gained, result } = await gain(() => officialClient(process.execPath, 'pay_fetch.mjs', SELLER_URL + ACCESS, {
    target_url: newPage(), tier: 'basic',
  }));
  assertSold(result, 'basic');
  assert.equal(gained, PRICES.basic);
});

check('a purchase under /from/{source}', async () => {
  const { gained, result } = await gain(() =>
    officialClient(process.execPath, 'pay_fetch.mjs', `${SELLER_URL}/from/partner${ACCESS}`, { target_url: newPage() }));
  assertSold(result, 'fresh');
  assert.equal(gained, PRICES.fresh);
});

check('a smart wallet (EIP-1271) pays', async () => {
  const { gained, result } = await gain(async () => (await prepare({ from: WALLET1271 })).send());
  assert.equal(result.status, 200, String(result));
  assert.equal(result.settlement.payer.toLowerCase(), WALLET1271.toLowerCase());
  assert.equal(gained, PRICES.fresh);
});

check('context402 buy pays and prints the page', async () => {
  const keyFile = path.join(WORK, 'buyer.key');
  fs.writeFileSync(keyFile, KEYS.buyer2, { mode: 0o600 });
  const words = (most) => ['buy', newPage(), '--tier', 'fresh', '--seller', SELLER_URL, '--key-file', keyFile, '--max-usdc', most];
  const paid = await gain(() => program(CONTEXT402_BIN, words('0.03')));
  assert.equal(paid.result.code, 0, paid.result.stderr);
  assert.match(paid.result.stdout, PAGE_WORDS);
  assert.equal(paid.gained, PRICES.fresh);
  const refused = await gain(() => program(CONTEXT402_BIN, words('0.02')));
  assert.equal(refused.result.code, 1, refused.result.stdout);
  assert.equal(refused.gained, 0n);
});

check('a paid call is settled once, after verification, on our terms', async () => {
  const purchase = await prepare();
  const reply = await purchase.send();
  assert.equal(reply.status, 200, String(reply));
  assert.deepEqual(await facilitator.operations(purchase.nonce), ['verify', 'settle']);
  for (const { request } of await facilitator.log(purchase.nonce)) {
    const { paymentPayload, paymentRequirements } = JSON.parse(request);
    assert.deepEqual(paymentPayload, purchase.payload);
    assert.deepEqual(paymentRequirements, purchase.payload.accepted);
  }
  assert.equal(reply.settlement.transaction, reply.json.payment.transaction);
  assert.equal(reply.json.payment.settled, true);
});

check('the directory has indexed the endpoint', async () => {
  const purchase = await prepare();
  assert.equal((await purchase.send()).status, 200);
  const settled = (await facilitator.log(purchase.nonce)).find(({ operation }) => operation === 'settle');
  assert.deepEqual(settled.bazaar, { status: 'success' });
  const item = (await facilitator.indexed()).find(({ resource }) => resource === SELLER_URL + ACCESS);
  assert.equal(item?.method, 'POST');
});

check('a buyer without money is refused with a challenge and keeps what it has', async () => {
  const purchase = await prepare({ key: KEYS.poor });
  const reply = await purchase.send();
  assert.equal(reply.status, 402, String(reply));
  assert.match(reply.json.error, /insufficient/);
  assert.equal(reply.header('payment-required'), reply.bytes.toString('base64'));
  assert.deepEqual(await facilitator.operations(purchase.nonce), ['verify']);
});

check('a payment below the price is refused without asking anyone', async () => {
  const { headers, nonce } = await sign(await challenge('cached'));
  const reply = await ask(ACCESS, { body: { target_url: newPage(), tier: 'fresh' }, headers });
  assert.equal(reply.status, 402, String(reply));
  assert.deepEqual(await facilitator.operations(nonce), []);
});

const refusals = [
  ['a page that is not there', `${SITE_URL}/missing`],
  ['a private target', 'http://127.0.0.1/'],
  ['a port that is not allowed', 'http://news.sample-site.org:8080/'],
];
for (const [name, page] of refusals) {
  check(`${name} is refused with 400 and not charged`, async () => {
    const purchase = await prepare({ page });
    const reply = await purchase.send();
    assert.equal(reply.status, 400, String(reply));
    assert.equal(reply.json.error.charged, false);
    assert.ok(!(await facilitator.operations(purchase.nonce)).includes('settle'));
  });
}

check('a miss in the cache is refused with 400, names other tiers, and is not charged', async () => {
  const purchase = await prepare({ tier: 'cached' });
  const reply = await purchase.send();
  assert.equal(reply.status, 400, String(reply));
  assert.equal(reply.json.error.code, 'cache_miss');
  assert.equal(reply.json.error.charged, false);
  assert.ok(reply.json.alternatives.some(({ tier }) => tier === 'fresh'));
  assert.ok(!(await facilitator.operations(purchase.nonce)).includes('settle'));
});

check('a page that is down gives a retry credit, which is redeemed once, for one payment', async () => {
  const purchase = await prepare({ page: newPage('flaky') });
  const down = await purchase.send();
  assert.equal(down.status, 503, String(down));
  assert.equal(down.header('retry-after'), '5');
  assert.deepEqual(await transfers(purchase.nonce), []);
  const redeem = () =>
    ask('/v1/x402/retry', { body: purchase.body, headers: { 'x-service-retry-credit': down.header('x-service-retry-credit') } });
  const redeemed = await redeem();
  assert.equal(redeemed.status, 200, String(redeemed));
  assert.match(redeemed.json.markdown, PAGE_WORDS);
  assert.deepEqual(await transfers(purchase.nonce), [PRICES.fresh]);
  const again = await redeem();
  assert.equal(again.status, 400, String(again));
});
