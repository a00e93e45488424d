import { x402Client } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";

const { BASE_URL, PRIVATE_KEY } = process.env;
const account = privateKeyToAccount(PRIVATE_KEY as `0x${string}`);
// By default the client refuses a payment above 1 USD; a bundle costs more.
const client = new x402Client()
  .register("eip155:*", new ExactEvmScheme(account))
  .setSpendControls({ maxAmountPerPayment: "$2" });
const pay = wrapFetchWithPayment(fetch, client);

const request = {
  sources: [
    "http://www.example.com/",
    { title: "Style guide", text: "Example domains may be used in documentation without permission." },
  ],
  question: "May example domains be used in documentation without permission?",
  bundle: "scout",
};
const response = await pay(`${BASE_URL}/v1/x402/proof-bundle?bundle=scout`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(request),
});
if (!response.ok) throw new Error(await response.text());
console.log(JSON.stringify(await response.json(), null, 2));
