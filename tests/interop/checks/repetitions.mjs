// The same payment more than once: it buys once.
import assert from 'node:assert/strict';
import { ACCESS, PRICES, PRODUCTS, ask, facilitator, gain, newPage, prepare, prepareProduct, transfers } from './shop.mjs';
import { check } from './suite.mjs';

const AT_ONCE = 20;

check('the same payment again gets the same bytes and is not charged again', async () => {
  const purchase = await prepare();
  const first = await purchase.send();
  assert.equal(first.status, 200, String(first));
  const { gained, result } = await gain(() => purchase.send());
  assert.equal(result.status, 200, String(result));
  assert.ok(result.bytes.equals(first.bytes), 'the bytes differ');
  assert.deepEqual(result.settlement, first.settlement);
  assert.equal(gained, 0n);
  assert.deepEqual(await facilitator.operations(purchase.nonce), ['verify', 'settle']);
});

check('a used payment with another body is refused with 400', async () => {
  const purchase = await prepare();
  assert.equal((await purchase.send()).status, 200);
  const { gained, result } = await gain(() => purchase.send({ target_url: newPage() }));
  assert.equal(result.status, 400, String(result));
  assert.equal(result.json.error.code, 'payment_replayed');
  assert.equal(gained, 0n);
});

for (const product of Object.keys(PRODUCTS)) {
  check(`${AT_ONCE} at once with one payment for ${product} are one sale, and all get it`, async () => {
    const purchase = await prepareProduct(product);
    const { gained, result: replies } = await gain(() =>
      Promise.all(Array.from({ length: AT_ONCE }, () => purchase.send())));
    for (const reply of replies) {
      assert.equal(reply.status, 200, String(reply));
      assert.ok(reply.bytes.equals(replies[0].bytes), 'the bytes differ');
    }
    assert.equal(gained, purchase.price);
    assert.deepEqual(await facilitator.operations(purchase.nonce), ['verify', 'settle']);
    assert.deepEqual(await transfers(purchase.nonce), [purchase.price]);
  });
}

check(`${AT_ONCE} different payments at once are ${AT_ONCE} sales`, async () => {
  const purchases = await Promise.all(Array.from({ length: AT_ONCE }, () => prepare()));
  const { gained, result: replies } = await gain(() => Promise.all(purchases.map((purchase) => purchase.send())));
  for (const reply of replies) assert.equal(reply.status, 200, String(reply));
  assert.equal(gained, PRICES.fresh * BigInt(AT_ONCE));
});

check('a payment that cannot be read, or two of them, is refused with 400', async () => {
  const { headers, body } = await prepare();
  const signature = headers['PAYMENT-SIGNATURE'];
  const bad = [
    { 'PAYMENT-SIGNATURE': '???' },
    { 'PAYMENT-SIGNATURE': Buffer.from('{"x402Version":2').toString('base64') },
    { 'PAYMENT-SIGNATURE': signature, 'X-PAYMENT': signature },
  ];
  for (const wrong of bad) {
    const reply = await ask(ACCESS, { body, headers: wrong });
    assert.equal(reply.status, 400, String(reply));
    assert.equal(reply.json.error.charged, false);
  }
});

check('a purchase that is signed anew under the same payment identifier is not charged again', async () => {
  const named = { page: newPage(), identifier: `pay_${crypto.randomUUID()}` };
  const [first, anew] = [await prepare(named), await prepare(named)];
  const bought = await first.send();
  assert.equal(bought.status, 200, String(bought));
  const again = await anew.send();
  assert.equal(again.status, 200, String(again));
  assert.ok(again.bytes.equals(bought.bytes), 'the bytes differ');
  assert.deepEqual(await transfers(first.nonce), [PRICES.fresh]);
  assert.deepEqual(await transfers(anew.nonce), []);
  const other = await prepare({ ...named, page: newPage() });
  const refused = await other.send();
  assert.equal(refused.status, 409, String(refused));
  assert.deepEqual(await transfers(other.nonce), []);
});
