const { BASE_URL } = process.env;
const query = new URLSearchParams({ target_url: `${BASE_URL}/sample` });
const response = await fetch(`${BASE_URL}/v1/x402/quote?${query}`);
if (!response.ok) throw new Error(await response.text());
console.log(JSON.stringify(await response.json(), null, 2));
