// Pictures of ten key views, at three widths, light and dark, beside those of the last run. A view that changed says so and
// leaves a picture of the difference: left the last one, right this one, and between them what differs. A change is no
// failure; somebody should look at it. $VIEWS keeps the pictures from run to run. One width is also compared with small
// pictures in the repository, so that a machine without a last run names what changed; UPDATE_VIEWS=1 writes them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { check } from '../checks/suite.mjs';
import { BASE, withPage } from './browser.mjs';
import { stand } from './stand.mjs';

const { REFERENCES, REPORT_PATH, UPDATE_VIEWS, VIEWS } = process.env;
const WIDTHS = [1440, 820, 390];
const HEIGHT = 1600;
/** Of the pixels, what may differ between two pictures of the same page: how an edge is drawn. */
const SHARE_MIN = 0.0005;
/** Of a colour's parts, 0 to 255. */
const STEP_MIN = 24;

/** What the pictures in the repository show, and how: 16 shades of grey. */
const REFERENCE = { view: '1440-light', width: 288, height: 320, levels: 16 };
/** Of the pixels, what the fonts of another machine change; and by how many shades a pixel has to differ. */
const REFERENCE_SHARE_MIN = 0.02;
const REFERENCE_STEP_MIN = 3;

const sample = encodeURIComponent(`${BASE}/sample`);

async function views() {
  const { base, sessions, checkedPath } = await stand();
  return {
    home: `${BASE}/`,
    try: `${BASE}/try?target_url=${sample}`,
    pricing: `${BASE}/pricing`,
    docs: `${BASE}/docs#example-access`,
    buy: `${BASE}/buy?target_url=${sample}&tier=starter`,
    report: BASE + REPORT_PATH,
    bundle: `${base}/proof-pack/bundle/delivery?session_id=${sessions.delivered}`,
    check: base + checkedPath,
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
      .replace(/\b\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)$/g, '1 May')
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

/** Runs in the browser: the shades of a picture, reduced to this size. */
async function shades({ url, width, height, levels }) {
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  pen.imageSmoothingQuality = 'high';
  pen.drawImage(image, 0, 0, width, height);
  const { data } = pen.getImageData(0, 0, width, height);
  return Array.from({ length: width * height }, (_, pixel) => {
    const [red, green, blue] = data.slice(4 * pixel, 4 * pixel + 3);
    return Math.round(((0.299 * red + 0.587 * green + 0.114 * blue) / 255) * (levels - 1));
  });
}

/** A PNG of four bits a pixel. */
function png(pixels, { width, height }) {
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(zlib.crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([4, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc(height * (1 + width / 2));
  pixels.forEach((shade, pixel) => {
    const [row, column] = [Math.floor(pixel / width), pixel % width];
    rows[row * (1 + width / 2) + 1 + (column >> 1)] |= column % 2 === 0 ? shade << 4 : shade;
  });
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature, chunk('IHDR', header), chunk('IDAT', zlib.deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Views that were compared with their picture in the repository. */
let referencesCompared = 0;

/** Compares a picture with the one in the repository; gives the line that says how it differs, or nothing. */
async function compareWithReference(page, name, picture) {
  const file = path.join(REFERENCES, `${name}.png`);
  const now = await page.evaluate(shades, { url: dataUrl(picture), ...REFERENCE });
  if (UPDATE_VIEWS) fs.writeFileSync(file, png(now, REFERENCE));
  if (!fs.existsSync(file)) return `${name}: no picture in the repository; UPDATE_VIEWS=1 makes it`;
  const before = await page.evaluate(shades, { url: dataUrl(fs.readFileSync(file)), ...REFERENCE });
  referencesCompared += 1;
  const differing = now.filter((shade, pixel) => Math.abs(shade - before[pixel]) >= REFERENCE_STEP_MIN).length;
  const share = differing / now.length;
  if (share < REFERENCE_SHARE_MIN) return undefined;
  const difference = path.join(VIEWS, `${name}.repository.png`);
  fs.writeFileSync(difference, png(now.map((shade, pixel) => 15 - Math.abs(shade - before[pixel])), REFERENCE));
  return `${name}: ${(100 * share).toFixed(1)} % differs from the repository, ${difference}`;
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
          const view = `${width}-${colorScheme}`;
          const picture = await page.screenshot({ animations: 'disabled' });
          const lines = [await put(desk, `${name}-${view}`, picture)];
          if (view === REFERENCE.view) lines.push(await compareWithReference(desk, name, picture));
          for (const line of lines.filter(Boolean)) console.log(`    # ${line}`);
        }
      });
    }, { secondsMax: 180 });
  }
}

check('each key view was compared with its picture in the repository', async () => {
  assert.equal(referencesCompared, Object.keys(await views()).length);
});
