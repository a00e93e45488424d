// Every page as the Nu Html Checker reads it, our stylesheet with them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { check } from '../checks/suite.mjs';
import { BASE, allPages } from './browser.mjs';

const { PAGES_NODE, WORK } = process.env;
const VNU = path.join(PAGES_NODE, 'node_modules/vnu-jar/build/dist/vnu.jar');

check('every page is valid HTML, to the last warning', async () => {
  const folder = await fs.mkdtemp(path.join(WORK, 'markup-'));
  const paths = [...(await allPages()), '/swagger'];
  for (const [index, page] of paths.entries()) {
    const reply = await fetch(BASE + page, { headers: { Accept: 'text/html' } });
    await fs.writeFile(path.join(folder, `${index}.html`), await reply.text());
  }
  const found = await new Promise((resolve) => {
    execFile('java', ['-jar', VNU, '--format', 'json', folder], { maxBuffer: 1 << 26 }, (_, __, stderr) => resolve(stderr));
  });
  const messages = JSON.parse(found).messages.map(({ url, message, extract }) => {
    const index = Number(/(\d+)\.html$/.exec(url)?.[1]);
    return `${paths[index]}: ${message} ${extract ?? ''}`;
  });
  assert.deepEqual(messages, []);
});
