# The answer is 402 until PAYMENT_SIGNATURE is set;
# its PAYMENT-REQUIRED header says what to sign.
curl -sS -i "$BASE_URL/v1/x402/proof-pack?pack=quick" \
  -H 'Content-Type: application/json' \
  -H "PAYMENT-SIGNATURE: ${PAYMENT_SIGNATURE-}" \
  -d @- <<JSON
{
  "target_url": "$BASE_URL/sample",
  "question": "Who settles the transfer?",
  "pack": "quick"
}
JSON
