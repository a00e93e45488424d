{
  const { report, unhashed } = document.currentScript.dataset;
  const button = document.getElementById("recompute");
  const result = document.getElementById("recomputed");
  const bytes = (text) => new TextEncoder().encode(text);
  const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const decoded = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (char) => char.charCodeAt(0));
  const sha256 = async (data) => hex(await crypto.subtle.digest("SHA-256", data));
  // RFC 8785: members sorted by UTF-16 units, numbers and strings as ECMAScript writes them.
  const canonical = (value) =>
    Array.isArray(value) ? `[${value.map(canonical)}]`
    : value && typeof value === "object"
      ? `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)}}`
    : JSON.stringify(value);

  const check = async () => {
    const whole = await (await fetch(report, { headers: { Accept: "application/json" } })).json();
    const hashed = { ...whole };
    unhashed.split(" ").forEach((name) => delete hashed[name]);
    const found = await sha256(bytes(canonical(hashed)));
    const stated = whole.result_hash;
    const isShown = document.getElementById("result-hash").textContent === stated;
    const lines = [found !== stated
      ? [false, `The result hash does not match: this report was changed after it was made (computed ${found}, stated ${stated}).`]
      : [isShown, isShown ? "The result hash is correct." : "The result hash on this page is not that of the report."]];
    if (whole.signature) lines.push(await signed(whole.signature, found));
    return [...lines, ...await sourced(whole), await served()];
  };

  // The signature is held against the computed hash: what a changed report states proves nothing.
  const signed = async (signature, found) => {
    try {
      const [head, body, seal] = signature.jws.split(".");
      const keys = (await (await fetch("/.well-known/jwks.json")).json()).keys;
      const { kty, crv, x } = keys.find((key) => signature.kid.endsWith(key.kid)) ?? keys[0];
      const key = await crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]);
      const isOurs = await crypto.subtle.verify("Ed25519", key, decoded(seal), bytes(`${head}.${body}`));
      if (!isOurs) return [false, "The signature was not made with this service's published key."];
      const isSigned = JSON.parse(new TextDecoder().decode(decoded(body))).result_hash === found;
      return [isSigned, isSigned
        ? "The signature matches this service's published key."
        : "The signature belongs to another report: it does not cover the result hash computed here."];
    } catch {
      return [null, "This browser cannot check Ed25519 signatures."];
    }
  };

  // The excerpts are cut out of the stored text here, by their positions in bytes of UTF-8.
  const sourced = async (whole) => {
    const reply = await fetch(`${report}/source`).catch(() => null);
    if (!reply?.ok) return [[null, "The stored text could not be fetched, so its hash and the excerpts were not checked here."]];
    const text = new Uint8Array(await reply.arrayBuffer());
    const found = await sha256(text);
    const isSource = found === whole.source_hash;
    const slice = new TextDecoder("utf-8", { ignoreBOM: true });
    const isSlice = ({ start, end, excerpt }) => slice.decode(text.subarray(start, end)) === excerpt;
    const exact = whole.citations.filter((cited) =>
      [cited, cited.context, cited.before, cited.after].filter(Boolean).every(isSlice)).length;
    const all = whole.citations.length;
    const lines = [[isSource, isSource
      ? "The source hash is correct: the stored text is the one this report was made from."
      : `The source hash does not match: the stored text is not the one this report names (computed ${found}, stated ${whole.source_hash}).`]];
    if (all) lines.push([exact === all, `${exact} of ${all} ${all === 1 ? "excerpt is" : "excerpts are"} in the stored text, word for word.`]);
    return lines;
  };

  const served = async () => {
    const receipt = await (await fetch(`${report}/verify`)).json();
    const failed = receipt.checks.filter((check) => !check.match).map((check) => check.id);
    return [receipt.valid, receipt.valid
      ? `The service's own ${receipt.checks.length} checks against the stored source pass.`
      : `The service's own checks fail: ${failed.join(", ")}.`];
  };

  const show = (lines) => {
    const list = document.createElement("ul");
    list.className = "checks";
    for (const [passes, text] of lines) {
      const line = document.createElement("li");
      line.className = passes === null ? "warn" : passes ? "pass" : "fail";
      line.textContent = text;
      list.append(line);
    }
    result.replaceChildren(list);
  };

  button.hidden = !(window.crypto && crypto.subtle);
  button.onclick = async () => {
    result.textContent = "Computing …";
    try {
      show(await check());
    } catch {
      show([[false, "The report could not be fetched. Try again in a moment."]]);
    }
  };
}
