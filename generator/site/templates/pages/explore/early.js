// Asks for what the first view needs while the other scripts of the page come, which takes longer on a slow link. `api.js`
// takes the answers. It is part of these scripts too, because they may come first.
import {readKey} from "../docs/key.js";

function begin(key) {
  const headers = {Authorization: `Bearer ${key}`};
  const paths = ["me", "status"];
  if (["", "#/cards"].includes(location.hash)) paths.push("cards?sort=market&limit=50&offset=0");
  const answers = key ? paths.map((path) => fetch(`/api/v1/${path}`, {headers, credentials: "omit", referrerPolicy: "no-referrer"})) : [];
  for (const answer of answers) answer.catch(() => {}); // what takes it says so
  return {key, answers: new Map(answers.map((answer, at) => [`/api/v1/${paths[at]}`, answer]))};
}

globalThis.early ??= begin(readKey());