import json, os

import httpx

# RETRY_CREDIT is X-Service-Retry-Credit of the 503; the body is the one that was paid for.
response = httpx.post(
    f"{os.environ['BASE_URL']}/v1/x402/retry",
    headers={"X-Service-Retry-Credit": os.environ["RETRY_CREDIT"]},
    json={"target_url": os.environ["TARGET_URL"], "tier": "fresh"},
    timeout=60,
)
response.raise_for_status()
print(json.dumps(response.json(), indent=2))
