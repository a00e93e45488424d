import json, os

import httpx

BASE_URL = os.environ["BASE_URL"]

query = {"target_urls": "http://www.example.com/ http://127.0.0.1/"}
response = httpx.get(f"{BASE_URL}/v1/proof-pack/bundle/quote", params=query)
response.raise_for_status()
print(json.dumps(response.json(), indent=2))
