// The payment provider's events, signed by its own libraries: which are taken, refused, or set aside.
import assert from 'node:assert/strict';
import { delivery, event, leadFor, newBuyer, now, send, signedByNode, signedByPython, tell } from './provider.mjs';
import { pause, program } from './shop.mjs';
import { check } from './suite.mjs';

const { CONTEXT402_BIN, WEBHOOK_FORMER_SECRET, WORK } = process.env;
const SOURCES = ['http://news.sample-site.org/notes/1', 'http://news.sample-site.org/notes/2'];

async function orders(words) {
  const ended = await program(CONTEXT402_BIN, ['orders', ...words, '--config', `${WORK}/context402.toml`]);
  assert.equal(ended.code, 0, ended.stderr);
  return ended.stdout;
}

/** The order of an event, as the operator sees it, once it has come to `state`. */
async function orderOf(told, state) {
  for (let tries = 0; tries < 200; tries += 1) {
    const listed = await orders(['list', '--state', state]);
    for (const id of listed.match(/ord_[0-9a-f]{32}/g) ?? []) {
      const order = JSON.parse(await orders(['show', id]));
      if (order.session_id === told.data.object.id) return order;
    }
    await pause(0.2);
  }
  return assert.fail(`no order came to ${state}`);
}

async function paid(changes) {
  const email = newBuyer();
  const lead = await leadFor({ email, sources: SOURCES });
  return event({ reference: lead.lead_id, email, ...changes });
}

const libraries = [
  ['npm', signedByNode],
  ['PyPI', signedByPython],
];
for (const [name, sign] of libraries) {
  check(`an event signed by the provider's library of ${name} is taken, by each secret in force`, async () => {
    for (const secret of [undefined, WEBHOOK_FORMER_SECRET]) {
      const payload = JSON.stringify(await paid());
      const reply = await send(payload, await sign(payload, secret ? { secret } : {}));
      assert.deepEqual([reply.status, reply.json], [200, { received: true }], String(reply));
    }
  });

  check(`what the library of ${name} signs otherwise is refused`, async () => {
    const payload = JSON.stringify(await paid());
    const headers = {
      'another secret': await sign(payload, { secret: 'whsec_somebody_elses_secret' }),
      'old': await sign(payload, { timestamp: now() - 400 }),
      'of the future': await sign(payload, { timestamp: now() + 400 }),
      'of another body': await sign(payload.replace('700', '701')),
      'of the same with white space': await sign(JSON.stringify(JSON.parse(payload), null, 2)),
    };
    for (const [what, header] of Object.entries(headers)) {
      const reply = await send(payload, header);
      assert.deepEqual([reply.status, reply.json.error.code], [400, 'invalid_signature'], `${what}: ${reply}`);
    }
    const seen = await delivery(JSON.parse(payload));
    assert.deepEqual([seen.status, seen.json.status], [202, 'pending'], String(seen));
    assert.equal(seen.json.order_id, undefined);
    assert.equal((await send(payload, await sign(payload))).status, 200);
  });
}

check('the same event fifty times at once is one order', async () => {
  const told = await paid();
  const replies = await Promise.all(Array.from({ length: 50 }, () => tell(told)));
  assert.ok(replies.every((reply) => reply.status === 200), replies.join('\n'));
  assert.equal(replies.filter((reply) => !reply.json.repeated).length, 1);
  const order = await orderOf(told, 'fulfilled');
  assert.equal(order.events.length, 1);
  assert.deepEqual(order.trail.map((step) => step.what), ['paid', 'processing started', 'fulfilled']);
});

const doubts = [
  ['another amount', 'amount', { session: { amount_total: 200 } }],
  ['another currency', 'currency', { session: { currency: 'jpy' } }],
  ['a live event in test mode', 'mode', { event: { livemode: true }, session: { livemode: true } }],
];
for (const [what, doubt, changes] of doubts) {
  check(`${what} is set aside for the operator`, async () => {
    const told = await paid(changes);
    assert.equal((await tell(told)).status, 200);
    assert.equal((await orderOf(told, 'needs_review')).doubt, doubt);
    assert.equal((await delivery(told)).json.status, 'pending');
  });
}

check('a payment that failed and then succeeds is fulfilled, in either order', async () => {
  const told = await paid({ event: { type: 'checkout.session.async_payment_failed' } });
  const then = { ...told, id: `${told.id}2`, type: 'checkout.session.async_payment_succeeded' };
  const late = { ...told, id: `${told.id}3` };
  for (const one of [told, then, late]) assert.equal((await tell(one)).status, 200);
  await orderOf(told, 'fulfilled');
});
