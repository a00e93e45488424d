// Further services, for checks that stop theirs or need other settings. Each has a port and a data file of its own.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { freePort, pause } from './ports.mjs';

const { CONTEXT402_BIN, WORK } = process.env;

/**
 * Starts the service with the configuration of all checks, but for what `environment` says. `name` is its data file's;
 * with `earlier`, one that has ended, it comes back at the same address.
 */
export async function start(name, environment = {}, earlier = undefined) {
  const url = earlier?.url ?? `http://127.0.0.1:${await freePort()}`;
  const log = fs.openSync(path.join(WORK, 'service.log'), 'a');
  const child = spawn(CONTEXT402_BIN, ['serve', '--create', '--config', path.join(WORK, 'context402.toml')], {
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      CONTEXT402_BASE_URL: url,
      CONTEXT402_LISTEN: new URL(url).host,
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
  const stop = async () => {
    child.kill('SIGTERM');
    assert.deepEqual(await ended, { code: 0, signal: null });
  };
  for (let tries = 0; tries < 100; tries += 1) {
    if (await fetch(`${url}/health`).then((reply) => reply.ok, () => false)) {
      return { url, ended, stop, kill: () => child.kill('SIGKILL') };
    }
    await pause(0.1);
  }
  child.kill('SIGKILL');
  return assert.fail('the service did not come up');
}
