// A second service for what the demo does not have: a console to sign in to, and bundles in every state.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort, pause } from '../checks/ports.mjs';

const { CONTEXT402_BIN, WORK } = process.env;
const TOKEN = randomBytes(24).toString('hex');
const SECRET = `whsec_${randomBytes(24).toString('hex')}`;
// Throwaway, with test funds.
const WALLET = `0x${randomBytes(32).toString('hex')}`;
const PAY_TO = '0x4020402040204020402040204020402040204020';
const CLAIM = 'The oldest lighthouse on this coast was lit in 1774.';
const LONG = 'Lighthousekeepersassociationfoundationanniversarycelebrationcommittee'.repeat(3);
const fresh = (prefix) => prefix + randomBytes(12).toString('hex');

const PAGES = {
  '/article': ['Lighthouses of the North Sea', 'The oldest lighthouse on this coast was lit in 1774 and burned coal for its first fifty years.', 'Its keepers wrote down every passing ship.'],
  '/copy': ['Lighthouses of the North Sea', 'The oldest lighthouse on this coast was lit in 1774 and burned coal for its first fifty years.', 'Its keepers wrote down every passing ship.'],
  '/guide': ['A guide to the towers', 'As the harbour office writes, the oldest lighthouse on this coast was lit in 1774. Visitors pay 4 euros and climb 97 steps.'],
  '/rival': ['Another history of the coast', 'The oldest lighthouse on this coast was lit in 1792, according to the books of the pilots. It was rebuilt in 1833.'],
  '/long': [LONG, `${LONG} was lit in 1774 on this coast. The oldest lighthouse is named by ${LONG}.`],
  '/other': ['Bread of the islands', 'Rye bread is baked on Fridays. The mill stands still in winter, and the baker goes fishing.'],
};

function serveSite() {
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://site');
    if (pathname.startsWith('/down')) return request.socket.destroy();
    const [title, ...paragraphs] = PAGES[pathname] ?? ['There is nothing here'];
    response.writeHead(PAGES[pathname] ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
    return response.end(`<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1>${
      paragraphs.map((text) => `<p>${text}</p>`).join('\n')}</main></html>`);
  });
  server.listen(0, '127.0.0.1').unref();
  return once(server, 'listening').then(() => server.address().port);
}

async function until(what, look) {
  for (let tries = 0; tries < 300; tries += 1) {
    const found = await look().catch(() => undefined);
    if (found) return found;
    await pause(0.2);
  }
  return assert.fail(`waited in vain: ${what}`);
}

const SOURCE = 'http://news.sample-site.org';
const MIRROR = 'http://www.second-site.org';

async function serve() {
  const [site, port] = [await serveSite(), await freePort()];
  const base = `http://127.0.0.1:${port}`;
  const config = path.join(WORK, 'stand.toml');
  fs.writeFileSync(config, `
base_url = "${base}"
listen = "127.0.0.1:${port}"
data_file = "${path.join(WORK, 'stand.redb')}"
contact = "desk@example.com"
[payment]
pay_to = "${PAY_TO}"
[bundles]
builder_link = "https://buy.example.com/b/builder"
livemode = false
source_pause_seconds = 3600
[lab]
hosts = { "news.sample-site.org" = "93.184.216.34@127.0.0.1:${site}", "www.second-site.org" = "93.184.216.37@127.0.0.1:${site}" }
`);
  const log = fs.openSync(path.join(WORK, 'stand.log'), 'a');
  const child = spawn(CONTEXT402_BIN, ['serve', '--create', '--config', config], {
    stdio: ['ignore', log, log],
    env: { ...process.env, CONTEXT402_OPERATOR_TOKEN: TOKEN, CONTEXT402_BUNDLES_WEBHOOK_SECRETS: SECRET },
  });
  process.on('exit', () => child.kill('SIGKILL'));
  await until('the second service', async () => (await fetch(`${base}/health`)).ok);
  return base;
}

const post = async (url, body, headers = {}) => {
  const reply = await fetch(url, {
    method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body),
  });
  const text = await reply.text();
  assert.ok(reply.ok, `${url}: ${reply.status} ${text}`);
  return JSON.parse(text);
};

/** Asks for a bundle and has the provider tell of its checkout; gives the session. */
async function order(base, sources, { session = {}, type = 'completed' } = {}) {
  const email = `${fresh('buyer')}@example.com`;
  const lead = await post(`${base}/v1/proof-pack/bundle/leads`, {
    contact: email, target_urls: sources, question: CLAIM, bundle: 'builder', use_case: LONG,
  });
  const now = Math.floor(Date.now() / 1000);
  const payload = JSON.stringify({
    id: fresh('evt_'), object: 'event', created: now, livemode: false, type: `checkout.session.${type}`,
    data: {
      object: {
        id: fresh('cs_test_'), object: 'checkout.session', mode: 'payment', status: 'complete', payment_status: 'paid',
        amount_total: 700, currency: 'usd', client_reference_id: lead.lead_id, livemode: false, created: now,
        customer_details: { email, name: 'Ann Example' }, ...session,
      },
    },
  });
  const signature = createHmac('sha256', SECRET).update(`${now}.${payload}`).digest('hex');
  const reply = await fetch(`${base}/v1/webhooks/stripe`, {
    method: 'POST', headers: { 'stripe-signature': `t=${now},v1=${signature}` }, body: payload,
  });
  assert.equal(reply.status, 200);
  return JSON.parse(payload).data.object.id;
}

async function ordersInEveryState(base) {
  const comes = async (session, status) => {
    await until(`an order is ${status}`, async () => {
      const reply = await fetch(`${base}/v1/proof-pack/bundle/delivery?session_id=${session}`);
      return (await reply.json()).status === status;
    });
    return session;
  };
  const all = ['/article', '/guide', '/rival', '/long', '/other', '/gone'].map((page) => SOURCE + page);
  const refunded = await comes(await order(base, [`${SOURCE}/guide`]), 'fulfilled');
  const { orders } = await operator(base, '/operator/orders');
  await post(`${base}/operator/orders/${orders[0].order_id}/refund`, {}, { authorization: `Bearer ${TOKEN}` });
  return {
    delivered: await comes(await order(base, [...all, `${MIRROR}/copy`]), 'fulfilled'),
    failed: await comes(await order(base, [`${SOURCE}/gone`]), 'failed'),
    refunded: await comes(refunded, 'refunded'),
    waiting: await comes(await order(base, [`${SOURCE}/article`, `${SOURCE}/down`]), 'processing'),
    unpaid: await comes(await order(base, all, { session: { payment_status: 'unpaid' } }), 'pending'),
    doubtful: await comes(await order(base, all, { session: { amount_total: 1 } }), 'pending'),
    declined: await comes(await order(base, all, { type: 'async_payment_failed', session: { payment_status: 'unpaid' } }), 'payment_failed'),
    unknown: fresh('cs_test_'),
  };
}

const operator = async (base, address) =>
  (await fetch(base + address, { headers: { authorization: `Bearer ${TOKEN}` } })).json();

/** What a model might have written about the sources: claims that they support, contradict, contest and do not know. */
const TEXT = `${CLAIM} It burned coal for its first fifty years. It was rebuilt in 1840. Visitors pay 9 euros and climb 97 steps.
I like lighthouses. The moon is made of cheese.`;

/** A page, a report and a checked text that are paid for, and a page that is down: a credit is owed. Gives the path of the text. */
async function purchases(base) {
  const key = path.join(WORK, 'stand.key');
  fs.writeFileSync(key, `${WALLET}\n`, { mode: 0o600 });
  const buys = async (...args) => {
    const words = ['buy', ...args, '--json', '--seller', base, '--key-file', key];
    const child = spawn(CONTEXT402_BIN, words, { stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = once(child, 'exit');
    const printed = await text(child.stdout);
    const [code] = await ended;
    // So that a list by seconds has them in their order.
    await pause(1.1);
    return { code, printed };
  };
  const file = path.join(WORK, 'text.txt');
  fs.writeFileSync(file, TEXT);
  assert.equal((await buys(`${SOURCE}/article`)).code, 0);
  assert.equal((await buys(`${SOURCE}/guide`, '--pack', 'standard', '--question', CLAIM)).code, 0);
  const checked = await buys(...['/article', '/guide', '/rival'].map((page) => SOURCE + page), '--check', file);
  assert.equal(checked.code, 0);
  assert.notEqual((await buys(`${SOURCE}/down`)).code, 0);
  return new URL(JSON.parse(checked.printed).report_page).pathname;
}

async function signIn(base) {
  const reply = await fetch(`${base}/operator/login`, {
    method: 'POST', redirect: 'manual', headers: { origin: base }, body: new URLSearchParams({ token: TOKEN }),
  });
  const [name, value] = reply.headers.get('set-cookie').split(';')[0].split('=');
  return { name, value, url: `${base}/operator` };
}

/** Every page of the console with something in it, forms that were sent, and a bundle's delivery in every state. */
async function pages(base, sessions, checkedPath) {
  const [{ leads }, { orders }, { payments }] = await Promise.all(
    ['/operator/leads', '/operator/orders', '/operator/payments'].map((address) => operator(base, address)));
  const views = ['leads', 'orders', 'payments', 'reports', 'outbox', 'events', 'ledger', 'data', 'limits', 'health', 'config', 'changes'];
  // Beyond so many looks a page does not look again by itself; before, a check has half a minute.
  const looks = { waiting: '&look=27', unpaid: '&look=27', doubtful: '&look=40', unknown: '&look=27' };
  return [
    '/operator',
    ...views.map((view) => `/operator/console/${view}`),
    `/operator/console/leads?id=${leads[0].lead_id}`,
    '/operator/console/leads?state=lost',
    ...orders.map(({ order_id: id }) => `/operator/console/orders?id=${id}`),
    `/operator/console/payments?id=${payments[0].key}`,
    checkedPath,
    `/operator/console/data?email=${encodeURIComponent(leads[0].contact)}`,
    ...Object.entries(sessions).map(([state, session]) =>
      `/proof-pack/bundle/delivery?session_id=${session}${looks[state] ?? ''}`),
    '/proof-pack/bundle/delivery?session_id=nonsense',
    '/proof-pack/bundle/recover',
    '/proof-pack/bundle/recover?email=nobody%40example.com&target_url=example.com',
    `/proof-pack/bundle/quote?bundle=scout&target_urls=${encodeURIComponent(`${SOURCE}/article ${SOURCE}/guide ftp://example.com 127.0.0.1`)}`,
    `/proof-pack/request?bundle=audit&target_urls=${encodeURIComponent(`${SOURCE}/article`)}`,
  ].map((address) => base + address);
}

let opened;
/** The base address, the cookie of whoever is signed in, and the pages; one service for all checks. */
export const stand = () => (opened ??= (async () => {
  const base = await serve();
  const sessions = await ordersInEveryState(base);
  const checkedPath = await purchases(base);
  return { base, token: TOKEN, sessions, checkedPath, cookie: await signIn(base), pages: await pages(base, sessions, checkedPath) };
})());
