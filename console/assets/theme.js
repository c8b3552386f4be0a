// Sets the theme before the first paint. The console keeps nothing else in the storage of the browser.
const chosen = localStorage.getItem("switchyard-theme");
const prefersDark = matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.dataset.theme = chosen ?? (prefersDark ? "dark" : "light");
