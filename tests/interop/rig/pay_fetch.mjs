// node pay_fetch.mjs URL METHOD [BODY]: pays with the official TypeScript client; the key is in PRIVATE_KEY.
// Writes one line of JSON.
import { x402Client } from '@x402/core/client';
import { decodePaymentResponseHeader } from '@x402/core/http';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

const [url, method, body] = process.argv.slice(2);
// By itself it pays no more than a dollar at once.
const client = new x402Client()
  .register('eip155:*', new ExactEvmScheme(privateKeyToAccount(process.env.PRIVATE_KEY)))
  .setSpendControls({ maxAmountPerPayment: '$20' });
const statuses = [];
const observed = async (...request) => {
  const reply = await fetch(...request);
  statuses.push(reply.status);
  return reply;
};
const reply = await wrapFetchWithPayment(observed, client)(url, {
  method, body, headers: body ? { 'content-type': 'application/json' } : {},
});
const settlement = reply.headers.get('payment-response');
console.log(JSON.stringify({
  status: reply.status,
  statuses,
  payment_response: settlement === null ? null : decodePaymentResponseHeader(settlement),
  body: await reply.json(),
}));
