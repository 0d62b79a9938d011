// What htmx does not do: keys, countdowns, the live board, long transcripts. It requests nothing from other servers.
"use strict";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const typing = (target) => target.closest("input, textarea, select, [contenteditable]");

// Keys: pressing the keys in an element's data-key clicks it, or focuses it if it is an input.
let before = "";
let forgets = 0;

function press(event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("textarea")) { event.preventDefault(); return event.target.form?.requestSubmit(); }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && typing(event.target)) { event.preventDefault(); return event.target.blur(); }
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  const keys = before ? `${before} ${event.key}` : event.key;
  const match = all("[data-key]").find((element) => element.dataset.key === keys && !element.disabled);
  clearTimeout(forgets);
  before = !match && !before && event.key === "g" ? "g" : "";
  if (before) forgets = setTimeout(() => { before = ""; }, 1500);
  if (match) act(event, match);
  else if (keys === "j" || keys === "k") step(event, keys === "j" ? 1 : -1);
  else if (keys === "o") fold(event);
  else if (keys === "n" || keys === "p") turn(event, keys === "n");
  else if (keys === "/") { event.preventDefault(); location.assign("/search"); }
}

function act(event, match) {
  event.preventDefault();
  if (typing(match)) { match.focus(); match.select?.(); return; }
  match.click();
  // After expanding a form by key, focus its first field, so that typing does not trigger other keys.
  if (match.matches("summary") && match.parentElement.open) match.parentElement.querySelector("textarea, input:not([type=hidden])")?.focus();
}

function step(event, by) {
  const items = all("[data-item]").filter((element) => element.offsetParent !== null);
  if (!items.length) return;
  event.preventDefault();
  const at = items.findIndex((element) => element.contains(document.activeElement));
  const next = items[Math.min(items.length - 1, Math.max(0, at + by))];
  const target = next.matches("a, button, summary, [tabindex]") ? next : next.querySelector("a, button, summary");
  target?.focus();
  next.scrollIntoView({ block: "nearest" });
}

function fold(event) {
  const match = document.activeElement?.closest("[data-item]")?.querySelector("summary");
  if (match) { event.preventDefault(); match.click(); }
}

// Go to the next or previous prompt of a session, relative to the event in view.
function turn(event, onward) {
  const links = all(".turns a"), number = (hash) => Number(hash.slice(2));
  if (!links.length) return;
  event.preventDefault();
  const here = `#${read()}`, place = links.findIndex((element) => element.hash === here);
  const match = place >= 0 ? links[place + (onward ? 1 : -1)]
    : onward ? links.find((element) => number(element.hash) > number(here)) : links.findLast((element) => number(element.hash) < number(here));
  if (match && document.getElementById(match.hash.slice(1))) location.hash = match.hash;
  else match?.click();
}

function read() {
  const seen = (element) => { const box = element.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; };
  const linked = document.getElementById(location.hash.slice(1));
  if (linked && seen(linked)) return linked.id;
  return all(".transcript > .stretch > .beat").find((element) => element.getBoundingClientRect().bottom > innerHeight / 2)?.id || "e0";
}

// Keep relative times current while the page is open.
function formatDuration(seconds) {
  const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
  if (days >= 2) return `${days} d`;
  if (hours >= 1) return `${hours} h ${minutes % 60 ? `${minutes % 60} min` : ""}`.trim();
  return minutes >= 1 ? `${minutes} min` : `${Math.max(0, Math.floor(seconds))} s`;
}

const counting = (left) => `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;

function tick() {
  if (document.hidden) return;
  for (const element of all("time[data-ago]")) {
    element.textContent = `${formatDuration((Date.now() - Date.parse(element.dateTime)) / 1000)} ago`;
  }
  for (const element of all("time[data-until]")) {
    const left = (Date.parse(element.dateTime) - Date.now()) / 1000;
    element.textContent = left > 0 ? `${left < 300 ? counting(left) : formatDuration(left)} left` : "expired";
  }
}

// The live board: the server sends parts when they change; a hidden page does not listen.
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
    const focus = focused(part), open = all("details[open][id]", part).map((element) => element.id);
    htmx.swap(part, html, { swapStyle: "innerHTML" });
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    focus && part.querySelector(focus)?.focus();
    tick();
  });
  stream.onopen = () => state("live");
  stream.onerror = () => {
    state("reconnecting …");
    if (stream?.readyState === EventSource.CLOSED) refused();
  };
}

// The stream was refused: if the browser is signed out, say how to sign in; otherwise retry.
async function refused() {
  const answer = await fetch(location.href, { method: "GET" }).catch(() => null);
  if (answer?.status === 401) state("signed out: run `engram ui`");
  else setTimeout(() => stream?.readyState === EventSource.CLOSED && listen(), 10000);
}

function focused(part) {
  const id = part.contains(document.activeElement) && document.activeElement.getAttribute("href");
  return id ? `a[href="${CSS.escape(id)}"]` : null;
}

function state(word) {
  for (const element of all("[data-live]")) {
    element.className = `chip ${word === "live" ? "good" : "warn"}`;
    element.textContent = word;
  }
}

// Long transcripts: load a section when it comes near and unload it when it is far; its height stays.
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

// Retry a section that failed to load, if it is still near.
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

// A link to an event: load its section, scroll to it, and scroll again while content above it still loads.
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
  for (const element of all("[data-src]", root)) near.observe(element);
  tick();
}

// Show a short notice that disappears by itself.
let hides = 0;

function say(message) {
  const place = document.getElementById("told");
  place.textContent = message;
  clearTimeout(hides);
  hides = setTimeout(() => { place.textContent = ""; }, 6000);
}

// Warn before leaving a page with unsent text.
let leaving = false;
const dirty = () => all("main textarea").some((element) => element.value !== element.defaultValue);
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
  else if (place.matches("[data-copy]")) navigator.clipboard.writeText(new URL(place.dataset.copy, location).href).then(() => say("Link copied."));
  else {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const theme = (document.documentElement.dataset.theme || (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("engram-theme", theme); } catch {}
  }
});
document.addEventListener("htmx:afterSettle", (event) => prepare(event.target));
document.addEventListener("htmx:configRequest", ({ detail }) => {
  // Leave empty filters out of the address.
  if (detail.verb === "get") for (const [name, text] of [...detail.formData]) if (text === "") detail.formData.delete(name);
});
document.addEventListener("told", (event) => say(event.detail.value));
document.addEventListener("htmx:sendError", ({ target }) => { say("The server does not respond. Is `engram ui` still running?"); unfetched(target); });
document.addEventListener("htmx:responseError", ({ target }) => unfetched(target));

// Collapse a details element whose content failed to load, so that it can be tried again.
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
