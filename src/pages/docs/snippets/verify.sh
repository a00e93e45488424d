curl -sS -i "$BASE_URL/v1/proof-pack/reports/ppr_sample/verify"
