// The words of the checks: ask the seller, sign a challenge, look at the chain and at the facilitator's log.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { appendPaymentIdentifierToExtensions } from '@x402/extensions';
import { keccak256, pad, toBytes } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { KEYS, PAY_TO, TOKEN, rpc } from '../rig/world.mjs';

const { SELLER_URL, SITE_URL, FACILITATOR_URL } = process.env;

/** The specification's prices, in units of USDC. */
export const PRICES = { starter: 12000n, cached: 15000n, basic: 20000n, fresh: 30000n, deep: 50000n };
export const ACCESS = '/v1/x402/access';
export const BUNDLE = '/v1/x402/proof-bundle';
export const CHECK = '/v1/x402/check';
export const SCOUT = 2000000n;
export const QUICK_SOURCE = 100000n;
export const CLAIM = 'The oldest lighthouse on this coast was lit in 1774.';
/** Words that stand in the sold page and nowhere in the service. */
export const PAGE_WORDS = /The oldest lighthouse on this coast was lit in 1774/;

let pages = 0;
/** An address of the site that nobody has bought yet. */
export const newPage = (folder = 'pages') => `${SITE_URL}/${folder}/${(pages += 1)}`;

/** What one payment buys: where, with which body, for how many units. Each answer has PAGE_WORDS. */
export const PRODUCTS = {
  'a page': [ACCESS, () => ({ target_url: newPage(), tier: 'fresh' }), PRICES.fresh],
  'two pages': [ACCESS, () => ({ target_urls: [newPage(), newPage()], tier: 'fresh' }), 2n * PRICES.fresh],
  'a Proof Pack': ['/v1/x402/proof-pack', () => ({ target_url: newPage(), question: CLAIM, pack: 'quick' }), 100000n],
  'an Evidence Bundle': [BUNDLE, () => ({ sources: [newPage(), { title: 'Notes', text: CLAIM }], question: CLAIM }), SCOUT],
  'a checked text': [CHECK, () => ({ text: CLAIM, sources: [newPage(), { text: CLAIM }], depth: 'quick' }), 2n * QUICK_SOURCE],
};

export async function ask(path, { method = 'POST', body, headers = {}, seller = SELLER_URL } = {}) {
  const reply = await fetch(seller + path, {
    method,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const bytes = Buffer.from(await reply.arrayBuffer());
  let json;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch {
    // Not every answer is JSON; a check that needs it says so.
  }
  const settlement = reply.headers.get('payment-response');
  return {
    status: reply.status,
    header: (name) => reply.headers.get(name),
    bytes,
    json,
    settlement: settlement === null ? null : decodePaymentResponseHeader(settlement),
    toString: () => `${reply.status} ${bytes.toString('utf8').slice(0, 600)}`,
  };
}

/** The challenge of a tier, as the official client reads it. */
export async function challenge(tier, seller) {
  const reply = await ask(`${ACCESS}?tier=${tier}`, { seller });
  assert.equal(reply.status, 402, String(reply));
  return decodePaymentRequiredHeader(reply.header('payment-required'));
}

/**
 * Signs with the official client. `from` is a smart wallet's address if the key only owns it; `identifier` is the
 * buyer's own name for the purchase (extension payment-identifier).
 */
export async function sign(paymentRequired, { key = KEYS.buyer1, from, identifier } = {}) {
  if (identifier) appendPaymentIdentifierToExtensions(paymentRequired.extensions, identifier);
  const account = privateKeyToAccount(key);
  const signer = from ? { address: from, signTypedData: (data) => account.signTypedData(data) } : account;
  // By itself it pays no more than a dollar at once.
  const wallet = new x402Client().register('eip155:*', new ExactEvmScheme(signer)).setSpendControls({ maxAmountPerPayment: '$20' });
  const client = new x402HTTPClient(wallet);
  const payload = await client.createPaymentPayload(paymentRequired);
  return { headers: client.encodePaymentSignatureHeader(payload), nonce: payload.payload.authorization.nonce, payload };
}

/** A purchase that is signed and not sent yet. */
export async function prepare({ tier = 'fresh', page = newPage(), seller, ...who } = {}) {
  return signed(ACCESS, { target_url: page, tier }, await challenge(tier, seller), { seller, ...who });
}

/** The same of one of PRODUCTS. */
export async function prepareProduct(product, seller) {
  const [path, makeBody, price] = PRODUCTS[product];
  const body = makeBody();
  const unpaid = await ask(path, { body, seller });
  assert.equal(unpaid.status, 402, String(unpaid));
  const terms = decodePaymentRequiredHeader(unpaid.header('payment-required'));
  assert.equal(terms.accepts[0].amount, String(price), product);
  return { ...await signed(path, body, terms, { seller }), price };
}

async function signed(path, body, terms, { seller, ...who }) {
  const { headers, nonce, payload } = await sign(terms, who);
  const send = (changes = {}) => ask(path, { body: { ...body, ...changes }, headers, seller });
  return { send, body, headers, nonce, payload };
}

/** The vault's balance in units. */
export async function vault() {
  return BigInt(await rpc('eth_call', [{ to: TOKEN, data: `0x70a08231${pad(PAY_TO).slice(2)}` }, 'latest']));
}

/** What the vault gained while `run` ran, and what it gave back. */
export async function gain(run) {
  const before = await vault();
  const result = await run();
  return { gained: (await vault()) - before, result };
}

const topic = (signature) => keccak256(toBytes(signature));
const logs = (topics) => rpc('eth_getLogs', [{ address: TOKEN, fromBlock: 'earliest', toBlock: 'latest', topics }]);

/** The amounts that reached the vault by this authorization. */
export async function transfers(nonce) {
  const used = await logs([topic('AuthorizationUsed(address,bytes32)'), null, nonce]);
  const toVault = await logs([topic('Transfer(address,address,uint256)'), null, pad(PAY_TO).toLowerCase()]);
  return used.flatMap((use) =>
    toVault.filter((log) => log.transactionHash === use.transactionHash).map((log) => BigInt(log.data)));
}

export const facilitator = {
  async fault(faults) {
    await fetch(`${FACILITATOR_URL}/__control`, { method: 'POST', body: JSON.stringify(faults) });
  },
  /** What was asked about this authorization, such as ["verify", "settle"]. */
  async operations(nonce) {
    return (await this.log(nonce)).map((entry) => entry.operation);
  },
  async log(nonce) {
    return (await (await fetch(`${FACILITATOR_URL}/__log`)).json()).filter((entry) => entry.nonce === nonce);
  },
  async indexed() {
    return (await (await fetch(`${FACILITATOR_URL}/discovery/resources`)).json()).items;
  },
};

/** Runs a program; gives its exit code and output. */
export function program(command, words, { env = {}, input = '', cwd = undefined } = {}) {
  const options = { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024, cwd };
  return new Promise((resolve) => {
    const child = execFile(command, words, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
    // Whoever ends without reading its input says how it went by its exit code.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

/** Runs an official client as a program of its own. */
export async function officialClient(command, script, url, body) {
  const file = new URL(`../rig/${script}`, import.meta.url).pathname;
  const ended = await program(command, [file, url, 'POST', JSON.stringify(body)], { env: { PRIVATE_KEY: KEYS.buyer1 } });
  assert.equal(ended.code, 0, ended.stderr);
  return JSON.parse(ended.stdout);
}

export { pause } from './ports.mjs';
