// A bundle from the quote to the mail, through a real mail server; and the same while the program is killed.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { CLAIM, DELIVERY, SOURCES, delivery, event, leadFor, newBuyer, tell } from './provider.mjs';
import { start } from './service.mjs';
import { ask, pause, program } from './shop.mjs';
import { check } from './suite.mjs';

const { MAIL_FOLDER, RIG_PYTHON, SELLER_URL, WORK } = process.env;
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

async function mailsTo(email) {
  const script = new URL('../rig/read_mail.py', import.meta.url).pathname;
  const ended = await program(RIG_PYTHON, [script, MAIL_FOLDER]);
  assert.equal(ended.code, 0, ended.stderr);
  return JSON.parse(ended.stdout).filter((mail) => mail.to === email);
}

/** Waits until `look` gives something. */
async function until(what, look) {
  for (let tries = 0; tries < 250; tries += 1) {
    const found = await look();
    if (found) return found;
    await pause(0.2);
  }
  return assert.fail(`waited in vain: ${what}`);
}

const fulfilled = (told, seller) =>
  until('the bundle is fulfilled', async () => {
    const reply = await delivery(told, seller);
    assert.ok([200, 202].includes(reply.status), String(reply));
    return reply.status === 200 && reply.json;
  });

const pathOf = (url, seller = SELLER_URL) => {
  assert.ok(url.startsWith(`${seller}/`), url);
  return url.slice(seller.length);
};

check('from the quote to page, document, PDF and mail', async () => {
  const email = newBuyer();
  const query = new URLSearchParams({ target_urls: SOURCES.join('\n'), question: CLAIM });
  const quote = await ask(`/v1/proof-pack/bundle/quote?${query}`, { method: 'GET' });
  assert.equal(quote.status, 200, String(quote));
  assert.deepEqual(
    [quote.json.recommended_bundle, quote.json.source_count, quote.json.amount_units], ['builder', 10, '7000000']);

  const lead = await leadFor({ email });
  const redirect = await fetch(new URL(lead.pay_url, SELLER_URL), { redirect: 'manual' });
  assert.equal(redirect.status, 303);
  const link = new URL(redirect.headers.get('location'));
  assert.equal(link.origin + link.pathname, 'https://buy.example.com/b/builder');

  const told = event({ reference: link.searchParams.get('client_reference_id'), email });
  const early = await delivery(told);
  assert.deepEqual([early.status, early.json.status, early.header('retry-after')], [202, 'pending', '3']);
  assert.equal((await tell(told)).status, 200);
  const running = await until('progress is seen', async () => (await delivery(told)).json.progress);
  assert.equal(running.total, 10);
  const body = await fulfilled(told);
  const { source_count: all, read_count: read, independent_count: independent } = body.synthesis.coverage;
  assert.deepEqual([all, read, independent], [10, 8, 6], 'the three copies of one page count once');
  assert.equal(body.unreachable.length, 2);

  const json = await ask(pathOf(body.download.json_url), { method: 'GET' });
  assert.equal(json.json.result_hash, body.result_hash);
  const pdf = await ask(pathOf(body.download.pdf_url), { method: 'GET' });
  assert.equal(pdf.header('content-type'), 'application/pdf');
  const file = path.join(WORK, 'bundle.pdf');
  fs.writeFileSync(file, pdf.bytes);
  const judged = await program(RIG_PYTHON, [new URL('pdf.py', import.meta.url).pathname, file]);
  assert.equal(judged.code, 0, judged.stdout + judged.stderr);
  const page = await ask(pathOf(body.download.html_url), { method: 'GET' });
  assert.match(page.bytes.toString(), /The oldest lighthouse on this coast was lit in 1774/);

  const mail = await until('the mail comes', async () => (await mailsTo(email))[0]);
  assert.equal(mail.auto_submitted, 'auto-generated');
  assert.match(mail.message_id, new RegExp(`^<${body.order_id}\\.delivery@`));
  assert.deepEqual(mail.attachments.map(({ type, sha256: hash }) => [type, hash]), [['application/pdf', sha256(pdf.bytes)]]);
  for (const part of [mail.text, mail.html]) assert.ok(part.includes(`${SELLER_URL}/proof-pack/bundle/delivery?recovery=`));
  const mailed = mail.text.match(/http\S+\/proof-pack\/bundle\/delivery\?recovery=\S+/)[0];
  assert.equal((await ask(pathOf(mailed), { method: 'GET' })).status, 200);

  // And lost, and found again.
  const form = { email, target_url: SOURCES[3] };
  const answers = await Promise.all([
    ask('/v1/proof-pack/bundle/recover', { body: form }),
    ask('/v1/proof-pack/bundle/recover', { body: { ...form, email: newBuyer() } }),
  ]);
  assert.deepEqual(answers.map((answer) => answer.status), [202, 202]);
  assert.ok(answers[0].bytes.equals(answers[1].bytes), 'the answers differ');
  await until('the link comes', async () => (await mailsTo(email)).length === 2);
});

/** One report and one mail in the end, whatever `disturb` does to the program. */
async function survives(name, disturb) {
  const email = newBuyer();
  const service = await disturb(async (seller) => {
    const lead = await leadFor({ email, seller });
    return event({ reference: lead.lead_id, email });
  });
  const { told, running } = service;
  // The provider sends what was not answered again.
  assert.equal((await tell(told, running.url)).status, 200);
  const body = await fulfilled(told, running.url);
  assert.equal(body.reports.length, 8);
  await until('the mail comes', async () => (await mailsTo(email)).length > 0);
  const again = await ask(`${DELIVERY}?session_id=${told.data.object.id}`, { method: 'GET', seller: running.url });
  assert.equal(again.json.result_hash, body.result_hash);
  await running.stop();
  assert.equal((await mailsTo(email)).length, 1, `${name}: mails`);
}

for (const point of ['event_taken', 'order_taken', 'source_kept', 'sources_done', 'order_written', 'order_delivered']) {
  check(`a crash once ${point}: one report and one mail`, async () => {
    await survives(point, async (order) => {
      const doomed = await start(point, { CONTEXT402_LAB_CRASH_AT: point });
      const told = await order(doomed.url);
      await tell(told, doomed.url).catch(() => undefined);
      assert.equal((await doomed.ended).signal, 'SIGABRT');
      return { told, running: await start(point, {}, doomed) };
    });
  });
}

check('kill -9 three times in the middle of the work: one report and one mail', async () => {
  await survives('killed', async (order) => {
    let running = await start('killed');
    const told = await order(running.url);
    assert.equal((await tell(told, running.url)).status, 200);
    for (let kills = 0, done = 0; kills < 3; kills += 1) {
      done = await until('the work goes on', async () => {
        const { json } = await delivery(told, running.url);
        assert.notEqual(json.status, 'fulfilled');
        return json.progress.done > done && json.progress.done;
      });
      running.kill();
      assert.equal((await running.ended).signal, 'SIGKILL');
      running = await start('killed', {}, running);
    }
    return { told, running };
  });
});
