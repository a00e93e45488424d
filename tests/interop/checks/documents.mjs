// Outside validators: the OpenAPI document, the PDF of a report, and HTTP/1.1 as a strict parser reads it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { start } from './service.mjs';
import { ask, program } from './shop.mjs';
import { check } from './suite.mjs';

const { RIG_PYTHON, SELLER_URL, VALIDATORS, VALIDATORS_NODE, VALIDATORS_PYTHON, WORK } = process.env;
const OPENAPI = path.join(WORK, 'openapi.json');
const settings = (name) => new URL(`../validators/${name}`, import.meta.url).pathname;

check('openapi.json is a valid OpenAPI document and lists the paid operation', async () => {
  const reply = await ask('/openapi.json', { method: 'GET' });
  assert.equal(reply.status, 200, String(reply));
  fs.writeFileSync(OPENAPI, reply.bytes);
  const judged = await program(RIG_PYTHON, ['-m', 'openapi_spec_validator', '--errors', 'all', OPENAPI]);
  assert.equal(judged.code, 0, judged.stdout + judged.stderr);
  const operation = reply.json.paths['/v1/x402/access'].post;
  assert.ok(operation.responses['402'] && operation.requestBody, JSON.stringify(operation));
});

check('redocly lint finds nothing in openapi.json, examples included', async () => {
  const file = path.join(VALIDATORS, 'node_modules/@redocly/cli/bin/cli.js');
  const words = [file, 'lint', '--config', settings('redocly.yaml'), '--format', 'json', OPENAPI];
  const judged = await program(VALIDATORS_NODE, words, { env: { REDOCLY_TELEMETRY: 'off' } });
  const { problems } = JSON.parse(judged.stdout);
  assert.deepEqual(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`), []);
  assert.equal(judged.code, 0, judged.stderr);
});

const FUZZED_SECONDS = 90;

check(`schemathesis finds nothing in ${FUZZED_SECONDS} s: no server error, no status, type or body that is not documented`, async () => {
  const unlimited = ['FREE', 'PROBES', 'UNPAID', 'QUOTES', 'LEADS', 'SALES', 'CREDITS', 'QUOTES_OF_DOMAIN'];
  const environment = Object.fromEntries(unlimited.map((name) => [`CONTEXT402_LIMITS_${name}_PER_MINUTE`, '0']));
  const service = await start('fuzzed', environment);
  const words = ['-m', 'schemathesis.cli', '--config-file', settings('schemathesis.toml'), 'run', `${service.url}/openapi.json`,
    '--phases', 'coverage,fuzzing', '--max-time', String(FUZZED_SECONDS), '--continue-on-failure', '--seed', '402', '--no-color'];
  // It keeps a cache where it runs.
  const judged = await program(VALIDATORS_PYTHON, words, { cwd: WORK });
  await service.stop();
  assert.equal(judged.code, 0, judged.stdout.replace(/^[^]*(?==+ FAILURES)/, '').slice(0, 20_000) + judged.stderr);
  assert.match(judged.stdout, /Tested: ([0-9]+)/);
}, { secondsMax: 3 * FUZZED_SECONDS });

check('the PDF of a report keeps its promises to PyMuPDF', async () => {
  const reply = await ask('/v1/proof-pack/reports/ppr_sample/pdf', { method: 'GET' });
  assert.equal(reply.status, 200, String(reply));
  const file = path.join(WORK, 'report.pdf');
  fs.writeFileSync(file, reply.bytes);
  const judged = await program(RIG_PYTHON, [new URL('pdf.py', import.meta.url).pathname, file]);
  assert.equal(judged.code, 0, judged.stdout + judged.stderr);
  const found = JSON.parse(judged.stdout);
  assert.equal(found.attached, 'report.json');
  assert.equal(found.boxes, 0);
});

const HOST = `Host: 127.0.0.1:${new URL(SELLER_URL).port}`;
const get = (path, ...headers) => [`GET ${path} HTTP/1.1`, HOST, ...headers, '', ''].join('\r\n');
const post = (body, ...headers) => ['POST /v1/x402/access HTTP/1.1', HOST, ...headers, '', body].join('\r\n');

// [name, what is sent, [[method, status of its answer], …]]
const exchanges = [
  ['several requests on one connection', get('/health') + get('/v1/x402/access') + get('/robots.txt'),
    [['GET', 200], ['GET', 200], ['GET', 200]]],
  ['HEAD has no body, and the next answer is found', get('/health').replace('GET', 'HEAD') + get('/health'),
    [['HEAD', 200], ['GET', 200]]],
  ['a body in chunks', post('2\r\n{}\r\n0\r\n\r\n', 'Transfer-Encoding: chunked'), [['POST', 402]]],
  ['a method that is not answered', get('/health').replace('GET', 'DELETE'), [['DELETE', 405]]],
  ['an address that is not there', get('/nothing/here'), [['GET', 404]]],
  ['a body that is too large', post('x'.repeat(70_000), 'Content-Length: 70000'), [['POST', 413]]],
  ['headers that are too large', get('/health', `X-Long: ${'x'.repeat(20_000)}`), [['GET', 431]]],
  ['no HTTP', 'HELLO\r\n\r\n', [['GET', 400]]],
];
for (const [name, request, answers] of exchanges) {
  check(`HTTP/1.1 as h11 reads it: ${name}`, async () => {
    const words = [new URL('h1.py', import.meta.url).pathname, new URL(SELLER_URL).port];
    const judged = await program(RIG_PYTHON, [...words, ...answers.map(([method]) => method)], { input: request });
    assert.equal(judged.code, 0, judged.stderr);
    assert.deepEqual(JSON.parse(judged.stdout), answers.map(([, status]) => status));
  });
}
