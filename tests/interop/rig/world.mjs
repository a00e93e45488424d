// What is fixed in the rig's little world: the chain, the token, the accounts. The keys are the public test keys of the
// local chain ("test test … junk"). Signatures made with them are formally valid on Base: send them nowhere.
import { privateKeyToAccount } from 'viem/accounts';

/** The address of USDC on Base; our own token's code is placed there. */
export const TOKEN = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
/** Where viem expects Multicall3, which the facilitator uses for its diagnosis. */
export const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11';
export const CHAIN_ID = 8453;
export const NETWORK = `eip155:${CHAIN_ID}`;
/** The vault: the seller is paid here. */
export const PAY_TO = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

export const KEYS = {
  facilitator: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  buyer1: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  buyer2: '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  /** Owns no tokens. */
  poor: '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a',
};

export const addressOf = (key) => privateKeyToAccount(key).address;

/** One JSON-RPC call to the chain. */
export async function rpc(method, params = [], url = process.env.RPC_URL) {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = await reply.json();
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}
