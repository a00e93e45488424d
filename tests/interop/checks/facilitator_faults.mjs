// A facilitator that misbehaves. Whatever it does, a buyer is never told to pay again for what may have been paid, and
// no authorization moves money twice.
import assert from 'node:assert/strict';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { NETWORK } from '../rig/world.mjs';
import { start } from './service.mjs';
import { ACCESS, PAGE_WORDS, PRICES, PRODUCTS, ask, challenge, facilitator, newPage, pause, prepare, prepareProduct, transfers } from './shop.mjs';
import { check } from './suite.mjs';

/** Sends a purchase while the facilitator has these faults. */
async function purchaseUnder(faults, seller, product = 'a page') {
  const purchase = await prepareProduct(product, seller);
  await facilitator.fault(faults);
  const sent = performance.now();
  try {
    const reply = await purchase.send();
    return { purchase, reply, seconds: (performance.now() - sent) / 1000 };
  } finally {
    await facilitator.fault({});
  }
}

function assertChallenged(reply, price = PRICES.fresh) {
  assert.equal(reply.status, 402, String(reply));
  assert.equal(reply.header('payment-required'), reply.bytes.toString('base64'));
  assert.equal(decodePaymentRequiredHeader(reply.header('payment-required')).accepts[0].amount, String(price));
  assert.doesNotMatch(reply.bytes.toString('utf8'), PAGE_WORDS);
}

/** The settlement's end is not known: come back, do not sign again. */
function assertUnknown(reply) {
  assert.equal(reply.status, 503, String(reply));
  assert.equal(reply.header('retry-after'), '5');
  assert.match(reply.header('x-service-retry-credit') ?? '', /^\S{16,}$/);
  assert.equal(reply.header('payment-required'), null);
  assert.doesNotMatch(reply.bytes.toString('utf8'), PAGE_WORDS);
}

function assertDelivered(reply) {
  assert.equal(reply.status, 200, String(reply));
  assert.match(reply.bytes.toString(), PAGE_WORDS);
  assert.equal(reply.settlement.success, true);
}

/** Repeats the identical request, as the answer says, until it is answered with 200. */
async function repeatUntilDelivered(purchase) {
  for (let tries = 0; tries < 20; tries += 1) {
    const reply = await purchase.send();
    if (reply.status === 200) return assertDelivered(reply);
    assert.ok([409, 503].includes(reply.status), String(reply));
    await pause(1);
  }
  return assert.fail('never delivered');
}

async function assertNeverLost(settle, seller, product) {
  const { purchase, reply, seconds } = await purchaseUnder({ settle }, seller, product);
  if (reply.status === 200) assertDelivered(reply);
  else assertUnknown(reply);
  await repeatUntilDelivered(purchase);
  assert.deepEqual(await transfers(purchase.nonce), [purchase.price]);
  return seconds;
}

// The first settle goes wrong and nothing reached the chain, or nobody heard that it did.
const settleFaults = [
  ['drops the connection', { mode: 'reset', n: 1 }],
  ['drops the connection twice', { mode: 'reset', n: 2 }],
  ['answers with no JSON', { mode: 'badjson', n: 1 }],
  ['answers 500', { mode: 'http', status: 500, n: 1 }],
  ['answers 500 with a refusal', { mode: 'http', status: 500, n: 1, body: { success: false, errorReason: 'insufficient_funds', transaction: '', network: NETWORK } }],
  ['answers 401', { mode: 'http', status: 401, n: 1 }],
  ['answers 429', { mode: 'http', status: 429, n: 1 }],
  ['redirects', { mode: 'http', status: 307, n: 1, headers: { location: 'http://127.0.0.1:9/' } }],
  ['claims success without a transaction', { mode: 'invalid', n: 1, body: { success: true, transaction: '', network: NETWORK } }],
  ['claims success on another network', { mode: 'invalid', n: 1, body: { success: true, transaction: `0x${'1'.repeat(64)}`, network: 'eip155:1' } }],
  ['says that the nonce is used', { mode: 'invalid', n: 1, body: { success: false, errorReason: 'invalid_exact_evm_nonce_already_used', transaction: '', network: NETWORK } }],
  ['says that a transaction failed', { mode: 'invalid', n: 1, body: { success: false, errorReason: 'insufficient_funds', transaction: `0x${'2'.repeat(64)}`, network: NETWORK } }],
  ['has settled and says pending first', { mode: 'pending', n: 1 }],
];
for (const [name, fault] of settleFaults) {
  check(`settle ${name}: 200 or 503 with a credit, never 402; then delivered, for one transfer`, () =>
    assertNeverLost(fault));
}

for (const times of [1, 2]) {
  check(`settle is done and its answer lost (${times}): found on chain, delivered, and one transfer`, async () => {
    const { purchase, reply } = await purchaseUnder({ settle: { mode: 'lost', n: times } });
    assertDelivered(reply);
    assertDelivered(await purchase.send());
    assert.deepEqual(await transfers(purchase.nonce), [PRICES.fresh]);
  });
}

check('the credit of an unknown settlement delivers once it is known, for one transfer', async () => {
  const { purchase, reply } = await purchaseUnder({ settle: { mode: 'http', status: 500, n: 1 } });
  assertUnknown(reply);
  const headers = { 'x-service-retry-credit': reply.header('x-service-retry-credit') };
  assertDelivered(await ask('/v1/x402/retry', { body: purchase.body, headers }));
  assert.deepEqual(await transfers(purchase.nonce), [PRICES.fresh]);
});

check('a buyer who signs anew while a settlement is unknown pays once', async () => {
  const { purchase, reply } = await purchaseUnder({ settle: { mode: 'http', status: 500, n: 1 } });
  assertUnknown(reply);
  const anew = await prepare({ page: purchase.body.target_url });
  assertDelivered(await anew.send());
  assert.deepEqual(await transfers(purchase.nonce), [PRICES.fresh]);
  assert.deepEqual(await transfers(anew.nonce), []);
});

check('a settlement that definitely failed: 402 with a fresh challenge, and no content', async () => {
  const { purchase, reply } = await purchaseUnder({ settle: { mode: 'invalid', n: 1 } });
  assertChallenged(reply);
  assert.equal(reply.settlement.success, false);
  assert.equal(reply.settlement.errorReason, 'insufficient_funds');
  assert.equal(reply.settlement.transaction, '');
  assert.equal(reply.header('x-service-retry-credit'), null);
  assert.deepEqual(await transfers(purchase.nonce), []);
  const again = await purchase.send();
  assertChallenged(again);
  assert.deepEqual(await transfers(purchase.nonce), []);
});

async function assertUntouched(verify, seller, product) {
  const { purchase, reply, seconds } = await purchaseUnder({ verify }, seller, product);
  assert.equal(reply.status, 503, String(reply));
  assert.equal(reply.header('retry-after'), '5');
  assert.equal(reply.json.error.charged, false);
  assert.ok(!(await facilitator.operations(purchase.nonce)).includes('settle'));
  assert.deepEqual(await transfers(purchase.nonce), []);
  assertDelivered(await purchase.send());
  assert.deepEqual(await transfers(purchase.nonce), [purchase.price]);
  return seconds;
}

const verifyFaults = [
  ['answers 500', { mode: 'http', status: 500 }],
  ['answers 401', { mode: 'http', status: 401 }],
  ['answers with no JSON', { mode: 'badjson' }],
  ['drops the connection', { mode: 'reset' }],
];
for (const [name, fault] of verifyFaults) {
  check(`verify ${name}: 503, not charged, nothing settled; the same payment serves later`, () =>
    assertUntouched(fault));
}

for (const product of Object.keys(PRODUCTS).slice(1)) {
  check(`${product}: a settlement that is lost, fails or may have been seen is delivered for one transfer, and an unverified one costs nothing`, async () => {
    await assertNeverLost({ mode: 'lost', n: 1 }, undefined, product);
    await assertNeverLost({ mode: 'http', status: 500, n: 1 }, undefined, product);
    await assertUntouched({ mode: 'http', status: 500 }, undefined, product);
    const { purchase, reply } = await purchaseUnder({ settle: { mode: 'invalid', n: 1 } }, undefined, product);
    assertChallenged(reply, purchase.price);
    assert.deepEqual(await transfers(purchase.nonce), []);
  });
}

check('settle or verify hangs: the buyer is answered in time, never with 402, and served later for one transfer', async () => {
  const impatient = await start('impatient', {
    CONTEXT402_PAYMENT_VERIFY_SECONDS_MAX: '3',
    CONTEXT402_PAYMENT_SETTLE_WAIT_SECONDS_MAX: '3',
    CONTEXT402_PAYMENT_SETTLE_SECONDS_MAX: '6',
  });
  for (const seconds of [
    await assertNeverLost({ mode: 'hang', n: 1 }, impatient.url),
    await assertUntouched({ mode: 'hang' }, impatient.url),
  ]) assert.ok(seconds >= 2.9 && seconds < 5.5, `${seconds} s`);
  await impatient.stop();
});

check('verify drops the connection once: asked again, and delivered', async () => {
  const { purchase, reply } = await purchaseUnder({ verify: { mode: 'reset', n: 1 } });
  assertDelivered(reply);
  assert.deepEqual(await facilitator.operations(purchase.nonce), ['verify', 'verify', 'settle']);
});

check('verify says no: 402 with its reason, and nothing settled', async () => {
  const { purchase, reply } = await purchaseUnder({ verify: { mode: 'invalid' } });
  assertChallenged(reply);
  assert.equal(reply.json.error, 'insufficient_funds');
  assert.ok(!(await facilitator.operations(purchase.nonce)).includes('settle'));
});

check('after all this a purchase is a purchase', async () => {
  assert.equal((await challenge('fresh')).accepts[0].amount, String(PRICES.fresh));
  const reply = await ask(ACCESS, { body: { target_url: newPage() }, headers: (await prepare()).headers });
  assertDelivered(reply);
});
