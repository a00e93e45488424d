// A buyer's way through the pages: by keyboard, at two widths, with script and without.
import assert from 'node:assert/strict';
import { check } from '../checks/suite.mjs';
import { BASE, WIDTHS, withPage } from './browser.mjs';
import { stand } from './stand.mjs';

const REPORT = process.env.REPORT_PATH;
const TABS_MAX = 150;

/** Presses Tab until `selector` has the focus, which must be seen. */
async function tabTo(page, selector) {
  for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
    await page.keyboard.press('Tab');
    const seen = await page.evaluate((wanted) => {
      const focused = document.activeElement;
      if (!focused?.matches(wanted)) return undefined;
      const style = getComputedStyle(focused);
      return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
    }, selector);
    if (seen !== undefined) return assert.ok(seen, `the focus on ${selector} is not seen`);
  }
  return assert.fail(`${selector} is not reached in ${TABS_MAX} tabs from ${page.url()}`);
}

/** Follows the focused link or sends the focused form. */
async function enter(page) {
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
}

async function quoteToCheckout(page) {
  await page.goto(BASE);
  await tabTo(page, '#target_url');
  await page.keyboard.type(`${BASE}/sample`);
  await enter(page);
  assert.match(page.url(), /\/try\?target_url=/);
  assert.match(await page.locator('.preview').innerText(), /Payment Required/);
  await tabTo(page, 'main a[href^="/quote?"]');
  await enter(page);
  assert.match(page.url(), /\/quote\?target_url=/);
  assert.equal(await page.locator('tr.chosen').count(), 1, 'one tier is recommended');
  await tabTo(page, 'main a[href^="/checkout/"]');
  await enter(page);
  assert.match(await page.locator('h1').innerText(), /USDC/);
  assert.match(await page.locator('main').innerText(), /context402 buy/);
}

/** Paste, see, buy: three actions from the home page to a receipt. */
async function buyWithTestFunds(page) {
  await page.goto(BASE);
  await page.fill('#target_url', `${BASE}/sample`);
  await Promise.all([page.waitForEvent('load'), page.locator('#target_url').press('Enter')]);
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Buy with test funds' }).click()]);
  assert.match(await page.locator('main').innerText(), /Bought with test funds[^]*Transaction\s+0x[0-9a-f]{64}/);
}

check('from the home page to a receipt in three actions, without script', async () => {
  await withPage({ javaScriptEnabled: false }, buyWithTestFunds);
});

async function toThePaidTest(page) {
  await tabTo(page, 'footer a[href="/paid-test"]');
  await enter(page);
  const text = await page.locator('main').innerText();
  for (const said of ['"x402Version": 2', 'payTo', 'Failure cases']) assert.ok(text.includes(said), said);
}

async function toTheReport(page) {
  await page.goto(BASE + REPORT);
  assert.match(await page.locator('.verdict .tag').innerText(), /supported/);
  assert.ok((await page.locator('.claims mark').count()) > 3, 'the evidence is marked');
}

async function theServiceChecks(page) {
  await tabTo(page, 'a[href$="?check=1#verify"]');
  await enter(page);
  assert.ok((await page.locator('#verify ~ ul.checks .pass').count()) >= 5);
  assert.equal(await page.locator('#verify ~ ul.checks .fail').count(), 0);
}

for (const [name, viewport] of Object.entries(WIDTHS)) {
  check(`from quote to checked report by keyboard, ${name}`, async () => {
    await withPage({ viewport }, async (page) => {
      await quoteToCheckout(page);
      await toThePaidTest(page);
      await toTheReport(page);
      await tabTo(page, '#recompute');
      await page.keyboard.press('Enter');
      await page.waitForSelector('#recomputed li');
      const found = await page.locator('#recomputed').innerText();
      assert.match(found, /result hash is correct[^]*published key[^]*source hash is correct[^]*excerpts? (is|are) in the stored text[^]*checks against the stored source pass/);
      assert.equal(await page.locator('#recomputed .fail').count(), 0);
      await theServiceChecks(page);
    });
  });

  check(`the same way without script, ${name}`, async () => {
    await withPage({ viewport, javaScriptEnabled: false }, async (page) => {
      await quoteToCheckout(page);
      await toThePaidTest(page);
      await toTheReport(page);
      assert.equal(await page.locator('#recompute').isVisible(), false, 'nothing is offered that needs script');
      assert.equal(await page.locator('.copy').count(), 0);
      await theServiceChecks(page);
      await tabTo(page, '#question');
      await page.keyboard.type('What does phase two cost?');
      await enter(page);
      assert.match(await page.locator('#follow-up ~ .panel').innerText(), /38 million/);
    });
  });
}

check('other ways to buy are chosen by the arrow keys, without script', async () => {
  await withPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto(`${BASE}/proof-pack`);
    const python = page.locator('.tabs > div', { hasText: 'import asyncio' });
    assert.equal(await python.isVisible(), false);
    for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement?.matches('.tabs input'))) break;
    }
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    assert.equal(await python.isVisible(), true);
  });
});

check('the demo answers without script', async () => {
  await withPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto(`${BASE}/demo`);
    await page.selectOption('#page', 'shop');
    await page.fill('#question', 'How long is the guarantee?');
    await page.locator('#question').press('Enter');
    await page.waitForURL(/page=shop/);
    assert.match(await page.locator('.verdict').innerText(), /[Tt]wo-year guarantee/);
  });
});

check('an altered report does not pass the check in the browser', async () => {
  await withPage({}, async (page) => {
    await page.route(`**/v1${REPORT}`, async (route) => {
      const reply = await route.fetch();
      const report = await reply.json();
      report.answer = `${report.answer} Really.`;
      await route.fulfill({ response: reply, json: report });
    });
    await toTheReport(page);
    await page.click('#recompute');
    await page.waitForSelector('#recomputed .fail');
    const found = await page.locator('#recomputed .fail').allInnerTexts();
    assert.match(found[0], /^The result hash does not match: this report was changed after it was made \(computed [0-9a-f]{64}, stated/);
    assert.match(found[1], /does not cover the result hash/);
  });
});

check('an altered source does not pass the check in the browser', async () => {
  await withPage({}, async (page) => {
    await page.route(`**/v1${REPORT}/source`, async (route) => {
      const reply = await route.fetch();
      await route.fulfill({ response: reply, body: `${await reply.text()}.`.replace('e', 'E') });
    });
    await toTheReport(page);
    await page.click('#recompute');
    await page.waitForSelector('#recomputed .fail');
    assert.match((await page.locator('#recomputed .fail').allInnerTexts())[0], /^The source hash does not match/);
  });
});

/** The words of what `selector` shows that stand on more than one line. */
const brokenWords = (page, selector) => page.evaluate((wanted) => {
  const broken = [];
  for (const shown of document.querySelectorAll(wanted)) {
    const texts = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const { index, 0: word } of texts.currentNode.data.matchAll(/\S+/g)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, index);
        range.setEnd(texts.currentNode, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) broken.push(word);
      }
    }
  }
  return broken;
}, selector);

check('a row of a table is read without a broken word, on a phone and on a desktop', async () => {
  for (const viewport of Object.values(WIDTHS)) {
    await withPage({ viewport }, async (page) => {
      await page.goto(`${BASE}/proof-pack/sample`);
      assert.ok((await page.locator('.evidence td').count()) > 1, 'the sample cites a row');
      for (const table of ['.evidence table', '.source-text table']) {
        assert.deepEqual(await brokenWords(page, table), [], `${table}, ${viewport.width} pixels`);
      }
    });
  }
});

check('the sign-in form of the console has the page to itself', async () => {
  const { base } = await stand();
  for (const viewport of Object.values(WIDTHS)) {
    await withPage({ viewport, javaScriptEnabled: false }, async (page) => {
      await page.goto(`${base}/operator`);
      const { x, width } = await page.locator('.sign-in').boundingBox();
      assert.ok(width > 300, `${width} pixels wide`);
      assert.ok(Math.abs(x + width / 2 - viewport.width / 2) < 10, `${x}, ${width} pixels wide`);
      await tabTo(page, '#token');
    });
  }
});

check('examples are copied as they stand', async () => {
  await withPage({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
    await page.goto(BASE);
    await page.locator('.hero .copy').first().click();
    const shown = await page.locator('.hero pre').first().innerText();
    await page.waitForFunction(() => document.querySelector('.hero .copy').textContent === 'Copied');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), shown);
  });
});

check('the API explorer shows the operations and asks nobody else', async () => {
  await withPage({}, async (page) => {
    await page.goto(`${BASE}/swagger`);
    await page.waitForSelector('.opblock');
    assert.ok((await page.locator('.opblock').count()) > 20);
  });
});

const LANDING_TABS = 6;

/** Opens the reference at each of these anchors, and looks where the browser has come to rest. */
async function landsAt(context, anchors) {
  const page = await context.newPage();
  const landed = (id) => {
    const { scrollHeight } = document.documentElement;
    const { top } = document.getElementById(id).getBoundingClientRect();
    // Near the end of the page nothing more can be scrolled.
    const isAtEnd = Math.ceil(scrollY + innerHeight) >= scrollHeight - 1;
    return Math.abs(top - 24) <= 2 || (isAtEnd && top >= 0 && top < innerHeight);
  };
  for (const anchor of anchors) {
    await page.goto('about:blank');
    await page.goto(`${BASE}/docs${anchor}`);
    await page.waitForFunction(landed, anchor.slice(1), { timeout: 10_000 })
      .catch(() => assert.fail(`${anchor} does not land`));
  }
}

check('every link to the reference lands, with motion', async () => {
  await withPage({ reducedMotion: 'no-preference' }, async (page, context) => {
    await page.goto(`${BASE}/docs`);
    const anchors = await page.$$eval('.toc a, td:first-child > a[href^="#"], .endpoints .line a, .example .title', (links) => [...new Set(links.map((link) => link.hash))]);
    assert.ok(anchors.length > 40, `${anchors.length} links`);
    const tabs = Array.from({ length: LANDING_TABS }, (_, tab) => anchors.filter((_, index) => index % LANDING_TABS === tab));
    await Promise.all(tabs.map((some) => landsAt(context, some)));
  });
}, { secondsMax: 480 });

check('reports and references print', async () => {
  await withPage({}, async (page) => {
    for (const path of [REPORT, '/docs']) {
      await page.goto(BASE + path);
      assert.ok((await page.pdf()).length > 10_000, path);
    }
  });
});
