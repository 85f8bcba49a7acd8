// What is opened: the study that the address names, the one that the server has in mind, or the list of all.
"use strict";
import { get, keepToken, Refused } from "/static/api.js";
import { element } from "/static/dom.js";
import { listed } from "/static/list.js";
import { StudyPage } from "/static/study.js";

const AGAIN = 2000; // milliseconds

async function open() {
  const main = document.getElementById("main");
  const asked = new URLSearchParams(location.search);
  try {
    if (!asked.has("list")) {
      const told = await get("study", asked.has("study") ? { study: asked.get("study") } : {});
      if (told.study) {
        new StudyPage(told, main);
        return;
      }
    }
    listed(await get("studies"), main);
    setTimeout(open, AGAIN);
  } catch (error) {
    trouble(main, error);
  }
}

function trouble(main, error) {
  const said = element("p", { class: "trouble" }, error.message);
  if (!(error instanceof Refused) || error.status !== 401) {
    main.replaceChildren(said, element("p", {}, element("a", { href: "/?list" }, "all studies")));
    setTimeout(open, AGAIN);
    return;
  }
  const input = element("input", { type: "password", placeholder: "token", autocomplete: "off" });
  const submit = (event) => { event.preventDefault(); keepToken(input.value); open(); };
  main.replaceChildren(said, element("form", { class: "bar", onsubmit: submit }, input, element("button", { class: "main" }, "Open")));
}

open();
