import json, os

import httpx

BASE_URL = os.environ["BASE_URL"]

response = httpx.post(
    f"{BASE_URL}/v1/proof-pack/reports/ppr_sample/follow-up",
    json={"question": "Who settles the transfer?"},
)
response.raise_for_status()
print(json.dumps(response.json(), indent=2))
