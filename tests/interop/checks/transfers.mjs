// Pages paid by a transfer of the buyer's own on the real chain, shown by its hash.
import assert from 'node:assert/strict';
import { pad, toHex } from 'viem';
import { KEYS, PAY_TO, TOKEN, addressOf, rpc } from '../rig/world.mjs';
import { PAGE_WORDS, PRICES, ask, gain, newPage, pause, prepare } from './shop.mjs';
import { check } from './suite.mjs';

const buyer = addressOf(KEYS.buyer2);

/** Sends so many units to `to`; gives the transaction's hash once it stands. */
async function transfer(units, { to = PAY_TO, token = TOKEN } = {}) {
  const data = `0xa9059cbb${pad(to).slice(2)}${pad(toHex(units)).slice(2)}`;
  const hash = await rpc('eth_sendTransaction', [{ from: buyer, to: token, data }]);
  for (let tries = 0; tries < 50; tries += 1) {
    if (await rpc('eth_getTransactionReceipt', [hash])) return hash;
    await pause(0.1);
  }
  return assert.fail('the transfer is not mined');
}

const show = (hash, { page = newPage(), tier = 'fresh', headers = {} } = {}) =>
  ask('/v1/access', { body: { target_url: page, tier }, headers: { 'X-Service-Payment-Hash': hash, ...headers } });

function assertRefused(answer, code) {
  assert.equal(answer.status, 400, String(answer));
  assert.equal(answer.json.error.code, code);
}

check('a transfer on chain buys a page at /v1/access, once', async () => {
  const { gained, result: hash } = await gain(() => transfer(PRICES.fresh));
  assert.equal(gained, PRICES.fresh);
  const answer = await show(hash);
  assert.equal(answer.status, 200, String(answer));
  assert.match(answer.json.markdown, PAGE_WORDS);
  assert.equal(answer.json.payment.transaction, hash);
  assert.equal(answer.json.payment.payer.toLowerCase(), buyer.toLowerCase());
  assertRefused(await show(hash.toUpperCase().replace('0X', '0x')), 'payment_hash_replayed');
});

check('20 at once for one transfer: one is served', async () => {
  const [hash, page] = [await transfer(PRICES.fresh), newPage()];
  const answers = await Promise.all(Array.from({ length: 20 }, () => show(hash, { page })));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.ok(answers.every(({ status }) => [200, 400, 409, 503].includes(status)), String(answers));
});

check('whoever sends the same secret is given the answer again', async () => {
  const [hash, page] = [await transfer(PRICES.fresh), newPage()];
  const headers = { 'Idempotency-Key': 'a-secret-of-the-buyer' };
  const first = await show(hash, { page, headers });
  assert.equal(first.status, 200, String(first));
  assert.deepEqual((await show(hash, { page, headers })).json, first.json);
  assertRefused(await show(hash, { page }), 'payment_hash_replayed');
});

check('a transfer of too little, or to somebody else, buys nothing', async () => {
  assertRefused(await show(await transfer(PRICES.fresh - 1n)), 'invalid_payment_hash');
  assertRefused(await show(await transfer(PRICES.fresh, { to: buyer })), 'invalid_payment_hash');
  assertRefused(await show(`0x${'ab'.repeat(32)}`), 'payment_hash_unconfirmed');
});

check("the settlement of somebody's signed payment buys nothing else", async () => {
  const sold = await (await prepare()).send();
  assert.equal(sold.status, 200, String(sold));
  assertRefused(await show(sold.settlement.transaction), 'invalid_payment_hash');
});
