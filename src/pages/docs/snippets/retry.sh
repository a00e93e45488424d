# RETRY_CREDIT: X-Service-Retry-Credit from the 503 response;
# repeat the body you paid for.
curl -sS -i "$BASE_URL/v1/x402/retry" \
  -H 'Content-Type: application/json' \
  -H "X-Service-Retry-Credit: $RETRY_CREDIT" \
  -d @- <<JSON
{"target_url": "$TARGET_URL", "tier": "fresh"}
JSON
