// The theme that was chosen in the console holds on every page. In the head, before the first paint: no page
// flashes.
const theme = localStorage.getItem("cardpress-theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
