// The console cannot say itself that its script did not arrive. Errors of files do not bubble.
addEventListener(
  "error",
  ({ target }) => {
    if (!(target instanceof HTMLScriptElement)) return;
    const shown = document.getElementById("not-started");
    if (shown === null) return;
    shown.hidden = false;
    shown.querySelector("button").addEventListener("click", () => location.reload());
    document.getElementById("starting").hidden = true;
  },
  true,
);
