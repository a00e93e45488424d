// RETRY_CREDIT: X-Service-Retry-Credit from the 503 response; repeat the body you paid for.
const { BASE_URL, RETRY_CREDIT, TARGET_URL } = process.env;
const response = await fetch(`${BASE_URL}/v1/x402/retry`, {
  method: "POST",
  headers: { "Content-Type": "application/json", "X-Service-Retry-Credit": RETRY_CREDIT! },
  body: JSON.stringify({ target_url: TARGET_URL, tier: "fresh" }),
});
if (!response.ok) throw new Error(await response.text());
console.log(JSON.stringify(await response.json(), null, 2));
