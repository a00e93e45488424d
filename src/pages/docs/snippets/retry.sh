# RETRY_CREDIT is X-Service-Retry-Credit of the 503;
# the body is the one that was paid for.
curl -sS -i "$BASE_URL/v1/x402/retry" \
  -H 'Content-Type: application/json' \
  -H "X-Service-Retry-Credit: $RETRY_CREDIT" \
  -d @- <<JSON
{"target_url": "$TARGET_URL", "tier": "fresh"}
JSON
