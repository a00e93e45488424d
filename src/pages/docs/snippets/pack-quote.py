import json, os

import httpx

BASE_URL = os.environ["BASE_URL"]

query = {
    "target_url": f"{BASE_URL}/sample",
    "question": "Who settles the transfer?",
}
response = httpx.get(f"{BASE_URL}/v1/proof-pack/quote", params=query)
response.raise_for_status()
print(json.dumps(response.json(), indent=2))
