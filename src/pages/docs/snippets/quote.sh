curl -sS -i -G "$BASE_URL/v1/x402/quote" \
  --data-urlencode "target_url=$BASE_URL/sample"
