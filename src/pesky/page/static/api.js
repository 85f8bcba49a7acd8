// What is asked of the server. The token comes behind the # of the address, which browsers send to nobody; it is kept for this
// tab, and goes into a header of every request.
"use strict";

const found = /^#token=(.+)$/.exec(location.hash);
if (found) {
  sessionStorage.setItem("token", unescaped(found[1]));
  history.replaceState(null, "", location.pathname + location.search);
}

function unescaped(text) { // a token is of ASCII; a % that was typed as it is stays
  return text.replace(/%[0-9a-f]{2}/gi, (found) => String.fromCharCode(parseInt(found.slice(1), 16)));
}

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function answered(response) {
  const said = await response.json();
  if (!response.ok) throw new Refused(response.status, said.error ?? `the server answered ${response.status}`);
  return said;
}

function headers() {
  const token = sessionStorage.getItem("token");
  return token ? { "X-Pesky-Token": token } : {};
}

export function keepToken(text) {
  sessionStorage.setItem("token", text);
}

export async function get(path, asked = {}) {
  const query = new URLSearchParams(Object.entries(asked).flatMap(([name, given]) => [given].flat().map((each) => [name, each])));
  return answered(await fetch(`/api/${path}?${query}`, { headers: headers() }));
}

export async function change(name, body) {
  const given = { ...headers(), "Content-Type": "application/json" };
  return answered(await fetch(`/api/change/${name}`, { method: "POST", headers: given, body: JSON.stringify(body) }));
}
