// The browser, and the pages that are looked at: those of the demo, and those of a second service.
import { chromium } from 'playwright-core';
import { stand } from './stand.mjs';

export const BASE = process.env.BASE_URL;
export const WIDTHS = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } };
export const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];

/** Gives `use` a page of its own, and afterwards takes it away. What the browser complains about is an error. */
export async function withPage(options, use) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
  const context = await browser.newContext({ viewport: WIDTHS.desktop, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // A page that is answered 404 or 400 is what some checks ask for.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complaints.push(message.text());
  });
  page.on('request', (request) => {
    const from = new URL(page.url() === 'about:blank' ? request.url() : page.url()).origin;
    const { origin, protocol, hostname } = new URL(request.url());
    const isOurs = hostname === '127.0.0.1' && (origin === from || request.isNavigationRequest());
    if (!isOurs && protocol !== 'data:') complaints.push(`asked ${request.url()}`);
  });
  try {
    await use(page, context);
  } finally {
    await browser.close();
  }
  if (complaints.length > 0) throw new Error(`the browser complains: ${[...new Set(complaints)].join('; ')}`);
}

const json = async (path, options = {}) => (await fetch(BASE + path, options)).json();

/** Every page there is, by address. Some are for the operator alone, whose cookie comes with them. */
export async function allPages() {
  const { pages, cookie } = await stand();
  const addresses = [...(await pagesOfTheDemo()), '/swagger'].map((path) => BASE + path);
  return { addresses: [...addresses, ...pages], cookie };
}

/** Goes to a page and waits for what it makes of itself. */
export async function open(page, address) {
  await page.goto(address);
  if (address.endsWith('/swagger')) await page.waitForSelector('.opblock');
}

/** Those that are always there, and those of a quote and of the report that was bought. */
async function pagesOfTheDemo() {
  const report = process.env.REPORT_PATH;
  const sample = encodeURIComponent(`${BASE}/sample`);
  const quote = await json(`/v1/x402/quote?target_url=${sample}`);
  const packQuote = await json(`/v1/proof-pack/quote?target_url=${sample}&question=Who+settles+the+transfer%3F`);
  const shared = await json(`/v1${report}/share`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"listed":true}',
  });
  return [
    ...['/', '/pricing', '/pricing?pages=1e9', '/docs', '/quickstart', '/paid-test', '/demo', '/faq', '/about', '/notices', '/terms', '/privacy', '/refunds', '/sample'],
    ...['/quote', `/quote?target_url=${sample}`, '/quote?target_url=http%3A%2F%2F127.0.0.1%2F'],
    ...['/proof-pack', '/proof-pack/quote', `/proof-pack/quote?target_url=${sample}`, '/proof-pack/preview'],
    ...['/proof-pack/sample', '/proof-pack/library', `/proof-pack/share/${shared.slug}`, report],
    `${report}?check=1&question=What+does+phase+two+cost%3F`,
    ...['/proof-pack/bundle', '/proof-pack/bundle/quote', `/proof-pack/bundle/quote?target_urls=${sample}&bundle=scout`],
    ...['/proof-pack/request', '/contact', '/checkout/confidence?product=proof_bundle'],
    ...['/checkout/confidence', `/checkout/${quote.quote_id}`, `/checkout/${packQuote.quote_id}`],
    ...['/buy', `/buy?target_url=${sample}&tier=starter`, '/buy?target_url=ftp%3A%2F%2Fexample.com'],
    ...['/try', `/try?target_url=${sample}`, '/try?target_url=http%3A%2F%2F127.0.0.1%2F'],
    ...['/from/a-list', '/nothing-here', '/demo?page=shop&question=Is+the+guarantee+three+years%3F'],
  ];
}
