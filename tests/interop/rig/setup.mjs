// node setup.mjs ARTIFACTS.json: places the token, funds the buyers, deploys a smart wallet that buyer 1 owns.
// Writes `export` lines.
import fs from 'node:fs';
import { createWalletClient, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { CHAIN_ID, KEYS, MULTICALL3, NETWORK, PAY_TO, TOKEN, addressOf, rpc } from './world.mjs';

const { RigUSD, RigMulticall, RigWallet } = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
if (Number(await rpc('eth_chainId')) !== CHAIN_ID) throw new Error(`the chain's id is not ${CHAIN_ID}`);
await rpc('anvil_setCode', [TOKEN, RigUSD.runtime]);
await rpc('anvil_setCode', [MULTICALL3, RigMulticall.runtime]);

const account = privateKeyToAccount(KEYS.facilitator);
const transport = http(process.env.RPC_URL);
const chain = createWalletClient({ account, chain: base, transport, pollingInterval: 50 }).extend(publicActions);
const mined = async (hash) => chain.waitForTransactionReceipt({ hash: await hash });
const mint = (to, units) =>
  mined(chain.writeContract({ address: TOKEN, abi: RigUSD.abi, functionName: 'mint', args: [to, units] }));

const buyer1 = addressOf(KEYS.buyer1);
const deployment = chain.deployContract({ abi: RigWallet.abi, bytecode: RigWallet.bytecode, args: [buyer1] });
const wallet = (await mined(deployment)).contractAddress;
for (const rich of [buyer1, addressOf(KEYS.buyer2), wallet]) await mint(rich, 1_000_000_000000n);

console.log(`export CHAIN_ID=${CHAIN_ID} NETWORK=${NETWORK} TOKEN=${TOKEN} PAY_TO=${PAY_TO}
export BUYER1_KEY=${KEYS.buyer1} BUYER2_KEY=${KEYS.buyer2} POOR_KEY=${KEYS.poor} WALLET1271=${wallet}`);
