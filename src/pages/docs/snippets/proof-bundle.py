import asyncio, json, os

import httpx
from eth_account import Account
from x402 import x402Client
from x402.http.clients import x402_httpx_transport
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import ExactEvmScheme

BASE_URL = os.environ["BASE_URL"]

request = {
    "sources": [
        "http://www.example.com/",
        {"title": "Style guide", "text": "Example domains may be used in documentation without permission."},
    ],
    "question": "May example domains be used in documentation without permission?",
    "bundle": "scout",
}


async def main() -> None:
    signer = EthAccountSigner(Account.from_key(os.environ["PRIVATE_KEY"]))
    client = x402Client()
    # By default the client refuses a payment above 1 USD; a bundle costs more.
    client.set_spend_controls({"max_amount_per_payment": "$2"})
    client.register("eip155:*", ExactEvmScheme(signer=signer))
    async with httpx.AsyncClient(transport=x402_httpx_transport(client), timeout=120) as http:
        response = await http.post(f"{BASE_URL}/v1/x402/proof-bundle?bundle=scout", json=request)
    response.raise_for_status()
    print(json.dumps(response.json(), indent=2))


asyncio.run(main())
