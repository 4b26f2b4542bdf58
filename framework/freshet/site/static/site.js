// Nothing here is needed to read the pages: ages go on while a page is open, and a long list can be filtered.
"use strict";

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
  document.getElementById("old").textContent = seconds >= 90 ? `, ${age(seconds)} ago: what has happened since is not here` : "";
}

function filter() {
  const box = document.getElementById("filter");
  if (!box) return;
  const wanted = document.getElementById("wanted");
  const all = [...document.querySelectorAll(".pipelines > [data-words]")];
  box.hidden = all.length < 10;
  wanted.addEventListener("input", () => {
    const words = wanted.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const one of all) {
      const text = one.dataset.words.toLowerCase();
      one.hidden = !words.every((word) => text.includes(word));
      count += !one.hidden;
    }
    document.getElementById("shown").textContent = words.length ? `${count} of ${all.length}` : "";
  });
}

ages();
setInterval(ages, 30000);
filter();
