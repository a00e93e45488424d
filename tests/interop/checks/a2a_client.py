"""a2a_client.py SELLER: resolves the agent card with the official SDK and says something over every interface it names.

Writes one line of JSON.
"""
import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import AgentCard, Message, Part, Role, SendMessageRequest


async def main(seller):
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, seller).get_agent_card()
        said = []
        for interface in card.supported_interfaces:
            only = AgentCard()
            only.CopyFrom(card)
            del only.supported_interfaces[:]
            only.supported_interfaces.append(interface)
            config = ClientConfig(
                httpx_client=http, streaming=False, supported_protocol_bindings=[interface.protocol_binding])
            client = ClientFactory(config).create(only)
            message = Message(role=Role.ROLE_USER, message_id="m1", parts=[Part(text="What is there?")])
            async for answer in client.send_message(SendMessageRequest(message=message)):
                data = [part for part in answer.message.parts if part.HasField("data")]
                amounts = [dict(row)["amount"] for row in data[0].data.struct_value["tiers"]]
                role = Role.Name(answer.message.role)
                said.append([interface.protocol_binding, interface.protocol_version, role, amounts])
        print(json.dumps({"skills": len(card.skills), "said": said}))


asyncio.run(main(sys.argv[1]))
