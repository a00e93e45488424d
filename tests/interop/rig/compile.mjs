// node compile.mjs FILE.sol: compiles the rig's contracts, writes {name: {abi, bytecode, runtime}} to standard output.
import fs from 'node:fs';
import solc from 'solc';

const output = JSON.parse(solc.compile(JSON.stringify({
  language: 'Solidity',
  sources: { 'Rig.sol': { content: fs.readFileSync(process.argv[2], 'utf8') } },
  settings: {
    evmVersion: 'cancun',
    optimizer: { enabled: true, runs: 200 },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
  },
})));
const errors = (output.errors ?? []).filter((error) => error.severity === 'error');
if (errors.length > 0) {
  for (const error of errors) console.error(error.formattedMessage);
  process.exit(1);
}
const artifacts = Object.entries(output.contracts['Rig.sol']).map(([name, { abi, evm }]) => [
  name,
  { abi, bytecode: `0x${evm.bytecode.object}`, runtime: `0x${evm.deployedBytecode.object}` },
]);
process.stdout.write(JSON.stringify(Object.fromEntries(artifacts)));
