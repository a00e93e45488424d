const { BASE_URL } = process.env;
const query = new URLSearchParams({ target_urls: "http://www.example.com/ http://127.0.0.1/" });
const response = await fetch(`${BASE_URL}/v1/proof-pack/bundle/quote?${query}`);
if (!response.ok) throw new Error(await response.text());
console.log(JSON.stringify(await response.json(), null, 2));
