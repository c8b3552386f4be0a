// The script of the hosted connect page. Only the swap of the token needs it; everything else works without.
(() => {
  const { view, session, status, origins, redirect, address } = document.body.dataset;

  if (view === "locked") {
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    // The token must not stay in the history.
    history.replaceState(null, "", address);
    const form = document.querySelector("#open");
    document.querySelector("#unopened").hidden = true;
    document.querySelector(token ? "#opening" : "#incomplete").hidden = false;
    if (token) {
      form.elements.token.value = token;
      form.submit();
    }
    return;
  }

  // Neither a token nor the query of a callback stays in the history.
  if (address && (location.hash || location.pathname !== address)) {
    history.replaceState(null, "", location.pathname === address ? address + location.search : address);
  }

  for (const form of document.querySelectorAll("form")) {
    form.addEventListener("submit", () => {
      // A button that is disabled at once would not be sent.
      setTimeout(() => {
        for (const button of document.querySelectorAll("button")) button.disabled = true;
        form.setAttribute("aria-busy", "true");
      });
    });
  }
  // A page that comes back from the history can be used again.
  addEventListener("pageshow", () => {
    for (const button of document.querySelectorAll("button")) button.disabled = false;
  });

  if (view === "end") {
    const target = window.opener ?? (window.parent === window ? null : window.parent);
    const exact = JSON.parse(origins);
    for (const origin of target ? exact : []) {
      // Browsers deliver it only if the window shows a page of exactly this origin.
      target.postMessage({ type: "switchyard.connect", session_id: session, status }, origin);
    }
    if (redirect) setTimeout(() => location.replace(redirect), target && exact.length > 0 ? 1000 : 0);
    else if (window.opener && exact.length > 0) setTimeout(() => window.close(), 300);
  }
})();
