// A card that is a video plays by itself unless the viewer asked for less motion. Without this script, and
// where a browser lets nothing play by itself, it is its still with the browser's controls.
(() => {
  const film = document.querySelector("video");
  if (!film || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  film.play().then(
    () => {
      film.controls = false;
      film.tabIndex = 0;
      // To stop it, the viewer points at it, taps on it or comes by the keyboard.
      for (const event of ["pointerenter", "pointerdown", "focus"])
        film.addEventListener(event, () => {
          film.controls = true;
        });
      film.addEventListener("pointerleave", ({ pointerType }) => {
        // A finger leaves with every tap.
        if (pointerType === "mouse") film.controls = film.paused;
      });
    },
    () => {},
  );
})();
