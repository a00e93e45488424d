curl -sS -i -G "$BASE_URL/v1/proof-pack/bundle/quote" \
  --data-urlencode "target_urls=http://www.example.com/ http://127.0.0.1/"
