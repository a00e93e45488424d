// What a buyer sees before it pays.
import assert from 'node:assert/strict';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { parsePaymentRequired } from '@x402/core/schemas';
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar';
import { NETWORK, PAY_TO, TOKEN } from '../rig/world.mjs';
import { ACCESS, PRICES, ask, challenge, newPage } from './shop.mjs';
import { check } from './suite.mjs';

const BYTES_MAX = 2900;

for (const [tier, price] of Object.entries(PRICES)) {
  check(`the tier ${tier} costs ${price} units, whether query, header or body names it`, async () => {
    const body = { target_url: newPage(), tier };
    const replies = [
      await ask(`${ACCESS}?tier=${tier}`),
      await ask(ACCESS, { headers: { 'x-service-tier': tier } }),
      await ask(ACCESS, { body }),
    ];
    for (const reply of replies) {
      assert.equal(reply.status, 402, String(reply));
      assert.equal(reply.header('x-service-payment-tier'), tier);
      const { accepts } = decodePaymentRequiredHeader(reply.header('payment-required'));
      assert.equal(accepts.length, 1);
      const { scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra } = accepts[0];
      assert.deepEqual(
        { scheme, network, amount, asset, payTo, maxTimeoutSeconds },
        { scheme: 'exact', network: NETWORK, amount: String(price), asset: TOKEN, payTo: PAY_TO, maxTimeoutSeconds: 300 },
      );
      assert.deepEqual({ name: extra.name, version: extra.version }, { name: 'USD Coin', version: '2' });
    }
  });

  check(`the challenge of ${tier} is what its header encodes, of at most ${BYTES_MAX} bytes, and never cached`, async () => {
    const reply = await ask(`${ACCESS}?tier=${tier}`);
    const header = reply.header('payment-required');
    assert.equal(header, reply.bytes.toString('base64'));
    assert.equal(reply.header('x-payment-required'), header);
    assert.ok(reply.bytes.length <= BYTES_MAX, `${reply.bytes.length} bytes`);
    assert.match(reply.header('cache-control'), /no-store/);
  });

  check(`the official schema takes the challenge of ${tier}, and the directory's its bazaar extension`, async () => {
    const paymentRequired = await challenge(tier);
    const parsed = parsePaymentRequired(paymentRequired);
    assert.ok(parsed.success, JSON.stringify(parsed.error?.issues));
    const { bazaar } = paymentRequired.extensions;
    for (const verdict of [validateDiscoveryExtension(bazaar), validateDiscoveryExtensionSpec(bazaar)]) {
      assert.ok(verdict.valid, JSON.stringify(verdict.errors));
    }
  });
}

check('a directory that sends nothing at all is told the price', async () => {
  for (const probe of [{}, { body: {} }, { body: 'not an object' }]) {
    const reply = await ask(ACCESS, probe);
    assert.equal(reply.status, 402, String(reply));
  }
});

check('GET and HEAD show the challenge with 200', async () => {
  for (const method of ['GET', 'HEAD']) {
    const reply = await ask(ACCESS, { method });
    assert.equal(reply.status, 200, String(reply));
    assert.equal(decodePaymentRequiredHeader(reply.header('payment-required')).accepts[0].amount, String(PRICES.fresh));
  }
});
