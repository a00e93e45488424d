// How mail leaves: encrypted, to the server that was meant and to nobody else, and the password never in clear.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { check } from './suite.mjs';
import { program } from './shop.mjs';

const { CONTEXT402_BIN, RIG_PYTHON, WORK } = process.env;
const FOLDER = path.join(WORK, 'mail-servers');
const CA_FILE = path.join(FOLDER, 'ca.pem');
/** The certificate of an authority that has signed nothing here. */
const STRANGER = path.join(FOLDER, 'stranger.pem');
const READER = 'ada@sample-site.org';

async function openssl(...words) {
  const ended = await program('openssl', words, { cwd: FOLDER });
  assert.equal(ended.code, 0, ended.stderr);
}

/** A certificate by our own authority, for a server at `address`. */
async function certificate(name, address) {
  fs.writeFileSync(path.join(FOLDER, `${name}.names`), `subjectAltName=IP:${address}\n`);
  await openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
  await openssl('x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2',
    '-extfile', `${name}.names`, '-out', `${name}.pem`);
}

/** Runs `use` with all of the servers: `mailTo(server, settings)` has one mail sent and tells what the server saw. */
async function withServers(use) {
  fs.mkdirSync(FOLDER, { recursive: true });
  for (const authority of ['ca', 'stranger']) {
    await openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${authority}`,
      '-addext', 'keyUsage=keyCertSign', '-keyout', `${authority}.key`, '-out', `${authority}.pem`);
  }
  await certificate('good', '127.0.0.1');
  await certificate('another', '127.0.0.2');
  const script = new URL('mail_servers.py', import.meta.url).pathname;
  // It says much of the conversations that end as they should here.
  const log = fs.openSync(path.join(WORK, 'mail-servers.log'), 'a');
  const servers = spawn(RIG_PYTHON, [script, FOLDER], { stdio: ['pipe', 'pipe', log] });
  fs.closeSync(log);
  const ended = once(servers, 'exit');
  const seen = [];
  try {
    const lines = readline.createInterface({ input: servers.stdout });
    const [first] = await once(lines, 'line');
    const ports = JSON.parse(first);
    lines.on('line', (line) => seen.push(JSON.parse(line)));
    await use(async (server, settings = {}) => {
      seen.length = 0;
      const ended = await program(CONTEXT402_BIN, ['mail', 'test', READER, '--config', path.join(WORK, 'context402.toml')], {
        env: {
          CONTEXT402_MAIL_SMTP_PORT: String(ports[server]),
          CONTEXT402_MAIL_TLS: server.split('-')[0] === 'implicit' ? 'implicit' : 'starttls',
          CONTEXT402_MAIL_CA_FILE: CA_FILE,
          CONTEXT402_MAIL_USERNAME: 'reports',
          CONTEXT402_MAIL_PASSWORD: 'correct horse',
          ...settings,
        },
      });
      return { ...ended, seen: [...seen] };
    });
  } finally {
    servers.stdin.end();
    await ended;
  }
}

check('mail goes by STARTTLS and by implicit TLS to a server of an authority that was configured, with PLAIN and LOGIN', () =>
  withServers(async (mailTo) => {
    for (const server of ['starttls', 'starttls-login', 'implicit', 'implicit-login']) {
      const { code, stderr, seen } = await mailTo(server);
      assert.equal(code, 0, `${server}: ${stderr}`);
      assert.deepEqual(seen, [
        { server, what: 'password', encrypted: true, mechanism: server.endsWith('-login') ? 'LOGIN' : 'PLAIN' },
        { server, what: 'mail', encrypted: true, to: [READER], authenticated: true },
      ]);
    }
    const wrong = await mailTo('starttls', { CONTEXT402_MAIL_PASSWORD: 'a guess' });
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /535/);
    assert.deepEqual(wrong.seen.map(({ what }) => what), ['password']);
  }));

check('a mail server that is not the one that was meant, or does not encrypt, sees neither password nor mail', () =>
  withServers(async (mailTo) => {
    for (const [server, says, settings] of [
      ['clear', /STARTTLS is not supported/],
      ['starttls-another', /not valid for name "127.0.0.1"/],
      ['implicit-another', /not valid for name "127.0.0.1"/],
      ['starttls', /UnknownIssuer/, { CONTEXT402_MAIL_CA_FILE: STRANGER }],
      ['implicit', /UnknownIssuer/, { CONTEXT402_MAIL_CA_FILE: STRANGER }],
      // Here it says in clear what it is, where TLS is spoken from the first byte.
      ['starttls', /corrupt message/, { CONTEXT402_MAIL_TLS: 'implicit' }],
    ]) {
      const { code, stdout, stderr, seen } = await mailTo(server, settings);
      assert.equal(code, 1, `${server}: ${stdout}`);
      assert.match(stderr, says);
      assert.deepEqual(seen, [], server);
    }
  }));
