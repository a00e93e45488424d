import asyncio, json, os

import httpx
from eth_account import Account
from x402 import x402Client
from x402.http.clients import x402_httpx_transport
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import ExactEvmScheme

BASE_URL = os.environ["BASE_URL"]

request = {
    "target_url": f"{BASE_URL}/sample",
    "tier": "starter",
}


async def main() -> None:
    signer = EthAccountSigner(Account.from_key(os.environ["PRIVATE_KEY"]))
    client = x402Client()
    client.register("eip155:*", ExactEvmScheme(signer=signer))
    async with httpx.AsyncClient(transport=x402_httpx_transport(client), timeout=120) as http:
        response = await http.post(f"{BASE_URL}/v1/x402/access?tier=starter", json=request)
    response.raise_for_status()
    print(json.dumps(response.json(), indent=2))


asyncio.run(main())
