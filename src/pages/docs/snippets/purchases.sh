# The answer is 402 until SIGN_IN is set;
# its extension sign-in-with-x is what to sign.
curl -sS -i "$BASE_URL/v1/x402/purchases?limit=5" \
  -H "SIGN-IN-WITH-X: ${SIGN_IN-}"
