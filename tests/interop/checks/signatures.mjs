// What the service signs, as the official package of extensions reads and verifies it: its own look-up of the key included.
import assert from 'node:assert/strict';
import { createHash, createPublicKey, verify } from 'node:crypto';
import {
  OFFER_RECEIPT, canonicalize, decodeSignedOffers, extractJWSHeader, extractJWSPayload, extractOffersFromPaymentRequired,
  findAcceptsObjectFromSignedOffer, verifyOfferSignatureJWS, verifyReceiptMatchesOffer, verifyReceiptSignatureJWS,
} from '@x402/extensions';
import { PRICES, ask, challenge, prepare } from './shop.mjs';
import { check } from './suite.mjs';

for (const tier of Object.keys(PRICES)) {
  check(`the official package verifies the signed offer of ${tier}`, async () => {
    const required = await challenge(tier);
    const offers = extractOffersFromPaymentRequired(required);
    assert.equal(offers.length, 1);
    const payload = await verifyOfferSignatureJWS(offers[0]);
    assert.equal(payload.amount, String(PRICES[tier]));
    assert.equal(payload.resourceUrl, required.resource.url);
    const [decoded] = decodeSignedOffers(offers);
    assert.equal(findAcceptsObjectFromSignedOffer(decoded, required.accepts), required.accepts[0]);
  });
}

check('the official package verifies the receipt, and it matches the offer', async () => {
  const [offer] = decodeSignedOffers(extractOffersFromPaymentRequired(await challenge('fresh')));
  const purchase = await prepare();
  const answer = await purchase.send();
  assert.equal(answer.status, 200, String(answer));
  const { receipt } = answer.settlement.extensions[OFFER_RECEIPT].info;
  const payload = await verifyReceiptSignatureJWS(receipt);
  assert.equal(payload.transaction, answer.settlement.transaction);
  assert.equal(payload.contentSha256, createHash('sha256').update(answer.json.markdown).digest('hex'));
  assert.ok(verifyReceiptMatchesOffer(receipt, offer, [answer.settlement.payer]));
  assert.ok(!verifyReceiptMatchesOffer(receipt, offer, ['0x0000000000000000000000000000000000000001']));
});

check('what is signed is canonical JSON, and the key set verifies it too', async () => {
  const answer = await (await prepare()).send();
  const jws = answer.settlement.extensions[OFFER_RECEIPT].info.receipt.signature;
  const [head, payload, signature] = jws.split('.');
  const { keys } = (await ask('/.well-known/jwks.json', { method: 'GET' })).json;
  const key = keys.find(({ kid }) => kid === extractJWSHeader(jws).kid);
  const signed = Buffer.from(`${head}.${payload}`);
  assert.ok(verify(null, signed, createPublicKey({ key, format: 'jwk' }), Buffer.from(signature, 'base64url')));
  assert.equal(Buffer.from(payload, 'base64url').toString('utf8'), canonicalize(extractJWSPayload(jws)));
});

check('a receipt with one letter changed does not verify', async () => {
  const answer = await (await prepare()).send();
  const { receipt } = answer.settlement.extensions[OFFER_RECEIPT].info;
  const [head, payload, signature] = receipt.signature.split('.');
  const changed = `${head}.${payload.slice(0, -2)}${payload.at(-2) === 'A' ? 'B' : 'A'}${payload.at(-1)}.${signature}`;
  await assert.rejects(verifyReceiptSignatureJWS({ ...receipt, signature: changed }));
});
