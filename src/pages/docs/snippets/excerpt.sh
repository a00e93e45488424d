# The answer is 402 until PAYMENT_SIGNATURE is set;
# its PAYMENT-REQUIRED header says what to sign.
curl -sS -i "$BASE_URL/v1/x402/access?tier=starter" \
  -H 'Content-Type: application/json' \
  -H "PAYMENT-SIGNATURE: ${PAYMENT_SIGNATURE-}" \
  -d @- <<JSON
{
  "target_url": "$BASE_URL/sample",
  "tier": "starter",
  "query": "What does the 402 response contain?",
  "max_tokens": 200
}
JSON
