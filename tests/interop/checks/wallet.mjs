// The page that sells to a browser's wallet, in Chromium, with a wallet that is ours: what it is asked for and signs is
// counted, and the money on chain.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { privateKeyToAccount } from 'viem/accounts';
import { KEYS, PAY_TO, TOKEN } from '../rig/world.mjs';
import { PAGE_WORDS, PRICES, facilitator, gain, newPage } from './shop.mjs';
import { start } from './service.mjs';
import { check } from './suite.mjs';

const { SELLER_URL, SITE_URL } = process.env;
const PACK_QUICK = 100000n;
/** Longer than the page asks again for an answer. */
const SETTLES_AFTER_MS = 20_000;
const account = privateKeyToAccount(KEYS.buyer1);

/** What stands in the page as `window.ethereum`: it asks us. */
const PROVIDER = () => {
  window.ethereum = {
    request: async (asked) => {
      const { error, result } = await window.askedOfWallet(JSON.stringify(asked));
      if (error) throw error.message ? Object.assign(new Error(error.message), { code: error.code }) : error;
      return result;
    },
  };
};

/** A wallet on another chain than the service's; `declines` how often it refuses to sign, `odd` what it answers to some requests. */
function newWallet({ declines = 0, odd = {} } = {}) {
  const wallet = { methods: [], signed: [], chain: '0x1' };
  wallet.answer = async (text) => {
    const { method, params = [] } = JSON.parse(text);
    wallet.methods.push(method);
    if (odd[method]) return odd[method];
    switch (method) {
      case 'eth_requestAccounts': return { result: [account.address] };
      case 'eth_chainId': return { result: wallet.chain };
      case 'wallet_addEthereumChain':
      case 'wallet_switchEthereumChain': {
        wallet.chain = params[0].chainId;
        return { result: null };
      }
      case 'eth_signTypedData_v4': {
        if (declines > 0) {
          declines -= 1;
          return { error: { code: 4001, message: 'User rejected the request.' } };
        }
        const [address, typed] = [params[0], JSON.parse(params[1])];
        assert.equal(address, account.address);
        wallet.signed.push(typed);
        return { result: await account.signTypedData(typed) };
      }
      default: return { error: { code: 4200, message: `${method} is not supported` } };
    }
  };
  return wallet;
}

/** Gives `use` the page of a purchase, with a wallet in it unless there is none. */
async function withShop(query, wallet, use, { seller = SELLER_URL, ...options } = {}) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await (await browser.newContext(options)).newPage();
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    if (wallet) {
      await page.exposeFunction('askedOfWallet', wallet.answer);
      await page.addInitScript(PROVIDER);
    }
    await page.goto(`${seller}/buy?${new URLSearchParams(query)}`);
    await use(page);
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
  }
}

const PAY = '#wallet-pay';
const answered = (page) => page.waitForSelector('#wallet-answer', { state: 'visible', timeout: 30_000 });
const isPaid = (request) => request.headers()['payment-signature'] !== undefined;

check('a browser\'s wallet buys a page: one signature, of exactly what the 402 asks', async () => {
  const wallet = newWallet();
  const { gained } = await gain(() => withShop({ target_url: newPage(), tier: 'basic' }, wallet, async (page) => {
    await page.click(PAY);
    await answered(page);
    assert.match(await page.textContent('#wallet-text'), PAGE_WORDS);
    assert.match(await page.textContent('#wallet-transaction'), /^0x[0-9a-f]{64}$/);
    assert.equal((await page.textContent('#wallet-payer')).toLowerCase(), account.address.toLowerCase());
    assert.equal(await page.isVisible(PAY), false);
  }));
  assert.equal(gained, PRICES.basic);
  assert.deepEqual(wallet.methods, ['eth_requestAccounts', 'eth_chainId', 'wallet_switchEthereumChain', 'eth_signTypedData_v4']);
  const [{ primaryType, domain, message }] = wallet.signed;
  assert.equal(primaryType, 'TransferWithAuthorization');
  assert.deepEqual([domain.chainId, domain.verifyingContract], [8453, TOKEN]);
  assert.deepEqual([message.to, message.value, message.from], [PAY_TO, String(PRICES.basic), account.address]);
});

check('a browser\'s wallet buys a Proof Pack and opens its report', async () => {
  const wallet = newWallet();
  const query = { target_url: newPage(), question: 'When was the oldest lighthouse lit?', pack: 'quick' };
  const { gained } = await gain(() => withShop(query, wallet, async (page) => {
    await page.click(PAY);
    await answered(page);
    assert.match(await page.textContent('#wallet-text'), /1774/);
    await Promise.all([page.waitForURL(/\/proof-pack\/reports\/ppr_/), page.click('#wallet-report')]);
    assert.match(await page.textContent('h1'), /oldest lighthouse/);
  }));
  assert.equal(gained, PACK_QUICK);
});

check('a lost answer is fetched again with the same signed payment, also after a reload', async () => {
  const wallet = newWallet();
  const payments = [];
  const { gained } = await gain(() => withShop({ target_url: newPage(), tier: 'fresh' }, wallet, async (page) => {
    let isLost = true;
    await page.route('**/v1/x402/access?*', async (route) => {
      const request = route.request();
      if (!isPaid(request)) return route.continue();
      payments.push(request.headers()['payment-signature']);
      // The service answers; the browser never hears of it.
      await route.fetch();
      return isLost ? route.abort('connectionreset') : route.continue();
    });
    await page.click(PAY);
    await page.waitForFunction(() => document.getElementById('wallet-status').textContent.includes('same payment'));
    await page.reload();
    assert.equal(await page.textContent(PAY), 'Ask again with the same payment');
    isLost = false;
    await page.click(PAY);
    await answered(page);
    assert.match(await page.textContent('#wallet-text'), PAGE_WORDS);
  }));
  assert.equal(gained, PRICES.fresh);
  assert.equal(wallet.signed.length, 1);
  assert.ok(payments.length >= 2);
  assert.equal(new Set(payments).size, 1);
});

check('a page that is down is delivered by its retry credit, for one signature', async () => {
  const wallet = newWallet();
  const { gained } = await gain(() => withShop({ target_url: newPage('flaky'), tier: 'fresh' }, wallet, async (page) => {
    await page.click(PAY);
    await answered(page);
    assert.match(await page.textContent('#wallet-text'), PAGE_WORDS);
  }));
  assert.equal(gained, PRICES.fresh);
  assert.equal(wallet.signed.length, 1);
});

// While a settlement is under way, its payment and its credit are answered 503: it may be charged already.
check('a settlement slower than the page asks again is waited for, also after a reload: one signature, one transfer', async () => {
  const wallet = newWallet();
  const statuses = [];
  const impatient = await start('impatient-wallet', { CONTEXT402_PAYMENT_SETTLE_WAIT_SECONDS_MAX: '2' });
  await facilitator.fault({ settle: { mode: 'slow', ms: SETTLES_AFTER_MS, n: 1 } });
  const { gained } = await gain(() => withShop({ target_url: newPage(), tier: 'fresh' }, wallet, async (page) => {
    page.on('response', (reply) => {
      if (reply.request().method() === 'POST') statuses.push(reply.status());
    });
    const rounds = ['first', 'after a reload', 'once more', 'once more', 'once more'];
    for (const round of rounds) {
      await page.click(PAY);
      await page.waitForFunction(
        () => /^There is no answer yet|is below/.test(document.getElementById('wallet-status').textContent),
        undefined, { timeout: 60_000 });
      if (await page.isVisible('#wallet-answer')) break;
      await page.reload();
      assert.equal(await page.textContent(PAY), 'Ask again with the same payment', round);
    }
    assert.match(await page.textContent('#wallet-text'), PAGE_WORDS);
  }, { seller: impatient.url }));
  assert.equal(gained, PRICES.fresh);
  assert.equal(wallet.signed.length, 1);
  assert.ok(statuses.filter((status) => status === 503).length > 1 && !statuses.includes(409), `answered ${statuses}`);
  await impatient.stop();
}, { secondsMax: 180 });

check('a payment that was charged and is answered no more ends: it says so, and the button starts over', async () => {
  const wallet = newWallet();
  const { gained } = await gain(() => withShop({ target_url: newPage(), tier: 'basic' }, wallet, async (page) => {
    let isReplayed = true;
    await page.route('**/v1/x402/access?*', (route) => {
      if (!isReplayed || !isPaid(route.request())) return route.continue();
      const error = { code: 'payment_replayed', message: 'This authorization was already used.', retryable: false, charged: true };
      return route.fulfill({ status: 400, contentType: 'application/json', body: JSON.stringify({ status: 'error', error }) });
    });
    await page.click(PAY);
    await page.waitForFunction(() => /charged before/.test(document.getElementById('wallet-status').textContent));
    assert.match(await page.textContent('#wallet-status'), /This authorization was already used\./);
    assert.equal(await page.getAttribute('#wallet-status a', 'href'), '/docs#example-purchases');
    assert.match(await page.textContent(PAY), /^Pay /);
    isReplayed = false;
    await page.click(PAY);
    await answered(page);
  }));
  assert.equal(gained, PRICES.basic);
  assert.equal(wallet.signed.length, 2);
});

check('what is refused costs nothing and may be signed anew', async () => {
  const wallet = newWallet();
  const { gained } = await gain(() => withShop({ target_url: `${SITE_URL}/missing`, tier: 'fresh' }, wallet, async (page) => {
    for (const signatures of [1, 2]) {
      await page.click(PAY);
      await page.waitForFunction(() => /nothing was charged/.test(document.getElementById('wallet-status').textContent));
      assert.equal(wallet.signed.length, signatures);
    }
    assert.match(await page.textContent(PAY), /^Pay /);
  }));
  assert.equal(gained, 0n);
});

check('an answer outlives a reload, with a warning before it is paid for again', async () => {
  const wallet = newWallet();
  const { gained } = await gain(() => withShop({ target_url: newPage(), tier: 'basic' }, wallet, async (page) => {
    await page.click(PAY);
    await answered(page);
    await page.reload();
    await answered(page);
    assert.match(await page.textContent('#wallet-text'), PAGE_WORDS);
    assert.match(await page.textContent('#wallet-status'), /^You bought this .* Paying again charges you again\.$/);
    const [file] = await Promise.all([page.waitForEvent('download'), page.click('#wallet-download')]);
    assert.match(file.suggestedFilename(), /\.md$/);
  }));
  assert.equal(gained, PRICES.basic);
  assert.equal(wallet.signed.length, 1);
});

check('a wallet that does not know the network is asked to add it', async () => {
  const wallet = newWallet({ odd: { wallet_switchEthereumChain: { error: { code: 4902, message: 'Unrecognized chain ID' } } } });
  await withShop({ target_url: newPage(), tier: 'basic' }, wallet, async (page) => {
    await page.click(PAY);
    await answered(page);
    assert.ok(wallet.methods.includes('wallet_addEthereumChain'));
  });
});

check('every refusal of a wallet is explained, and the button keeps the focus', async () => {
  for (const [odd, said] of [
    [{ eth_requestAccounts: { result: [] } }, /shared no account/],
    [{ eth_requestAccounts: { error: {} } }, /refused without a reason/],
    [{ eth_signTypedData_v4: { error: { code: -32002, message: 'pending' } } }, /already shows a request/],
  ]) {
    const wallet = newWallet({ odd });
    await withShop({ target_url: newPage(), tier: 'basic' }, wallet, async (page) => {
      await page.focus(PAY);
      await page.keyboard.press('Enter');
      await page.waitForSelector('#wallet-status.bad');
      assert.match(await page.textContent('#wallet-status'), said);
      assert.equal(await page.evaluate(() => document.activeElement.id), 'wallet-pay');
      assert.equal(wallet.signed.length, 0);
    });
  }
});

check('a wallet that declines has signed nothing, and can be asked again', async () => {
  const wallet = newWallet({ declines: 1 });
  const { gained } = await gain(() => withShop({ target_url: newPage(), tier: 'basic' }, wallet, async (page) => {
    await page.click(PAY);
    await page.waitForFunction(() => /declined/.test(document.getElementById('wallet-status').textContent));
    assert.equal(await page.textContent('#wallet-status'), 'You declined the request in your wallet. Nothing was signed or charged.');
    await page.click(PAY);
    await answered(page);
  }));
  assert.equal(gained, PRICES.basic);
});

check('a challenge that asks for something else than the page shows is not signed', async () => {
  const wallet = newWallet();
  await withShop({ target_url: newPage(), tier: 'basic' }, wallet, async (page) => {
    await page.route('**/v1/x402/access?*', async (route) => {
      const reply = await route.fetch();
      const challenge = JSON.parse(Buffer.from(reply.headers()['payment-required'], 'base64').toString());
      challenge.accepts[0].payTo = account.address;
      const altered = Buffer.from(JSON.stringify(challenge)).toString('base64');
      return route.fulfill({ response: reply, headers: { ...reply.headers(), 'payment-required': altered } });
    });
    await page.click(PAY);
    await page.waitForFunction(() => /does not match this page/.test(document.getElementById('wallet-status').textContent));
    assert.deepEqual(wallet.methods, []);
  });
});

check('without a wallet or without script the page says how to buy from a program', async () => {
  const query = { target_url: newPage(), tier: 'basic' };
  await withShop(query, undefined, async (page) => {
    await page.click(PAY);
    await page.waitForFunction(() => /No wallet/.test(document.getElementById('wallet-status').textContent));
  });
  await withShop(query, undefined, async (page) => {
    assert.equal(await page.isVisible(PAY), false);
    assert.match(await page.innerText('main'), /needs JavaScript/);
    assert.match(await page.innerText('main'), /paidFetch\("http[^"]*\/v1\/x402\/access\?tier=basic"/);
  }, { javaScriptEnabled: false });
});
