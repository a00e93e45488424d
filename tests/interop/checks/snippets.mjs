// The examples of /docs, taken from the page and run as they stand there; only the environment is ours. Each buys what it
// shows, at exactly its price, and gets the response that is shown beside it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { createSIWxPayload, encodeSIWxHeader } from '@x402/extensions/sign-in-with-x';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { privateKeyToAccount } from 'viem/accounts';
import { KEYS } from '../rig/world.mjs';
import { PRICES, gain, newPage, prepare, program, sign } from './shop.mjs';
import { check } from './suite.mjs';

const { RIG_PYTHON, RIG_WORK, SELLER_URL, VALIDATORS_NODE } = process.env;

/** What each example costs, in units of USDC. */
const COSTS = {
  access: PRICES.starter,
  pages: 2n * PRICES.fresh,
  excerpt: PRICES.starter,
  'proof-pack': 100000n,
  'proof-bundle': 2000000n,
  quote: 0n,
  retry: PRICES.fresh,
  check: 200000n,
  // Shows the purchase of the example before it.
  purchases: 0n,
  'pack-quote': 0n,
  'bundle-quote': 0n,
  report: 0n,
  verify: 0n,
  'follow-up': 0n,
};

const text = (html) =>
  html.replace(/&(lt|gt|quot|#39|amp);/g, (_, name) => ({ lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' })[name]);

/** The programs and the response of every example of the page, by name. */
async function examples() {
  const page = await (await fetch(`${SELLER_URL}/docs`, { headers: { accept: 'text/html' } })).text();
  const [, ...parts] = page.split('<div class="example" id="example-');
  return new Map(parts.map((part) => {
    const blocks = [...part.matchAll(/<pre tabindex="0"><code>(.*?)<\/code><\/pre>/gs)].map(([, block]) => text(block));
    const [shell, typescript, python, response] = blocks;
    return [part.slice(0, part.indexOf('"')), { shell, typescript, python, response: JSON.parse(response) }];
  }));
}

/** The pattern of a text in which `…` stands for anything. */
const pattern = (shown) =>
  new RegExp(`^${shown.split(/\s*…/).map((part) => part.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('[^]*')}$`);

/** `shown` is part of `got`: `…` stands for anything, and a fraction that is no price for any number. */
function assertShown(shown, got, place) {
  if (Array.isArray(shown)) {
    assert.ok(Array.isArray(got), `${place} is a list`);
    if (shown.length === 0) assert.deepEqual(got, [], place);
    shown.forEach((item, index) => assertShown(item, got[index], `${place}[${index}]`));
  } else if (shown !== null && typeof shown === 'object') {
    assert.ok(got !== null && typeof got === 'object', `${place} is an object`);
    for (const [name, value] of Object.entries(shown)) {
      if (name.endsWith('_usdc')) assert.equal(got[name], value, `${place}.${name}`);
      else assertShown(value, got[name], `${place}.${name}`);
    }
  } else if (typeof shown === 'string' && shown.includes('…')) {
    assert.match(got, pattern(shown), place);
  } else if (typeof shown === 'number' && !Number.isInteger(shown)) {
    assert.equal(typeof got, 'number', place);
  } else {
    assert.deepEqual(got, shown, place);
  }
}

const folder = path.join(RIG_WORK, 'snippets');

/** What a retry needs: a payment that was answered 503 because its page was down. */
async function owed() {
  const purchase = await prepare({ page: newPage('flaky') });
  const down = await purchase.send();
  assert.equal(down.status, 503, String(down));
  return { RETRY_CREDIT: down.header('x-service-retry-credit'), TARGET_URL: purchase.body.target_url };
}

async function run(command, words, environment) {
  const ended = await program(command, words, {
    env: { BASE_URL: SELLER_URL, PRIVATE_KEY: KEYS.buyer1, ...environment }, cwd: folder,
  });
  assert.equal(ended.code, 0, ended.stderr);
  return ended.stdout;
}

/** The headers and the body that `curl -i` printed. */
function received(printed) {
  const end = printed.indexOf('\r\n\r\n');
  const [status, ...lines] = printed.slice(0, end).split('\r\n');
  const headers = new Headers(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]));
  return { status: Number(status.split(' ')[1]), headers, body: JSON.parse(printed.slice(end + 4)) };
}

/** Runs the shell's example; where it is answered 402, signs what that says and runs it again. */
async function runShell(file, environment) {
  const words = [file];
  const first = received(await run('bash', words, environment));
  if (first.status === 200) return first.body;
  assert.equal(first.status, 402, JSON.stringify(first.body));
  const asked = first.headers.get('payment-required');
  const statement = first.body.extensions?.['sign-in-with-x'];
  let signed;
  if (statement) {
    const account = privateKeyToAccount(KEYS.buyer1);
    const payload = await createSIWxPayload(
      { ...statement.info, ...statement.supportedChains[0] }, account, first.body.resource.url);
    signed = { SIGN_IN: encodeSIWxHeader(payload) };
  } else {
    const { headers } = await sign(decodePaymentRequiredHeader(asked));
    signed = { PAYMENT_SIGNATURE: headers['PAYMENT-SIGNATURE'] };
  }
  const second = received(await run('bash', words, { ...environment, ...signed }));
  assert.equal(second.status, 200, JSON.stringify(second.body));
  return second.body;
}

const LANGUAGES = {
  shell: { extension: 'sh', run: runShell },
  typescript: { extension: 'ts', run: async (file, environment) => JSON.parse(await run(VALIDATORS_NODE, [file], environment)) },
  python: { extension: 'py', run: async (file, environment) => JSON.parse(await run(RIG_PYTHON, [file], environment)) },
};

check('every example of the reference is run here', async () => {
  assert.deepEqual([...(await examples()).keys()].sort(), Object.keys(COSTS).sort());
});

for (const [name, cost] of Object.entries(COSTS)) {
  for (const [language, { extension, run: runIt }] of Object.entries(LANGUAGES)) {
    check(`the example ${name} of the reference does in ${language} what it shows, for ${cost} units`, async () => {
      const example = (await examples()).get(name);
      fs.mkdirSync(folder, { recursive: true });
      const file = path.join(folder, `${name}.${extension}`);
      fs.writeFileSync(file, example[language]);
      const environment = name === 'retry' ? await owed() : {};
      const { gained, result } = await gain(() => runIt(file, environment));
      assertShown(example.response, result, 'response');
      assert.equal(gained, cost);
    }, { secondsMax: 120 });
  }
}
