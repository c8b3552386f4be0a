// The script of the sign-in pages. Only a login link needs it: the key of a link is in its fragment, which browsers do not send.
(() => {
  const form = document.querySelector("#link");
  if (form === null) return;
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  // The token must not stay in the history.
  history.replaceState(null, "", location.pathname);
  document.querySelector("#scriptless").hidden = true;
  document.querySelector(token ? "#ready" : "#incomplete").hidden = false;
  if (token) form.elements.token.value = token;
})();
