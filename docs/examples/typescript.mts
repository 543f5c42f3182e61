// npx openapi-typescript "$CARDS/api/v1/openapi.json" -o api.d.ts
// npx tsc --strict --module nodenext --target es2022 typescript.mts
import createClient from "openapi-fetch";
import type {paths} from "./api.js";

const {CARDS, KEY} = process.env;
const client = createClient<paths>({baseUrl: CARDS, headers: {Authorization: `Bearer ${KEY}`}});
const {data, error} = await client.GET("/api/v1/cards", {params: {query: {find: process.argv[2], limit: 3}}});
if (error) throw new Error(error.error.message);
for (const card of data.data) console.log(card.name, card.set.name, card.price_guide?.trend ?? null);
