import { createSIWxPayload, encodeSIWxHeader } from "@x402/extensions/sign-in-with-x";
import { privateKeyToAccount } from "viem/accounts";

const { BASE_URL, PRIVATE_KEY } = process.env;
const account = privateKeyToAccount(PRIVATE_KEY as `0x${string}`);

const url = `${BASE_URL}/v1/x402/purchases?limit=5`;
const asked = await fetch(url);
const statement = (await asked.json()).extensions["sign-in-with-x"];
const toSign = { ...statement.info, ...statement.supportedChains[0] };
const payload = await createSIWxPayload(toSign, account, url);

const response = await fetch(url, { headers: { "SIGN-IN-WITH-X": encodeSIWxHeader(payload) } });
if (!response.ok) throw new Error(await response.text());
console.log(JSON.stringify(await response.json(), null, 2));
