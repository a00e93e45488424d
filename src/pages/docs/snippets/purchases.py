import base64, json, os

import httpx
from eth_account import Account
from eth_account.messages import encode_defunct

url = f"{os.environ['BASE_URL']}/v1/x402/purchases?limit=5"
account = Account.from_key(os.environ["PRIVATE_KEY"])

statement = httpx.get(url).json()["extensions"]["sign-in-with-x"]
info, chain = statement["info"], statement["supportedChains"][0]
# The statement as text (EIP-4361), which wallets sign as a message.
text = f"""{info["domain"]} wants you to sign in with your Ethereum account:
{account.address}

{info["statement"]}

URI: {info["uri"]}
Version: {info["version"]}
Chain ID: {chain["chainId"].split(":")[1]}
Nonce: {info["nonce"]}
Issued At: {info["issuedAt"]}
Expiration Time: {info["expirationTime"]}"""
signature = account.sign_message(encode_defunct(text=text)).signature.to_0x_hex()
signed = {**info, **chain, "address": account.address, "signature": signature}
header = base64.b64encode(json.dumps(signed).encode()).decode()

response = httpx.get(url, headers={"SIGN-IN-WITH-X": header})
response.raise_for_status()
print(json.dumps(response.json(), indent=2))
