// The payment provider's side: events of its checkouts, signed by its own libraries, and the buyer's before that.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import Stripe from 'stripe';
import { ask, program } from './shop.mjs';

const { RIG_PYTHON, SELLER_URL, SITE_URL, WEBHOOK_SECRET } = process.env;
const provider = new Stripe('sk_test_nobody');

export const CLAIM = 'The oldest lighthouse on this coast was lit in 1774.';
export const DELIVERY = '/v1/proof-pack/bundle/delivery';
/** Ten sources: one, its mirror at two addresses, five of their own, one that is missing and one that is down. */
export const SOURCES = [
  `${SITE_URL}/article`,
  'http://www.second-site.org/article',
  'http://www.second-site.org/copy',
  ...[1, 2, 3, 4, 5].map((number) => `${SITE_URL}/notes/${number}`),
  `${SITE_URL}/missing`,
  'http://down.third-site.org/article',
];

const fresh = (prefix) => prefix + randomBytes(12).toString('hex');
export const now = () => Math.floor(Date.now() / 1000);

/** An address of a buyer who has bought nothing yet. */
export const newBuyer = () => `${fresh('buyer')}@example.com`;

/** Asks for a bundle; gives the lead's identifier and where to pay. */
export async function leadFor({ email, sources = SOURCES, seller }) {
  const body = { contact: email, target_urls: sources, question: CLAIM, bundle: 'builder' };
  const reply = await ask('/v1/proof-pack/bundle/leads', { body, seller });
  assert.equal(reply.status, 202, String(reply));
  return reply.json;
}

/** An event about a new checkout of the bundle builder, paid at once; `session` and `event` change it. */
export function event({ reference, email, session = {}, event: changes = {} }) {
  return {
    id: fresh('evt_'), object: 'event', api_version: '2026-01-28', created: now(), livemode: false,
    pending_webhooks: 1, request: { id: null, idempotency_key: null }, type: 'checkout.session.completed',
    data: {
      object: {
        id: fresh('cs_test_'), object: 'checkout.session', mode: 'payment', status: 'complete', payment_status: 'paid',
        amount_total: 700, currency: 'usd', client_reference_id: reference, customer_email: null,
        customer_details: { email, name: 'Ann Example' }, payment_link: 'plink_1', livemode: false, ...session,
      },
    },
    ...changes,
  };
}

/** The header as the npm package makes it. */
export const signedByNode = (payload, { secret = WEBHOOK_SECRET, timestamp = now() } = {}) =>
  provider.webhooks.generateTestHeaderString({ payload, secret, timestamp });

/** The header as the PyPI package makes it. */
export async function signedByPython(payload, { secret = WEBHOOK_SECRET, timestamp = now() } = {}) {
  const script = new URL('../rig/sign_event.py', import.meta.url).pathname;
  const ended = await program(RIG_PYTHON, [script, secret, String(timestamp)], { input: payload });
  assert.equal(ended.code, 0, ended.stderr);
  return ended.stdout.trim();
}

/** Sends an event as it is, under a header. */
export async function send(payload, header, seller = SELLER_URL) {
  const reply = await fetch(`${seller}/v1/webhooks/stripe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': header },
    body: payload,
  });
  const text = await reply.text();
  return { status: reply.status, json: JSON.parse(text), toString: () => `${reply.status} ${text}` };
}

/** Signs an event now and sends it. */
export async function tell(told, seller) {
  const payload = JSON.stringify(told);
  return send(payload, signedByNode(payload), seller);
}

export const sessionOf = (told) => told.data.object.id;

/** What the buyer of a checkout is told. */
export const delivery = (told, seller) =>
  ask(`${DELIVERY}?session_id=${sessionOf(told)}`, { method: 'GET', seller });
