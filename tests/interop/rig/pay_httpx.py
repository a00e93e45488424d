"""pay_httpx.py URL METHOD [BODY]: pays with the official Python client; the key is in PRIVATE_KEY.

Writes one line of JSON.
"""
import asyncio
import base64
import json
import os
import sys

import httpx
from eth_account import Account
from x402 import x402Client
from x402.http.clients import x402_httpx_transport
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import register_exact_evm_client


async def pay(url, method, body=None):
    client = x402Client()
    # By itself it pays no more than a dollar at once.
    client.set_spend_controls({"max_amount_per_payment": "$20"})
    register_exact_evm_client(client, EthAccountSigner(Account.from_key(os.environ["PRIVATE_KEY"])))
    headers = {"content-type": "application/json"} if body else None
    async with httpx.AsyncClient(transport=x402_httpx_transport(client), timeout=30) as http:
        reply = await http.request(method, url, content=body, headers=headers)
    settlement = reply.headers.get("payment-response")
    return {
        "status": reply.status_code,
        "payment_response": settlement and json.loads(base64.b64decode(settlement)),
        "body": reply.json(),
    }


print(json.dumps(asyncio.run(pay(*sys.argv[1:]))))
