// The operator's console in a real browser, by keyboard alone: no script of ours to fail, nothing that a mouse is needed for.
import assert from 'node:assert/strict';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { start } from './service.mjs';
import { check } from './suite.mjs';

const { CHROMIUM = '/usr/bin/chromium', SCREENSHOTS } = process.env;
const TOKEN = 'a-token-that-nobody-guesses-0123456789';
const STEPS_MAX = 150;
const VIEWS = ['Today', 'Leads', 'Orders', 'Payments', 'Reports', 'Outbox', 'Webhook log', 'Ledger', 'Data', 'Health', 'Configuration'];

/** A page of which every complaint of the browser is noted, and what keys do there. */
async function keyboard(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) complaints.push(`asks ${request.url()}`);
  });
  const words = () => page.evaluate(() => {
    const at = document.activeElement;
    return (at?.innerText || at?.labels?.[0]?.innerText || '').trim();
  });
  const reach = async (text) => {
    for (let step = 0; step < STEPS_MAX; step += 1) {
      await page.keyboard.press('Tab');
      if ((await words()) === text) return;
    }
    assert.fail(`no key leads to “${text}” on ${page.url()}`);
  };
  const press = async (text) => {
    await reach(text);
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  };
  const tick = async (text) => {
    await reach(text);
    await page.keyboard.press('Space');
  };
  const signIn = () => signInAt(page, url);
  const shot = (name) => SCREENSHOTS && page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`), fullPage: true });
  const heading = () => page.innerText('h1');
  return { page, complaints, reach, press, tick, signIn, shot, heading };
}

async function signInAt(page, url) {
  await page.goto(`${url}/operator`);
  // The field is given the keys by the first drawing of the page, which is not a part of its loading.
  await page.locator('input:focus').waitFor();
  await page.keyboard.type(TOKEN);
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
}

async function ask(url, address, body) {
  const reply = await fetch(`${url}${address}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
  });
  return { status: reply.status, json: await reply.json() };
}

const buys = (url) => ask(url, '/v1/x402/access', { target_url: 'http://news.sample-site.org/', tier: 'fresh' });

check('the operator works the console by keyboard, without script errors, over a restart', async () => {
  const environment = { CONTEXT402_OPERATOR_TOKEN: TOKEN };
  let service = await start('console', environment);
  const lead = await ask(service.url, '/v1/proof-pack/bundle/leads', {
    contact: 'ada@example.org', bundle: 'scout', target_urls: ['https://example.com/'], question: 'Is it <b>free</b>?',
  });
  assert.equal(lead.status, 202, JSON.stringify(lead));
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const desk = await keyboard(browser, service.url);
    await desk.page.goto(`${service.url}/operator`);
    await desk.shot('login');
    await desk.signIn();
    assert.equal(await desk.heading(), 'Today');
    for (const view of VIEWS) {
      await desk.press(view);
      assert.equal(await desk.page.innerText('.console-nav [aria-current]'), view);
      await desk.shot(view.toLowerCase().replace(' ', '-'));
    }

    await desk.press('Leads');
    // Its date leads to it.
    await desk.press((await desk.page.innerText('main table a')).trim());
    assert.match(await desk.page.innerText('main'), new RegExp(lead.json.lead_id));
    await desk.reach('Note');
    await desk.page.keyboard.type('by phone');
    await desk.press('Mark as contacted');
    await desk.shot('lead');
    const told = await desk.page.innerText('main');
    assert.match(told, /The lead is changed\./);
    assert.match(told, /new → contacted: by phone/);
    assert.match(told, /Is it <b>free<\/b>\?/);

    await desk.press('Today');
    await desk.tick('Yes, pause sales');
    await desk.press('Pause sales');
    assert.match(await desk.page.innerText('main'), /Sales are paused/);
    await desk.shot('paused');
    await service.stop();
    service = await start('console', environment, service);
    const refused = await buys(service.url);
    assert.equal(refused.status, 503, JSON.stringify(refused));
    assert.equal(refused.json.error.code, 'paused');

    await desk.page.reload();
    await desk.press('Leads');
    assert.match(await desk.page.innerText('table'), /contacted/);
    await desk.press('Today');
    await desk.press('Resume sales');
    assert.equal((await buys(service.url)).status, 402);
    await desk.press('Sign out');
    assert.equal(await desk.heading(), 'Sign in to the console');
    assert.deepEqual(desk.complaints, []);
  } finally {
    await browser.close();
  }
  await service.stop();
});

check('the console needs no script, and fits a narrow screen', async () => {
  const service = await start('console-plain', { CONTEXT402_OPERATOR_TOKEN: TOKEN });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } });
    const page = await context.newPage();
    await signInAt(page, service.url);
    assert.equal(await page.innerText('h1'), 'Today');
    for (const view of ['', '/console/payments', '/console/data', '/console/config']) {
      await page.goto(`${service.url}/operator${view}`);
      const { width } = await page.locator('main').boundingBox();
      assert.ok(width <= 390, `${view} is ${width} wide`);
      if (SCREENSHOTS) await page.screenshot({ path: path.join(SCREENSHOTS, `narrow${view.replaceAll('/', '-')}.png`) });
    }
  } finally {
    await browser.close();
  }
  await service.stop();
});
