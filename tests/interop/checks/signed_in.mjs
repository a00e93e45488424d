// What was paid, read again without paying: the official client's helper of the extension sign-in-with-x signs in.
import assert from 'node:assert/strict';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { createSIWxClientHook } from '@x402/extensions/sign-in-with-x';
import { privateKeyToAccount } from 'viem/accounts';
import { KEYS } from '../rig/world.mjs';
import { PRICES, ask, gain, newPage, prepare } from './shop.mjs';
import { check } from './suite.mjs';

const { SELLER_URL } = process.env;
const PURCHASES = '/v1/x402/purchases';

/** The header that signs in at a path, for the challenge that it gives without one. */
async function signedIn(path, key) {
  const asked = await ask(path, { method: 'GET' });
  assert.equal(asked.status, 402, String(asked));
  const paymentRequired = decodePaymentRequiredHeader(asked.header('payment-required'));
  assert.deepEqual(paymentRequired.accepts, [], 'there is nothing to pay');
  const sign = createSIWxClientHook(privateKeyToAccount(key));
  const signed = await sign({ paymentRequired, requestUrl: SELLER_URL + path });
  assert.ok(signed, 'the official helper takes the challenge');
  return signed.headers;
}

const read = async (path, key) => ask(path, { method: 'GET', headers: await signedIn(path, key) });

check('a payer signs in by the official helper, lists what it bought and reads it again without paying', async () => {
  const { gained, result } = await gain(async () => {
    const purchase = await prepare({ tier: 'basic', page: newPage(), key: KEYS.buyer2 });
    const bought = await purchase.send();
    assert.equal(bought.status, 200, String(bought));
    const listed = await read(PURCHASES, KEYS.buyer2);
    assert.equal(listed.status, 200, String(listed));
    const found = listed.json.purchases.find((one) => one.transaction === bought.settlement.transaction);
    assert.ok(found, String(listed));
    assert.equal(found.target_url, purchase.body.target_url);
    assert.equal(found.amount, String(PRICES.basic));
    const again = await read(`${PURCHASES}/${found.purchase_id}`, KEYS.buyer2);
    assert.equal(again.status, 200, String(again));
    assert.ok(again.bytes.equals(bought.bytes), 'the same bytes as were sold');
    return found.purchase_id;
  });
  assert.equal(gained, PRICES.basic, 'paid once');
  // Another wallet neither finds it in its list nor reads it.
  const others = await read(PURCHASES, KEYS.buyer1);
  assert.ok(!others.json.purchases.some((one) => one.purchase_id === result), String(others));
  const other = await read(`${PURCHASES}/${result}`, KEYS.buyer1);
  assert.equal(other.status, 404, String(other));
});

check('a statement signs in once', async () => {
  const { gained } = await gain(async () => {
    const headers = await signedIn(PURCHASES, KEYS.buyer2);
    const first = await ask(PURCHASES, { method: 'GET', headers });
    assert.equal(first.status, 200, String(first));
    const second = await ask(PURCHASES, { method: 'GET', headers });
    assert.equal(second.status, 402, String(second));
    assert.equal(second.json.error.code, 'sign_in_invalid');
    assert.equal(second.json.error.charged, false);
  });
  assert.equal(gained, 0n);
});
