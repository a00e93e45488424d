# The answer is 402 until PAYMENT_SIGNATURE is set;
# its PAYMENT-REQUIRED header says what to sign.
curl -sS -i "$BASE_URL/v1/x402/access?tier=fresh" \
  -H 'Content-Type: application/json' \
  -H "PAYMENT-SIGNATURE: ${PAYMENT_SIGNATURE-}" \
  -d @- <<JSON
{
  "target_urls": ["http://www.example.com/", "http://www.example.org/"],
  "tier": "fresh"
}
JSON
