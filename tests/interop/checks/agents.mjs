// The protocols of agents, by their official clients and linters: A2A and MCP, and a purchase over MCP.
import assert from 'node:assert/strict';
import path from 'node:path';
import { KEYS } from '../rig/world.mjs';
import { PAGE_WORDS, PRICES, gain, newPage, program } from './shop.mjs';
import { check } from './suite.mjs';

const { SELLER_URL, VALIDATORS, VALIDATORS_NODE, VALIDATORS_PYTHON } = process.env;
const QUICK_SOURCE = 100000n;
const AMOUNTS = Object.values(PRICES).map(String);

check('a2a-lint gives the agent card its best grade, and its message is answered', async () => {
  const words = ['-m', 'a2a_lint.cli', '--live', '--strict', '--json', SELLER_URL];
  const judged = await program(VALIDATORS_PYTHON, words);
  assert.equal(judged.code, 0, judged.stdout + judged.stderr);
  assert.match(judged.stdout, /"grade": "A"/);
});

check('the official A2A client resolves the card and is answered over every interface that it names', async () => {
  const file = new URL('a2a_client.py', import.meta.url).pathname;
  const judged = await program(VALIDATORS_PYTHON, [file, SELLER_URL]);
  assert.equal(judged.code, 0, judged.stderr);
  const { skills, said } = JSON.parse(judged.stdout);
  assert.ok(skills >= 5);
  assert.deepEqual(said, [
    ['JSONRPC', '1.0', 'ROLE_AGENT', AMOUNTS],
    ['HTTP+JSON', '1.0', 'ROLE_AGENT', AMOUNTS],
    ['JSONRPC', '0.3', 'ROLE_AGENT', AMOUNTS],
  ]);
});

// The suite's further scenarios call tools, resources and prompts of its own fixture, which no product has, or ask for a
// stream, which is not offered. What they ask of any server, `tests/it/mcp.rs` asks.
const SCENARIOS = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'];
for (const scenario of SCENARIOS) {
  check(`the MCP conformance suite passes: ${scenario}`, async () => {
    const file = path.join(VALIDATORS, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
    const words = [file, 'server', '--url', `${SELLER_URL}/mcp`, '--scenario', scenario];
    const judged = await program(VALIDATORS_NODE, words);
    assert.equal(judged.code, 0, judged.stdout + judged.stderr);
    assert.match(judged.stdout, /Passed: [1-9][0-9]*\/[1-9][0-9]*, 0 failed, 0 warnings/);
  });
}

/** The official x402 client for MCP, in one of the two eras of the protocol. */
const overMcp = async (mode, tool, words) => {
  const file = new URL('mcp_client.py', import.meta.url).pathname;
  const judged = await program(VALIDATORS_PYTHON, [file, SELLER_URL, mode, tool, JSON.stringify(words)], {
    env: { PRIVATE_KEY: KEYS.buyer1 },
  });
  assert.equal(judged.code, 0, judged.stderr);
  return JSON.parse(judged.stdout);
};

for (const [mode, version] of [['legacy', '2025-11-25'], ['auto', '2026-07-28']]) {
  check(`the official MCP client, speaking ${version}, buys a page for exactly its price`, async () => {
    const words = { target_url: newPage(), tier: 'basic' };
    const { gained, result } = await gain(() => overMcp(mode, 'web_to_markdown', words));
    assert.equal(result.version, version);
    assert.equal(result.is_error, false, JSON.stringify(result));
    assert.match(result.text, PAGE_WORDS);
    assert.equal(result.structured.tier, 'basic');
    assert.equal(result.receipt.success, true);
    assert.match(result.receipt.transaction, /^0x[0-9a-f]{64}$/);
    assert.equal(gained, PRICES.basic);
  });

  check(`the official MCP client, speaking ${version}, has a text checked for exactly its price`, async () => {
    const text = 'The oldest lighthouse on this coast was lit in 1774.';
    const words = { text, sources: [newPage(), { text }], depth: 'quick' };
    const { gained, result } = await gain(() => overMcp(mode, 'check_text', words));
    assert.equal(result.is_error, false, JSON.stringify(result));
    assert.equal(result.structured.claims.length, 1);
    assert.equal(result.receipt.success, true);
    assert.equal(gained, 2n * QUICK_SOURCE);
  });

  check(`the official MCP client, speaking ${version}, gets a quote for nothing`, async () => {
    const { gained, result } = await gain(() => overMcp(mode, 'quote_page', { target_url: newPage() }));
    assert.equal(result.is_error, false, JSON.stringify(result));
    assert.deepEqual(result.structured.tiers.map(({ amount }) => amount), AMOUNTS);
    assert.equal(gained, 0n);
  });
}
