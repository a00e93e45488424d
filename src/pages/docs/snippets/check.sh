# The answer is 402 until PAYMENT_SIGNATURE is set;
# its PAYMENT-REQUIRED header says what to sign.
curl -sS -i "$BASE_URL/v1/x402/check?depth=quick" \
  -H 'Content-Type: application/json' \
  -H "PAYMENT-SIGNATURE: ${PAYMENT_SIGNATURE-}" \
  -d @- <<JSON
{
  "text": "The facilitator settles the transfer. The basic plan costs 12 dollars a month.",
  "sources": ["$BASE_URL/sample", {"title": "Price list", "text": "The basic plan costs 9 dollars a month."}],
  "depth": "quick"
}
JSON
