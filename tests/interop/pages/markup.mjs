// Every page as the Nu Html Checker reads it, our stylesheet with them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { check } from '../checks/suite.mjs';
import { allPages } from './browser.mjs';

const { PAGES_NODE, WORK } = process.env;
const VNU = path.join(PAGES_NODE, 'node_modules/vnu-jar/build/dist/vnu.jar');

check('every page is valid HTML, to the last warning', async () => {
  const folder = await fs.mkdtemp(path.join(WORK, 'markup-'));
  const { addresses, cookie } = await allPages();
  const headers = { Accept: 'text/html', Cookie: `${cookie.name}=${cookie.value}` };
  for (const [index, address] of addresses.entries()) {
    const reply = await fetch(address, { headers });
    await fs.writeFile(path.join(folder, `${index}.html`), await reply.text());
  }
  const found = await new Promise((resolve) => {
    execFile('java', ['-jar', VNU, '--format', 'json', folder], { maxBuffer: 1 << 26 }, (_, __, stderr) => resolve(stderr));
  });
  const messages = JSON.parse(found).messages.map(({ url, message, extract }) => {
    const index = Number(/(\d+)\.html$/.exec(url)?.[1]);
    return `${addresses[index]}: ${message} ${extract ?? ''}`;
  });
  assert.deepEqual(messages, []);
});
