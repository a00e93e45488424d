# The answer is 402 until PAYMENT_SIGNATURE is set;
# its PAYMENT-REQUIRED header says what to sign.
curl -sS -i "$BASE_URL/v1/x402/proof-bundle?bundle=scout" \
  -H 'Content-Type: application/json' \
  -H "PAYMENT-SIGNATURE: ${PAYMENT_SIGNATURE-}" \
  -d @- <<JSON
{
  "sources": ["http://www.example.com/", {"title": "Style guide", "text": "Example domains may be used in documentation without permission."}],
  "question": "May example domains be used in documentation without permission?",
  "bundle": "scout"
}
JSON
