{
  // Pays with an EIP-1193 wallet: asks for the price, has the wallet sign it (EIP-3009), sends the signature, shows the answer.
  const part = (name) => document.getElementById(`wallet-${name}`);
  const { path, body, units, network, asset, payTo } = part("panel").dataset;
  const [button, status] = [part("pay"), part("status")];
  const label = button.textContent;
  const SENDS_MAX = 6;
  const PAUSE_MS = 2000;
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const decoded = (header) => JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (char) => char.charCodeAt(0))));
  const encoded = (value) => btoa(Array.from(new TextEncoder().encode(JSON.stringify(value)), (byte) => String.fromCharCode(byte)).join(""));
  const isSame = (one, other) => String(one).toLowerCase() === String(other).toLowerCase();
  const say = (text, className = "muted") => { [status.textContent, status.className] = [text, className]; };

  // A payment that was signed and has no answer yet. It outlives a reload, so that nobody signs twice for one purchase.
  const key = `payment ${path} ${body}`;
  let pending = null;
  try { pending = JSON.parse(sessionStorage.getItem(key)); } catch { /* Kept in this page alone. */ }
  const keep = (payment) => {
    pending = payment;
    try {
      if (payment) sessionStorage.setItem(key, JSON.stringify(payment));
      else sessionStorage.removeItem(key);
    } catch { /* Kept in this page alone. */ }
  };

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

  const signed = async (wallet, { challenge, accepted }) => {
    const [from] = await wallet.request({ method: "eth_requestAccounts" });
    const chainId = Number(network.split(":")[1]);
    if (Number(await wallet.request({ method: "eth_chainId" })) !== chainId) {
      await wallet.request({ method: "wallet_switchEthereumChain", params: [{ chainId: `0x${chainId.toString(16)}` }] });
    }
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

  const show = ({ reply, answer }) => {
    const receipt = decoded(reply.headers.get("PAYMENT-RESPONSE") ?? encoded({}));
    for (const name of ["payer", "transaction", "network"]) part(name).textContent = receipt[name] ?? answer.payment?.[name] ?? "–";
    const isReport = typeof answer.answer === "string";
    part("text").textContent = isReport
      ? `${answer.decision.label.replaceAll("_", " ")}\n\n${answer.answer}\n\n${answer.decision.summary}`
      : answer.markdown;
    part("report").hidden = !isReport;
    if (isReport) part("report").href = new URL(answer.report_page).pathname;
    [part("answer").hidden, button.hidden] = [false, true];
    part("answer").querySelector("h2").focus();
  };

  button.onclick = async () => {
    button.disabled = true;
    try {
      if (!pending) {
        const wallet = announced ?? window.ethereum;
        if (!wallet) throw new Error("No wallet was found in this browser. The command line below needs none.");
        say("Asking for the price.");
        const offer = await priced();
        say("Confirm the signature in your wallet.");
        keep({ header: await signed(wallet, offer) });
      }
      say("Signed. Waiting for the answer.");
      show(await delivered());
      keep(null);
      say("Paid. The answer is below.", "good");
    } catch (error) {
      const isDeclined = error.code === 4001;
      say(isDeclined ? "You declined the request in your wallet. Nothing was signed or charged." : error.message, "note bad");
      if (error.isCharged) {
        const link = Object.assign(document.createElement("a"), { href: "/docs#example-purchases", textContent: "how to read it again" });
        status.append(" The answer is among your purchases: ", link, ".");
      }
    }
    button.disabled = false;
    button.textContent = pending ? "Ask again with the same payment" : label;
  };
  if (pending) {
    say("A payment that you signed has no answer yet.", "note");
    button.textContent = "Ask again with the same payment";
  }
  button.hidden = false;
}
