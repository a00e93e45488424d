"""mcp_client.py SELLER legacy|auto TOOL ARGUMENTS: calls a tool with the official MCP client, paying with the official x402
client where it is asked to; the key is in PRIVATE_KEY.

`legacy` agrees on a version by handshake, `auto` names it with each request. Writes one line of JSON.
"""
import asyncio
import json
import os
import sys

from eth_account import Account
from mcp import Client
from x402 import x402Client
from x402.mcp import MCP_PAYMENT_META_KEY, MCP_PAYMENT_RESPONSE_META_KEY
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import register_exact_evm_client
from x402.schemas import PaymentRequired


async def main(seller, mode, tool, arguments):
    payer = x402Client()
    register_exact_evm_client(payer, EthAccountSigner(Account.from_key(os.environ["PRIVATE_KEY"])))
    async with Client(f"{seller}/mcp", mode=mode) as client:
        result = await client.call_tool(tool, arguments)
        if result.is_error and "accepts" in (result.structured_content or {}):
            required = PaymentRequired.model_validate(result.structured_content)
            payment = await payer.create_payment_payload(required)
            meta = {MCP_PAYMENT_META_KEY: payment.model_dump(by_alias=True, exclude_none=True)}
            result = await client.call_tool(tool, arguments, meta=meta)
        print(json.dumps({
            "version": client.session.protocol_version,
            "is_error": result.is_error,
            "text": result.content[0].text,
            "structured": result.structured_content,
            "receipt": (result.meta or {}).get(MCP_PAYMENT_RESPONSE_META_KEY),
        }))


seller, mode, tool, arguments = sys.argv[1:]
asyncio.run(main(seller, mode, tool, json.loads(arguments)))
