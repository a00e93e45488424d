// A service that dies in the middle of a sale and comes back. Each has a port and a data file of its own.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { PAGE_WORDS, PRICES, pause, prepare, transfers } from './shop.mjs';
import { check } from './suite.mjs';

const { CONTEXT402_BIN, WORK } = process.env;

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** The service with the configuration of all checks, but for what `environment` says. */
async function start(seller, name, environment = {}) {
  const log = fs.openSync(path.join(WORK, 'service.log'), 'a');
  const child = spawn(CONTEXT402_BIN, ['serve', '--create', '--config', path.join(WORK, 'context402.toml')], {
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      CONTEXT402_BASE_URL: seller,
      CONTEXT402_LISTEN: new URL(seller).host,
      CONTEXT402_DATA_FILE: path.join(WORK, `${name}.redb`),
      ...environment,
    },
  });
  fs.closeSync(log);
  // So that it is ended with the rest if this process ends first.
  const pidFile = path.join(WORK, `${name}.pid`);
  fs.writeFileSync(pidFile, String(child.pid));
  const ended = once(child, 'exit').then(([code, signal]) => {
    fs.rmSync(pidFile, { force: true });
    return { code, signal };
  });
  for (let tries = 0; tries < 100; tries += 1) {
    const isUp = await fetch(`${seller}/health`).then((reply) => reply.ok, () => false);
    if (isUp) return { child, ended };
    await pause(0.1);
  }
  child.kill('SIGKILL');
  return assert.fail('the service did not come up');
}

async function stop({ child, ended }) {
  child.kill('SIGTERM');
  assert.deepEqual(await ended, { code: 0, signal: null });
}

// Where it dies, and what the same payment may be answered with once it is back. After `settled` only the facilitator
// knows what became of the payment, and this one says no more than that the nonce is used.
const points = [
  ['verified', [200]],
  ['kept', [200]],
  ['settled', [200, 503]],
];
for (const [point, statuses] of points) {
  check(`a crash once ${point}: the same payment afterwards is never answered with 402, and moves money once`, async () => {
    const seller = `http://127.0.0.1:${await freePort()}`;
    const doomed = await start(seller, point, { CONTEXT402_LAB_CRASH_AT: point });
    const purchase = await prepare({ seller });
    await assert.rejects(purchase.send());
    assert.equal((await doomed.ended).signal, 'SIGABRT');

    const service = await start(seller, point);
    let reply = await purchase.send();
    for (let tries = 0; tries < 5 && reply.status !== 200; tries += 1) {
      assert.ok([409, 503].includes(reply.status), String(reply));
      await pause(1);
      reply = await purchase.send();
    }
    assert.ok(statuses.includes(reply.status), String(reply));
    if (reply.status === 200) assert.match(reply.json.markdown, PAGE_WORDS);
    assert.deepEqual(await transfers(purchase.nonce), [PRICES.fresh]);
    await stop(service);
  });
}

check('what was sold is still known after a stop and a start', async () => {
  const seller = `http://127.0.0.1:${await freePort()}`;
  const first = await start(seller, 'restart');
  const purchase = await prepare({ seller });
  const bought = await purchase.send();
  assert.equal(bought.status, 200, String(bought));
  await stop(first);
  const second = await start(seller, 'restart');
  const again = await purchase.send();
  assert.equal(again.status, 200, String(again));
  assert.ok(again.bytes.equals(bought.bytes), 'the bytes differ');
  assert.deepEqual(await transfers(purchase.nonce), [PRICES.fresh]);
  await stop(second);
});
