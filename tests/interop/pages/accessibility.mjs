// axe-core on every page, light and dark, on a phone and on a desk.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { check } from '../checks/suite.mjs';
import { WIDTHS, allPages, open, withPage } from './browser.mjs';

const require = createRequire(path.join(process.env.PAGES_NODE, 'package.json'));
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

for (const colorScheme of ['light', 'dark']) {
  for (const [name, viewport] of Object.entries(WIDTHS)) {
    check(`axe finds nothing on any page, ${colorScheme}, ${name}`, async () => {
      await withPage({ colorScheme, viewport }, async (page, context) => {
        const found = [];
        const { addresses, cookie } = await allPages();
        await context.addCookies([cookie]);
        for (const address of addresses) {
          await open(page, address);
          const result = await page.evaluate(`${axe}; axe.run(document, {resultTypes: ['violations']})`);
          for (const { id, nodes } of result.violations) {
            found.push(`${address}: ${id}: ${nodes.length} times, first ${nodes[0].html}: ${nodes[0].failureSummary}`);
          }
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          if (overflow > 0) found.push(`${address}: is ${overflow} pixels too wide`);
        }
        assert.deepEqual(found, []);
      });
    }, { secondsMax: 300 });
  }
}
