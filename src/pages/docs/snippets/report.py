import json, os

import httpx

BASE_URL = os.environ["BASE_URL"]

response = httpx.get(f"{BASE_URL}/v1/proof-pack/reports/ppr_sample")
response.raise_for_status()
print(json.dumps(response.json(), indent=2))
