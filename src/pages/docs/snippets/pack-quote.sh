curl -sS -i -G "$BASE_URL/v1/proof-pack/quote" \
  --data-urlencode "target_url=$BASE_URL/sample" \
  --data-urlencode "question=Who settles the transfer?"
