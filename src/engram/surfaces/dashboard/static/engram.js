// What htmx does not do: keys, countdowns, the live board, long transcripts. No data of its own, no request elsewhere.
"use strict";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const typing = (target) => target.closest("input, textarea, select, [contenteditable]");

// Keys: an element with data-key is clicked (or focused, if one types into it) when its keys are pressed.
let before = "";
let forgets = 0;

function press(event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("textarea")) { event.preventDefault(); return event.target.form?.requestSubmit(); }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && typing(event.target)) { event.preventDefault(); return event.target.blur(); }
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  const keys = before ? `${before} ${event.key}` : event.key;
  const found = all("[data-key]").find((each) => each.dataset.key === keys && !each.disabled);
  clearTimeout(forgets);
  before = !found && !before && event.key === "g" ? "g" : "";
  if (before) forgets = setTimeout(() => { before = ""; }, 1500);
  if (found) act(event, found);
  else if (keys === "j" || keys === "k") step(event, keys === "j" ? 1 : -1);
  else if (keys === "o") fold(event);
  else if (keys === "n" || keys === "p") turn(event, keys === "n");
  else if (keys === "/") { event.preventDefault(); location.assign("/search"); }
}

function act(event, found) {
  event.preventDefault();
  if (typing(found)) { found.focus(); found.select?.(); return; }
  found.click();
  // Who unfolds a form by a key goes on typing, and must not press further keys with that.
  if (found.matches("summary") && found.parentElement.open) found.parentElement.querySelector("textarea, input:not([type=hidden])")?.focus();
}

function step(event, by) {
  const items = all("[data-item]").filter((each) => each.offsetParent !== null);
  if (!items.length) return;
  event.preventDefault();
  const at = items.findIndex((each) => each.contains(document.activeElement));
  const next = items[Math.min(items.length - 1, Math.max(0, at + by))];
  const target = next.matches("a, button, summary, [tabindex]") ? next : next.querySelector("a, button, summary");
  target?.focus();
  next.scrollIntoView({ block: "nearest" });
}

function fold(event) {
  const found = document.activeElement?.closest("[data-item]")?.querySelector("summary");
  if (found) { event.preventDefault(); found.click(); }
}

// The prompts of a session: the next or the last one, seen from the event that is read.
function turn(event, onward) {
  const links = all(".turns a"), number = (hash) => Number(hash.slice(2));
  if (!links.length) return;
  event.preventDefault();
  const here = `#${read()}`, place = links.findIndex((each) => each.hash === here);
  const found = place >= 0 ? links[place + (onward ? 1 : -1)]
    : onward ? links.find((each) => number(each.hash) > number(here)) : links.findLast((each) => number(each.hash) < number(here));
  if (found && document.getElementById(found.hash.slice(1))) location.hash = found.hash;
  else found?.click();
}

function read() {
  const seen = (each) => { const box = each.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; };
  const linked = document.getElementById(location.hash.slice(1));
  if (linked && seen(linked)) return linked.id;
  return all(".transcript > .stretch > .beat").find((each) => each.getBoundingClientRect().bottom > innerHeight / 2)?.id || "e0";
}

// Times that go on while the page is open.
function told(seconds) {
  const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
  if (days >= 2) return `${days} d`;
  if (hours >= 1) return `${hours} h ${minutes % 60 ? `${minutes % 60} min` : ""}`.trim();
  return minutes >= 1 ? `${minutes} min` : `${Math.max(0, Math.floor(seconds))} s`;
}

const counting = (left) => `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;

function tick() {
  if (document.hidden) return;
  for (const each of all("time[data-ago]")) {
    each.textContent = `${told((Date.now() - Date.parse(each.dateTime)) / 1000)} ago`;
  }
  for (const each of all("time[data-until]")) {
    const left = (Date.parse(each.dateTime) - Date.now()) / 1000;
    each.textContent = left > 0 ? `${left < 300 ? counting(left) : told(left)} left` : "lapsed";
  }
}

// The live board: the server sends its parts when they change; a hidden page listens to nothing.
let stream = null;

function listen() {
  const board = document.querySelector("[data-stream]");
  stream?.close();
  stream = null;
  if (!board || document.hidden) return;
  stream = new EventSource(board.dataset.stream);
  stream.addEventListener("part", (event) => {
    const { id, html } = JSON.parse(event.data);
    const part = document.getElementById(id);
    if (!part || part.querySelector("[data-editing]") || part.contains(document.activeElement) && typing(document.activeElement)) return;
    const focus = focused(part), open = all("details[open][id]", part).map((each) => each.id);
    htmx.swap(part, html, { swapStyle: "innerHTML" });
    for (const each of open) document.getElementById(each)?.setAttribute("open", "");
    focus && part.querySelector(focus)?.focus();
    tick();
  });
  stream.onopen = () => state("live");
  stream.onerror = () => {
    state("reconnecting …");
    if (stream?.readyState === EventSource.CLOSED) refused();
  };
}

// The server answers but sends nothing: whoever is no longer let in is told the way, the others try again.
async function refused() {
  const answer = await fetch(location.href, { method: "GET" }).catch(() => null);
  if (answer?.status === 401) state("run `engram ui` to be let in again");
  else setTimeout(() => stream?.readyState === EventSource.CLOSED && listen(), 10000);
}

function focused(part) {
  const id = part.contains(document.activeElement) && document.activeElement.getAttribute("href");
  return id ? `a[href="${CSS.escape(id)}"]` : null;
}

function state(word) {
  for (const each of all("[data-live]")) {
    each.className = `chip ${word === "live" ? "good" : "warn"}`;
    each.textContent = word;
  }
}

// Long transcripts: a stretch is fetched when it comes near and let go when it is far; its height stays.
const near = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) isIntersecting ? fill(target) : empty(target);
}, { rootMargin: "1500px 0px" });

async function fill(stretch) {
  if (stretch.dataset.state) return;
  stretch.dataset.state = "asked";
  try {
    const answer = await fetch(stretch.dataset.src, { headers: { "HX-Request": "true" } });
    const html = await answer.text();
    if (stretch.dataset.state !== "asked") return;
    if (!answer.ok || !answer.headers.get("content-type")?.startsWith("text/html")) return again(stretch);
    stretch.innerHTML = html;
    stretch.style.minHeight = "";
    stretch.dataset.state = "here";
    htmx.process(stretch);
    tick();
    if (arriving) arrive();
  } catch {
    again(stretch);
  }
}

// A stretch that could not be fetched is fetched as soon as that may go well, if it is still near.
function again(stretch) {
  stretch.dataset.state = "";
  setTimeout(() => { near.unobserve(stretch); near.observe(stretch); }, 3000);
}

function empty(stretch) {
  if (stretch.dataset.state !== "here" || stretch.contains(document.activeElement) || stretch.querySelector("details[open]")) return;
  stretch.style.minHeight = `${stretch.offsetHeight}px`;
  stretch.replaceChildren();
  stretch.dataset.state = "";
}

// A link to one event: its stretch is filled first, then shown, and again while what is above it still grows.
let arriving = null;

function arrive() {
  const target = arriving && document.getElementById(arriving);
  if (!target) return;
  target.closest("details")?.setAttribute("open", "");
  target.scrollIntoView({ block: "center" });
}

function settle() {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch {}
  if (!id) return;
  arriving = id;
  arrive();
  setTimeout(() => { arriving = null; }, 2500);
  for (const kind of ["wheel", "touchstart", "keydown"]) addEventListener(kind, () => { arriving = null; }, { once: true, passive: true });
}

function prepare(root) {
  for (const each of all("[data-src]", root)) near.observe(each);
  tick();
}

// A short word about what was done; it goes by itself.
let hides = 0;

function say(words) {
  const place = document.getElementById("told");
  place.textContent = words;
  clearTimeout(hides);
  hides = setTimeout(() => { place.textContent = ""; }, 6000);
}

// Words that were typed and not sent are not left by accident.
let leaving = false;
const dirty = () => all("main textarea").some((each) => each.value !== each.defaultValue);
document.addEventListener("submit", (event) => { leaving ||= !event.target.matches("[hx-post], [hx-get]"); });
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => { leaving ||= Boolean(detail.xhr.getResponseHeader("HX-Redirect")); });
addEventListener("beforeunload", (event) => { if (!leaving && dirty()) event.preventDefault(); });

document.addEventListener("keydown", press);
document.addEventListener("visibilitychange", () => { listen(); tick(); });
addEventListener("hashchange", settle);
document.addEventListener("click", (event) => {
  const place = event.target.closest("[data-theme-switch], [data-help], [data-copy], [data-copy-text]");
  if (!place) return;
  if (place.matches("[data-help]")) document.getElementById("keys").showModal();
  else if (place.matches("[data-copy-text]")) navigator.clipboard.writeText(place.dataset.copyText).then(() => say("Copied."));
  else if (place.matches("[data-copy]")) navigator.clipboard.writeText(new URL(place.dataset.copy, location).href).then(() => say("The link is copied."));
  else {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const theme = (document.documentElement.dataset.theme || (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("engram-theme", theme); } catch {}
  }
});
document.addEventListener("htmx:afterSettle", (event) => prepare(event.target));
document.addEventListener("htmx:configRequest", ({ detail }) => {
  // A filter that is not set does not stand in the address.
  if (detail.verb === "get") for (const [name, said] of [...detail.formData]) if (said === "") detail.formData.delete(name);
});
document.addEventListener("told", (event) => say(event.detail.value));
document.addEventListener("htmx:sendError", ({ target }) => { say("The server does not answer. Is `engram ui` still running?"); unfetched(target); });
document.addEventListener("htmx:responseError", ({ target }) => unfetched(target));

// What was unfolded and could not be fetched is folded again, as if nobody had tried.
function unfetched(target) {
  if (!target.matches("details[hx-get]")) return;
  const fresh = target.cloneNode(true);
  fresh.open = false;
  target.replaceWith(fresh);
  htmx.process(fresh);
}
prepare(document);
listen();
settle();
setInterval(tick, 1000);
