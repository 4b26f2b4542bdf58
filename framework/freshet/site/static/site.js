// Nothing here is needed to read the pages: ages go on while a page is open, a long list can be filtered, and a page that
// is served is asked for anew.
"use strict";

// Behind what puts the pages below a path of its own, too.
const HOME = new URL(".", document.currentScript.src);

function age(seconds) {
  for (const [below, size, unit] of [[90, 1, "s"], [5400, 60, "min"], [172800, 3600, "h"], [Infinity, 86400, "days"]]) {
    if (seconds < below) return `${Math.round(seconds / size)} ${unit}`;
  }
}

function ages() {
  for (const one of document.querySelectorAll("time[datetime]")) {
    const beside = one.nextElementSibling;
    const seconds = (Date.now() - Date.parse(one.dateTime)) / 1000;
    if (beside && beside.className === "age" && seconds >= 0) beside.textContent = `${age(seconds)} ago`;
  }
  const made = document.getElementById("made");
  const seconds = (Date.now() - Date.parse(made.dateTime)) / 1000;
  document.getElementById("old").textContent = seconds >= 90 && !document.body.dataset.live ? `, ${age(seconds)} ago: what has happened since is not here` : "";
}

function filter() {
  const box = document.getElementById("filter");
  if (!box) return;
  const wanted = document.getElementById("wanted");
  const all = [...document.querySelectorAll(".pipelines > [data-words]")];
  box.hidden = all.length < 10;
  const narrow = () => {
    const words = wanted.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const one of all) {
      const text = one.dataset.words.toLowerCase();
      one.hidden = !words.every((word) => text.includes(word));
      count += !one.hidden;
    }
    document.getElementById("shown").textContent = words.length ? `${count} of ${all.length}` : "";
  };
  wanted.addEventListener("input", narrow);
  narrow();
}

// Which of the like elements of a page an element is, so that its successor can be found.
const among = (one, where) => [...where.querySelectorAll(one.tagName)].indexOf(one);

// Put what was asked for in the place of what is there; what a person has opened, typed, scrolled to or is on stays.
function replace(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const before = document.getElementById("main"), after = fresh.getElementById("main");
  if (!after || before.contains(document.activeElement) && document.activeElement.tagName === "INPUT") return;
  const open = new Map([...before.querySelectorAll("details > summary")].map((one) => [one.textContent, one.parentNode.open]));
  for (const one of after.querySelectorAll("details > summary")) {
    if (open.has(one.textContent)) one.parentNode.open = open.get(one.textContent);
  }
  const wanted = document.getElementById("wanted"), again = after.querySelector("#wanted");
  if (wanted && again) again.value = wanted.value;
  // Before anything is moved: the focus goes with what is taken out of the page.
  const on = before.contains(document.activeElement) ? document.activeElement : null, index = on && among(on, before);
  const control = before.querySelector("#control"), place = after.querySelector("#control");
  if (control && place) place.replaceWith(control);
  const asides = [...before.querySelectorAll(".scroll")].map((one) => [one.scrollLeft, one.scrollTop]);
  before.replaceChildren(...after.childNodes);
  [...before.querySelectorAll(".scroll")].forEach((one, at) => asides[at] && ([one.scrollLeft, one.scrollTop] = asides[at]));
  const successor = on && on !== before && [...before.querySelectorAll(on.tagName)][index];
  if (successor) successor.focus({ preventScroll: true });
  document.querySelector("footer").replaceWith(fresh.querySelector("footer"));
  document.body.dataset.live = fresh.body.dataset.live;
  document.title = fresh.title;
  ages();
  filter();
  refreshing();
}

let stopped = false, last = "";

async function again() {
  const selected = String(getSelection());
  if (!stopped && !selected && document.visibilityState === "visible") {
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      const text = await answer.text();
      if (answer.ok && text !== last && !stopped) replace(last = text);
      const goes = answer.ok || document.body.dataset.live === "missing";
      document.getElementById("old").textContent = goes ? "" : ": there is no such page any longer";
    } catch {
      document.getElementById("old").textContent = ": the process that serves this page does not answer";
    }
  }
  later();
}

function later() {
  setTimeout(again, document.body.dataset.live === "first" ? 1000 : 5000);
}

function refreshing() {
  const button = document.getElementById("auto");
  if (!button) return;
  const named = () => { button.textContent = stopped ? "Go on refreshing" : "Stop refreshing"; };
  button.hidden = false;
  named();
  button.addEventListener("click", () => { stopped = !stopped; named(); });
}

// The token goes to this process alone, as a header that no other site can send, and is forgotten with the tab.
function control() {
  const box = document.getElementById("control");
  if (!box || !window.isSecureContext) return;
  const token = document.getElementById("token"), said = document.getElementById("answer");
  const buttons = box.querySelectorAll("button[data-ask]");
  token.value = sessionStorage.getItem("token") || "";
  box.hidden = false;
  const ask = async (what) => {
    // A button that is disabled would lose the keyboard's focus.
    if (box.ariaBusy === "true") return;
    sessionStorage.setItem("token", token.value);
    box.ariaBusy = "true";
    said.textContent = `${what}: asked ...`;
    try {
      const headers = { Authorization: `Bearer ${token.value}` };
      const answer = await fetch(new URL(`api/${what}/${encodeURIComponent(box.dataset.pipeline)}`, HOME), { method: "POST", headers });
      const told = await answer.json();
      said.textContent = told.error ? `${told.error.code}: ${told.error.message}` : `${what}: it is ${told.phase} now`;
    } catch (error) {
      said.textContent = `${what}: ${error}`;
    }
    box.ariaBusy = "false";
  };
  for (const one of buttons) one.addEventListener("click", () => ask(one.dataset.ask));
}

ages();
setInterval(ages, 30000);
filter();
control();
refreshing();
if (document.body.dataset.live) later();
