// A service that dies in the middle of a sale and comes back.
import assert from 'node:assert/strict';
import { start } from './service.mjs';
import { PAGE_WORDS, PRICES, PRODUCTS, pause, prepare, prepareProduct, transfers } from './shop.mjs';
import { check } from './suite.mjs';

// Where it dies. After `settled` the facilitator says no more of the payment than that the nonce is used: the chain
// knows what became of it.
const ends = Object.keys(PRODUCTS).flatMap((product) => ['verified', 'kept', 'settled'].map((point) => [product, point]));
for (const [product, point] of ends) {
  check(`a crash once ${point}: the same payment afterwards delivers ${product}, and moves money once`, async () => {
    const doomed = await start(point, { CONTEXT402_LAB_CRASH_AT: point });
    const purchase = await prepareProduct(product, doomed.url);
    await assert.rejects(purchase.send());
    assert.equal((await doomed.ended).signal, 'SIGABRT');

    const service = await start(point, {}, doomed);
    let reply = await purchase.send();
    for (let tries = 0; tries < 5 && reply.status !== 200; tries += 1) {
      assert.ok([409, 503].includes(reply.status), String(reply));
      await pause(1);
      reply = await purchase.send();
    }
    assert.equal(reply.status, 200, String(reply));
    assert.match(reply.bytes.toString(), PAGE_WORDS);
    assert.deepEqual(await transfers(purchase.nonce), [purchase.price]);
    await service.stop();
  });
}

check('what was sold is still known after a stop and a start', async () => {
  const first = await start('restart');
  const purchase = await prepare({ seller: first.url });
  const bought = await purchase.send();
  assert.equal(bought.status, 200, String(bought));
  await first.stop();
  const second = await start('restart', {}, first);
  const again = await purchase.send();
  assert.equal(again.status, 200, String(again));
  assert.ok(again.bytes.equals(bought.bytes), 'the bytes differ');
  assert.deepEqual(await transfers(purchase.nonce), [PRICES.fresh]);
  await second.stop();
});
