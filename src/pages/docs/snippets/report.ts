const { BASE_URL } = process.env;
const response = await fetch(`${BASE_URL}/v1/proof-pack/reports/ppr_sample`);
if (!response.ok) throw new Error(await response.text());
console.log(JSON.stringify(await response.json(), null, 2));
