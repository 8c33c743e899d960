// Runs in every page that the book's own server sends: reloads the page when
// the book was built anew, and shows what is wrong with it until then. No part
// of the published site.
(() => {
  "use strict";

  const generation = document.currentScript.dataset.generation;
  const scrollKey = "book-live-scroll";

  // Its own shadow tree keeps the book's style out, and ours in.
  const host = document.createElement("div");
  host.style.cssText = "position: fixed; inset: 0 0 auto; z-index: 2147483647;";
  const shadow = host.attachShadow({ mode: "open" });
  shadow.innerHTML = `
    <style>
      :host { all: initial; }
      * { box-sizing: border-box; }
      [role=alert]:not(:empty) {
        position: relative; max-height: 70vh; overflow: auto; padding: 0.8em 4em 0.8em 1em;
        border-bottom: 4px solid #b3261e; background: #fff; color: #1c1b1f;
        font: 16px/1.5 system-ui, sans-serif; box-shadow: 0 2px 12px #0006;
      }
      h2 { margin: 0 0 0.4em; color: #b3261e; font-size: 1.1em; }
      ul { margin: 0; padding: 0; list-style: none; }
      li { margin: 0 0 0.6em; overflow-wrap: anywhere; }
      code, pre { font: 0.9em/1.45 ui-monospace, monospace; }
      code { font-weight: 600; }
      pre { margin: 0.3em 0 0; padding: 0.5em; overflow-x: auto; background: #f3eeee; }
      button {
        position: absolute; top: 0.6em; right: 0.8em; width: 40px; height: 40px;
        border: 1px solid currentcolor; border-radius: 6px; background: none; color: inherit;
        font: 22px/1 system-ui, sans-serif; cursor: pointer;
      }
      button:focus-visible { outline: 3px solid #b3261e; outline-offset: 2px; }
      [role=status]:not(:empty) {
        position: fixed; right: 1em; bottom: 1em; padding: 0.4em 0.8em; border-radius: 6px;
        background: #1c1b1f; color: #fff; font: 15px/1.4 system-ui, sans-serif;
      }
      @media (prefers-color-scheme: dark) {
        [role=alert]:not(:empty) { background: #1f1a1a; color: #f4eff0; border-color: #ffb4ab; }
        h2 { color: #ffb4ab; }
        pre { background: #332b2b; }
        button:focus-visible { outline-color: #ffb4ab; }
      }
      @media print { :host { display: none; } }
    </style>
    <div role="alert"></div>
    <div role="status"></div>`;
  const alertBox = shadow.querySelector("[role=alert]");
  const statusBox = shadow.querySelector("[role=status]");
  document.body.append(host);

  const element = (name, text) => {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  };

  // Text only ever goes in as text: messages quote the book's source.
  const item = (problem) => {
    const made = document.createElement("li");
    made.append(element("code", problem.place), `: ${problem.message}`);
    if (problem.hint) made.append(element("div", problem.hint));
    if (problem.detail) made.append(element("pre", problem.detail));
    return made;
  };

  const show = (problems) => {
    alertBox.replaceChildren();
    if (problems.length === 0) return;
    const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
    const list = document.createElement("ul");
    list.append(...problems.map(item));
    const dismiss = element("button", "×");
    dismiss.type = "button";
    dismiss.setAttribute("aria-label", "Dismiss");
    dismiss.addEventListener("click", () => alertBox.replaceChildren());
    alertBox.append(element("h2", `The book has ${count}`), list, dismiss);
  };

  // A build that is done at once needs no word.
  let announcing;
  const announce = (text) => {
    clearTimeout(announcing);
    if (text) {
      announcing = setTimeout(() => { statusBox.textContent = `${text} …`; }, 300);
    } else {
      statusBox.textContent = "";
    }
  };

  const reload = () => {
    const place = { page: location.pathname, x: scrollX, y: scrollY };
    sessionStorage.setItem(scrollKey, JSON.stringify(place));
    location.reload();
  };

  const restoreScroll = () => {
    const place = JSON.parse(sessionStorage.getItem(scrollKey) ?? "null");
    sessionStorage.removeItem(scrollKey);
    if (place?.page === location.pathname) {
      scrollTo({ left: place.x, top: place.y, behavior: "instant" });
    }
  };

  const receive = (status) => {
    announce(status.state === "building" ? status.activity : "");
    if (status.state === "ready" && status.generation !== generation) {
      reload();
    } else if (status.state !== "building") {
      show(status.problems);
    }
  };

  // A browser keeps only a few connections to one server; pages out of sight
  // give theirs up.
  let source;
  const connect = () => {
    source?.close();
    if (document.hidden) return;
    source = new EventSource("/__book/events");
    source.onmessage = (event) => receive(JSON.parse(event.data));
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 1000);
    };
  };
  document.addEventListener("visibilitychange", connect);
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => { if (event.persisted) connect(); });

  if (document.readyState === "complete") restoreScroll();
  else addEventListener("load", restoreScroll);
  connect();
})();
