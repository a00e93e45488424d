// Pictures of ten key views, at three widths, light and dark, beside those of the last run. A view that changed says so and
// leaves a picture of the difference: left the last one, right this one, and between them what differs. A change is no
// failure; somebody should look at it. $VIEWS keeps the pictures from run to run.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { check } from '../checks/suite.mjs';
import { BASE, withPage } from './browser.mjs';
import { stand } from './stand.mjs';

const { REPORT_PATH, VIEWS } = process.env;
const WIDTHS = [1440, 820, 390];
const HEIGHT = 1600;
/** Of the pixels, what may differ between two pictures of the same page: how an edge is drawn. */
const SHARE_MIN = 0.0005;
/** Of a colour's parts, 0 to 255. */
const STEP_MIN = 24;

const sample = encodeURIComponent(`${BASE}/sample`);

async function views() {
  const { base, sessions } = await stand();
  return {
    home: `${BASE}/`,
    try: `${BASE}/try?target_url=${sample}`,
    pricing: `${BASE}/pricing`,
    docs: `${BASE}/docs#example-access`,
    quote: `${BASE}/quote?target_url=${sample}`,
    buy: `${BASE}/buy?target_url=${sample}&tier=starter`,
    report: BASE + REPORT_PATH,
    bundle: `${base}/proof-pack/bundle/delivery?session_id=${sessions.delivered}`,
    console: `${base}/operator`,
    payments: `${base}/operator/console/payments`,
  };
}

/** What differs from run to run, in the same words each time: ports, identifiers, hashes, times. */
function steady() {
  for (const time of document.querySelectorAll('time')) time.textContent = '1 May 2026, 12:00 UTC';
  for (const field of document.querySelectorAll('input')) field.value = field.value.replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:4020');
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data } = texts.currentNode;
    texts.currentNode.data = data
      .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:4020')
      .replace(/(0x|[a-z]+_)?[0-9a-fA-F]{16,}/g, (_, prefix = '') => `${prefix}0123456789abcdef`)
      .replace(/0x[0-9a-fA-F]{4}…[0-9a-fA-F]{6}/g, '0x0123…abcdef')
      .replace(/\b\d{1,2} [A-Z][a-z]+ 20\d\d(, \d\d:\d\d UTC)?/g, '1 May 2026')
      .replace(/\b20\d\d-\d\d-\d\d( \d\d:\d\d)?/g, '2026-05-01')
      .replace(/\b\d+ (second|minute|hour)s? ago\b/g, '1 $1 ago');
  }
}

/** Runs in the browser: the share of pixels that differ, and a picture of the three side by side. */
async function compared({ urls, step }) {
  const images = await Promise.all(urls.map(async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    return image;
  }));
  const [width, height] = ['width', 'height'].map((side) => Math.max(...images.map((image) => image[side])));
  const canvas = Object.assign(document.createElement('canvas'), { width: 3 * width, height });
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  pen.drawImage(images[0], 0, 0);
  pen.drawImage(images[1], 2 * width, 0);
  const [one, other] = [pen.getImageData(0, 0, width, height), pen.getImageData(2 * width, 0, width, height)];
  const shown = pen.createImageData(width, height);
  let different = 0;
  for (let at = 0; at < one.data.length; at += 4) {
    const isSame = [0, 1, 2, 3].every((part) => Math.abs(one.data[at + part] - other.data[at + part]) < step);
    if (!isSame) different += 1;
    const grey = 160 + Math.round(other.data[at] * 0.37);
    shown.data.set(isSame ? [grey, grey, grey, 255] : [200, 0, 60, 255], at);
  }
  pen.putImageData(shown, width, 0);
  return { share: different / (width * height), picture: canvas.toDataURL('image/png').split(',')[1] };
}

const dataUrl = (png) => `data:image/png;base64,${png.toString('base64')}`;

/** Puts a picture in the place of the last one; gives the line that says how it differs, or nothing. */
async function put(page, name, picture) {
  const [file, difference] = [`${name}.png`, `${name}.difference.png`].map((leaf) => path.join(VIEWS, leaf));
  fs.rmSync(difference, { force: true });
  const last = fs.existsSync(file) ? fs.readFileSync(file) : undefined;
  fs.writeFileSync(file, picture);
  if (!last) return `${name}: new, ${file}`;
  if (last.equals(picture)) return undefined;
  const { share, picture: beside } = await page.evaluate(compared, { urls: [last, picture].map(dataUrl), step: STEP_MIN });
  if (share < SHARE_MIN) return undefined;
  fs.writeFileSync(difference, Buffer.from(beside, 'base64'));
  return `${name}: ${(100 * share).toFixed(2)} % of it changed, ${difference}`;
}

check('pictures are compared: the same is the same, and what was painted over shows', () =>
  withPage({ viewport: { width: 400, height: 300 } }, async (page) => {
    const shoot = async (colour) => {
      await page.setContent(`<body style="margin:0"><div style="width:100px;height:60px;background:${colour}"></div>`);
      return page.screenshot();
    };
    const [plain, painted] = [await shoot('white'), await shoot('navy')];
    const differ = async (one, other) =>
      (await page.evaluate(compared, { urls: [one, other].map(dataUrl), step: STEP_MIN })).share;
    assert.equal(await differ(plain, plain), 0);
    assert.equal(await differ(plain, painted), (100 * 60) / (400 * 300));
  }));

for (const colorScheme of ['light', 'dark']) {
  for (const width of WIDTHS) {
    check(`key views, ${colorScheme}, ${width} pixels wide`, async () => {
      fs.mkdirSync(VIEWS, { recursive: true });
      const { cookie } = await stand();
      // Policies of the pages forbid what compares pictures: that is done beside them.
      await withPage({ colorScheme, viewport: { width, height: HEIGHT }, reducedMotion: 'reduce' }, async (page, context) => {
        await context.addCookies([cookie]);
        const desk = await context.newPage();
        for (const [name, address] of Object.entries(await views())) {
          await page.goto(address, { waitUntil: 'load' });
          await page.evaluate(steady);
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          assert.ok(overflow <= 0, `${address} is ${overflow} pixels too wide`);
          const line = await put(desk, `${name}-${width}-${colorScheme}`, await page.screenshot({ animations: 'disabled' }));
          if (line) console.log(`    # ${line}`);
        }
      });
    }, { secondsMax: 180 });
  }
}
