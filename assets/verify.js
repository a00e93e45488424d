{
  const { report, unhashed } = document.currentScript.dataset;
  const button = document.getElementById("recompute");
  const result = document.getElementById("recomputed");
  const bytes = (text) => new TextEncoder().encode(text);
  const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const decoded = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (char) => char.charCodeAt(0));
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
    const found = hex(await crypto.subtle.digest("SHA-256", bytes(canonical(hashed))));
    const isSame = found === whole.result_hash && document.getElementById("result-hash").textContent === found;
    const lines = [[isSame, isSame ? "The result hash is correct." : `The report hashes to ${found}.`]];
    if (whole.signature) lines.push(await signed(whole));
    const receipt = await (await fetch(`${report}/verify`)).json();
    const failed = receipt.checks.filter((check) => !check.match).map((check) => check.id);
    lines.push([receipt.valid, receipt.valid
      ? `The service's own ${receipt.checks.length} checks against the stored source pass.`
      : `The service's own checks fail: ${failed.join(", ")}.`]);
    return lines;
  };

  const signed = async ({ signature, result_hash }) => {
    const [head, body, seal] = signature.jws.split(".");
    const keys = (await (await fetch("/.well-known/jwks.json")).json()).keys;
    const known = keys.find((key) => signature.kid.endsWith(key.kid)) ?? keys[0];
    try {
      const { kty, crv, x } = known;
      const key = await crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]);
      const isOurs = await crypto.subtle.verify("Ed25519", key, decoded(seal), bytes(`${head}.${body}`));
      const says = JSON.parse(new TextDecoder().decode(decoded(body)));
      const isSigned = isOurs && says.result_hash === result_hash;
      return [isSigned, isSigned ? "The signature matches this service's published key." : "The signature does not match."];
    } catch {
      return [null, "This browser cannot check Ed25519 signatures."];
    }
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
