import json, os

import httpx

# RETRY_CREDIT: X-Service-Retry-Credit from the 503 response; repeat the body you paid for.
response = httpx.post(
    f"{os.environ['BASE_URL']}/v1/x402/retry",
    headers={"X-Service-Retry-Credit": os.environ["RETRY_CREDIT"]},
    json={"target_url": os.environ["TARGET_URL"], "tier": "fresh"},
    timeout=60,
)
response.raise_for_status()
print(json.dumps(response.json(), indent=2))
