import json, os

import httpx

BASE_URL = os.environ["BASE_URL"]

response = httpx.get(f"{BASE_URL}/v1/x402/quote", params={"target_url": f"{BASE_URL}/sample"})
response.raise_for_status()
print(json.dumps(response.json(), indent=2))
