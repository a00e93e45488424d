curl -sS -i "$BASE_URL/v1/proof-pack/reports/ppr_sample/follow-up" \
  -H 'Content-Type: application/json' \
  -d '{"question": "Who settles the transfer?"}'
