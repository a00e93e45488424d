// A real facilitator, made of the official packages, on the local chain, with faults on demand.
//
//   POST /__control {"verify": FAULT, "settle": FAULT}   sets the faults; what is not named is in order again
//   GET  /__log                                          every verify and settle since the last reset
//   POST /__reset                                        forgets faults, log and catalogue
//   GET  /discovery/resources                            what a directory would have indexed
//
// FAULT is {mode, n, status, body, headers}; n is how many calls it meets (all when absent). The modes:
//   ok       nothing
//   http     answers `status` (500) with `body`
//   hang     takes the request and never answers
//   reset    drops the connection before doing anything
//   badjson  answers 200 with a page of HTML
//   invalid  answers `body`: by default a definite refusal, insufficient_funds
//   lost     does it on chain, then drops the connection
//   slow     does it only after `ms`
//   pending  settles on chain, answers settlement_pending first and the result to a repetition
import http from 'node:http';
import { createWalletClient, http as transport, publicActions } from 'viem';
import { nonceManager, privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import {
  BAZAAR, extractDiscoveryInfo, validateDiscoveryExtension, validateDiscoveryExtensionSpec,
} from '@x402/extensions/bazaar';
import { KEYS, NETWORK } from './world.mjs';

const account = privateKeyToAccount(KEYS.facilitator, { nonceManager });
const chain = createWalletClient({
  account, chain: base, transport: transport(process.env.RPC_URL), pollingInterval: 50,
}).extend(publicActions);
const signer = toFacilitatorEvmSigner({
  address: account.address,
  readContract: (call) => chain.readContract({ ...call, args: call.args ?? [] }),
  verifyTypedData: (call) => chain.verifyTypedData(call),
  writeContract: (call) => chain.writeContract(call),
  sendTransaction: (call) => chain.sendTransaction(call),
  waitForTransactionReceipt: (call) => chain.waitForTransactionReceipt(call),
  getCode: (call) => chain.getCode(call),
});
const facilitator = new x402Facilitator()
  .register(NETWORK, new ExactEvmScheme(signer))
  .registerExtension(BAZAAR);

let faults = {};
let log = [];
const catalogue = new Map();
const pending = new Map();

function takeFault(operation) {
  const fault = faults[operation];
  if (!fault || fault.n === 0) return { mode: 'ok' };
  if (fault.n !== undefined) fault.n -= 1;
  return fault;
}

function send(response, status, body, headers = {}) {
  if (response.destroyed) return;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers,
  });
  response.end(text);
}

async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function refusal(operation, payer) {
  return operation === 'verify'
    ? { isValid: false, invalidReason: 'insufficient_funds', payer }
    : { success: false, errorReason: 'insufficient_funds', payer, transaction: '', network: NETWORK };
}

// What a directory makes of the payment's bazaar extension; a settled one is indexed.
function index(operation, payload, requirements, result) {
  const bazaar = payload.extensions?.[BAZAAR.key];
  if (!bazaar) return undefined;
  const judged = [validateDiscoveryExtension(bazaar), validateDiscoveryExtensionSpec(bazaar)];
  if (judged.some((verdict) => !verdict.valid)) {
    return { status: 'rejected', rejectedReason: judged.flatMap((verdict) => verdict.errors ?? []).join('; ') };
  }
  const found = extractDiscoveryInfo(payload, requirements);
  if (!found) return { status: 'rejected', rejectedReason: 'no discovery information' };
  if (operation === 'settle' && result.success) {
    catalogue.set(`${found.method} ${found.resourceUrl}`, {
      resource: found.resourceUrl, type: 'http', x402Version: 2, method: found.method, accepts: [requirements],
      description: found.description, extensions: { bazaar },
    });
  }
  return { status: 'success' };
}

async function operate(operation, request, response) {
  const text = await read(request);
  const { x402Version, paymentPayload, paymentRequirements } = JSON.parse(text);
  const { from, nonce } = paymentPayload?.payload?.authorization ?? {};
  const fault = takeFault(operation);
  const entry = {
    operation, x402Version, from, nonce, amount: paymentRequirements?.amount, request: text,
    resource: paymentPayload?.resource, extensions: Object.keys(paymentPayload?.extensions ?? {}), fault: fault.mode,
  };
  log.push(entry);
  switch (fault.mode) {
    case 'http': return send(response, fault.status ?? 500, fault.body ?? { error: 'injected' }, fault.headers);
    case 'hang': return undefined;
    case 'reset': return request.socket.destroy();
    case 'badjson': return send(response, 200, '<html>This is not JSON.</html>');
    case 'invalid': return send(response, 200, fault.body ?? refusal(operation, from));
    case 'slow':
      await new Promise((done) => setTimeout(done, fault.ms));
      break;
    default:
  }
  if (operation === 'settle' && pending.has(nonce)) {
    entry.response = pending.get(nonce);
    pending.delete(nonce);
    return send(response, 200, entry.response);
  }
  const result = await facilitator[operation](paymentPayload, paymentRequirements);
  entry.response = result;
  if (fault.mode === 'lost') return request.socket.destroy();
  if (fault.mode === 'pending' && result.success) {
    pending.set(nonce, result);
    return send(response, 200, { ...result, success: false, errorReason: 'settlement_pending' });
  }
  entry.bazaar = index(operation, paymentPayload, paymentRequirements, result);
  const headers = entry.bazaar
    ? { 'EXTENSION-RESPONSES': Buffer.from(JSON.stringify({ bazaar: entry.bazaar })).toString('base64') }
    : {};
  return send(response, 200, result, headers);
}

async function answer(request, response) {
  switch (new URL(request.url, 'http://rig').pathname) {
    case '/verify': return operate('verify', request, response);
    case '/settle': return operate('settle', request, response);
    case '/supported': return send(response, 200, facilitator.getSupported());
    case '/discovery/resources':
      return send(response, 200, { x402Version: 2, items: [...catalogue.values()] });
    case '/__log': return send(response, 200, log);
    case '/__control':
      faults = JSON.parse(await read(request));
      return send(response, 200, faults);
    case '/__reset':
      faults = {};
      log = [];
      catalogue.clear();
      pending.clear();
      return send(response, 200, {});
    default: return send(response, 404, { error: 'not found' });
  }
}

http.createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error);
    send(response, 500, { error: String(error.message ?? error) });
  });
}).listen(Number(process.env.PORT), '127.0.0.1');
