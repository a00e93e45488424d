const { BASE_URL } = process.env;
const query = new URLSearchParams({
  target_url: `${BASE_URL}/sample`,
  question: "Who settles the transfer?",
});
const response = await fetch(`${BASE_URL}/v1/proof-pack/quote?${query}`);
if (!response.ok) throw new Error(await response.text());
console.log(JSON.stringify(await response.json(), null, 2));
