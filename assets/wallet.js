{
  // Pays with an EIP-1193 wallet: asks for the price, has the wallet sign it (EIP-3009), sends the signature, shows the answer.
  const part = (name) => document.getElementById(`wallet-${name}`);
  const { path, body, units, network, networkName, asset, payTo, file } = part("panel").dataset;
  const [button, status] = [part("pay"), part("status")];
  const label = button.textContent;
  const SENDS_MAX = 6;
  const PAUSE_MS = 2000;
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const decoded = (header) => JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (char) => char.charCodeAt(0))));
  const encoded = (value) => btoa(Array.from(new TextEncoder().encode(JSON.stringify(value)), (byte) => String.fromCharCode(byte)).join(""));
  const isSame = (one, other) => String(one).toLowerCase() === String(other).toLowerCase();
  const say = (text, className = "muted") => { [status.textContent, status.className] = [text, className]; };

  // What outlives a reload: a payment that was signed and has no answer yet, so that nobody signs twice for one purchase,
  // and the answer that was bought, so that nobody pays twice to read it.
  const [PAYMENT, ANSWER] = [`payment ${path} ${body}`, `answer ${path} ${body}`];
  const stored = (key) => { try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; } };
  const store = (key, value) => {
    try {
      if (value) sessionStorage.setItem(key, JSON.stringify(value));
      else sessionStorage.removeItem(key);
      return true;
    } catch { return false; /* Kept in this page alone. */ }
  };
  let pending = stored(PAYMENT);
  const keep = (payment) => { store(PAYMENT, pending = payment); };
  const keepAnswer = (answer) => { if (!store(ANSWER, answer)) store(ANSWER, { at: answer.at }); };

  // Wallets announce themselves (EIP-6963); older ones are window.ethereum.
  let announced;
  addEventListener("eip6963:announceProvider", ({ detail }) => { announced ??= detail.provider; });
  dispatchEvent(new Event("eip6963:requestProvider"));

  const send = (to, headers) =>
    fetch(to, { method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json", ...headers }, body });
  const reason = (answer, otherwise) => answer?.error?.message ?? answer?.detail ?? answer?.error ?? otherwise;

  const priced = async () => {
    const reply = await send(path, {});
    if (reply.status !== 402) throw new Error(reason(await reply.json(), "The service did not state a price."));
    const challenge = decoded(reply.headers.get("PAYMENT-REQUIRED"));
    const accepted = challenge.accepts.find((offer) => offer.scheme === "exact" && offer.network === network);
    const isShown = accepted && accepted.amount === units && isSame(accepted.asset, asset) && isSame(accepted.payTo, payTo);
    if (!isShown) throw new Error("The payment request does not match this page. Nothing was signed.");
    return { challenge, accepted };
  };

  // Networks that a wallet can be asked to add: endpoint and block explorer.
  const KNOWN = {
    8453: ["https://mainnet.base.org", "https://basescan.org"],
    84532: ["https://sepolia.base.org", "https://sepolia.basescan.org"],
  };
  const UNKNOWN_CHAIN = 4902;
  const chainOf = async (wallet) => Number(await wallet.request({ method: "eth_chainId" }));
  const switched = async (wallet, chain) => {
    const chainId = `0x${chain.toString(16)}`;
    try {
      await wallet.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
    } catch (error) {
      if (![error?.code, error?.data?.originalError?.code].includes(UNKNOWN_CHAIN)) throw error;
      if (!KNOWN[chain]) throw new Error(`Your wallet does not know the network ${networkName}. Add it to the wallet and try again.`);
      const [endpoint, explorer] = KNOWN[chain];
      await wallet.request({ method: "wallet_addEthereumChain", params: [{
        chainId, chainName: networkName, rpcUrls: [endpoint], blockExplorerUrls: [explorer],
        nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      }] });
      // A wallet may add a network without switching to it.
      if (await chainOf(wallet) !== chain) throw new Error(`Your wallet is still on another network. Switch it to ${networkName} and try again.`);
    }
  };

  const signed = async (wallet, { challenge, accepted }) => {
    const [from] = await wallet.request({ method: "eth_requestAccounts" }) ?? [];
    if (!from) throw new Error("Your wallet shared no account. Unlock it, connect an account to this page and try again.");
    const chainId = Number(network.split(":")[1]);
    if (await chainOf(wallet) !== chainId) await switched(wallet, chainId);
    const now = Math.floor(Date.now() / 1000);
    const nonce = Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    const authorization = {
      from, to: accepted.payTo, value: accepted.amount,
      // Ten minutes back, for clocks that differ.
      validAfter: String(now - 600), validBefore: String(now + accepted.maxTimeoutSeconds), nonce: `0x${nonce}`,
    };
    const fields = (text) => text.split(", ").map((field) => { const [type, name] = field.split(" "); return { name, type }; });
    const typed = {
      types: {
        EIP712Domain: fields("string name, string version, uint256 chainId, address verifyingContract"),
        TransferWithAuthorization:
          fields("address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce"),
      },
      primaryType: "TransferWithAuthorization",
      domain: { name: accepted.extra.name, version: accepted.extra.version, chainId, verifyingContract: accepted.asset },
      message: authorization,
    };
    const signature = await wallet.request({ method: "eth_signTypedData_v4", params: [from, JSON.stringify(typed)] });
    const { resource, extensions } = challenge;
    return encoded({ x402Version: 2, resource, accepted, payload: { signature, authorization }, extensions });
  };

  const sent = () => (pending.credit
    ? send("/v1/x402/retry", { "X-Service-Retry-Credit": pending.credit })
    : send(path, { "PAYMENT-SIGNATURE": pending.header }));

  // The same payment again and again, until an answer says how it ended.
  const delivered = async () => {
    for (let left = SENDS_MAX; left > 0; left -= 1) {
      if (SENDS_MAX > left) {
        say(`No answer yet. Asking again with the same payment; ${left} more times.`);
        await pause(PAUSE_MS);
      }
      const reply = await sent().catch(() => null);
      // An answer that breaks off is no answer.
      const answer = await reply?.json().catch(() => null);
      if (!answer) continue;
      if (reply.ok) return { reply, answer };
      const credit = reply.headers.get("X-Service-Retry-Credit");
      const { charged, retryable } = answer.error ?? {};
      // What may be repeated has no outcome yet: another request of ours may be settling this very payment.
      const isFinal = reply.status === 402 || retryable === false;
      if (credit) keep({ ...pending, credit });
      // What a credit was for may have been delivered already: the payment itself finds it.
      else if (isFinal && pending.credit) keep({ header: pending.header });
      else if (isFinal) {
        keep(null);
        const message = reason(answer, `status ${reply.status}`);
        if (charged) throw Object.assign(new Error(`This payment was charged before: ${message}`), { isCharged: true });
        throw new Error(`Refused, and nothing was charged: ${message}`);
      }
    }
    throw new Error("There is no answer yet. Your payment is saved in this tab: try again, and you will not be charged twice.");
  };

  // What the page shows of an answer, which a reload shows again.
  const bought = ({ reply, answer }) => {
    const receipt = decoded(reply.headers.get("PAYMENT-RESPONSE") ?? encoded({}));
    const of = (name) => receipt[name] ?? answer.payment?.[name];
    const isReport = typeof answer.answer === "string";
    return {
      at: Date.now(),
      payer: of("payer"), transaction: of("transaction"), network: of("network") === network ? networkName : of("network"),
      text: isReport
        ? `${answer.decision.label.replaceAll("_", " ")}\n\n${answer.answer}\n\n${answer.decision.summary}`
        : answer.markdown,
      report: isReport ? new URL(answer.report_page).pathname : null,
    };
  };

  const show = (answer) => {
    for (const name of ["payer", "transaction", "network"]) part(name).textContent = answer[name] ?? "–";
    part("text").textContent = answer.text;
    part("report").hidden = !answer.report;
    if (answer.report) part("report").href = answer.report;
    part("download").href = URL.createObjectURL(new Blob([answer.text], { type: "text/markdown" }));
    part("download").download = file;
    part("answer").hidden = false;
  };

  const ago = (at) => {
    const minutes = Math.round((Date.now() - at) / 60_000);
    return minutes < 1 ? "just now" : minutes === 1 ? "a minute ago" : `${minutes} minutes ago`;
  };

  const wrong = (error) => {
    if (error?.code === 4001) return "You declined the request in your wallet. Nothing was signed or charged.";
    if (error?.code === -32002) return "Your wallet already shows a request. Open the wallet and answer it, then try again.";
    return error?.message || "Your wallet refused without a reason. Nothing was signed or charged. Check that it is unlocked, then try again.";
  };

  // It keeps the focus while it waits, so it is never disabled.
  let isBusy = false;
  const wait = (waits) => {
    isBusy = waits;
    button.setAttribute("aria-disabled", String(waits));
  };

  button.onclick = async () => {
    if (isBusy) return;
    wait(true);
    try {
      if (!pending) {
        const wallet = announced ?? window.ethereum;
        if (!wallet) throw new Error("No wallet was found in this browser. The commands below need none.");
        say("Asking for the price.");
        const offer = await priced();
        say("Confirm the signature in your wallet.");
        keep({ header: await signed(wallet, offer) });
      }
      say("Signed. Waiting for the answer.");
      const answer = bought(await delivered());
      keepAnswer(answer);
      keep(null);
      show(answer);
      button.hidden = true;
      say("Paid. The answer is below.", "good");
      part("answer").querySelector("h2").focus();
    } catch (error) {
      say(wrong(error), "note bad");
      if (error?.isCharged) {
        const link = Object.assign(document.createElement("a"), { href: "/docs#example-purchases", textContent: "how to read it again" });
        status.append(" The answer is among your purchases: ", link, ".");
      }
    }
    wait(false);
    button.textContent = pending ? "Ask again with the same payment" : label;
  };

  const last = stored(ANSWER);
  if (pending) {
    say("A payment that you signed has no answer yet.", "note");
    button.textContent = "Ask again with the same payment";
  } else if (last) {
    const isHere = Boolean(last.text);
    if (isHere) show(last);
    say(`You bought this ${ago(last.at)}.${isHere ? " The answer is below." : ""} Paying again charges you again.`, "note");
  }
  button.hidden = false;
}
