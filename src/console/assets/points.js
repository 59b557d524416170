// A photo is shown where a click on it says who is meant, as fractions in the field beside it. Drawn, since a
// page may show no file of the visitor's as a picture.
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the scope that keeps the names of a classic script its own.
(() => {
  const SHOWN_PX = 900;
  /** @param {HTMLElement} place @param {() => Blob | Promise<Blob>} read */
  const showPhoto = async (place, read) => {
    const turn = String(Number(place.dataset.turn ?? 0) + 1);
    place.dataset.turn = turn;
    place.hidden = true;
    const photo = await Promise.resolve()
      .then(read)
      .then(createImageBitmap)
      .catch(() => null);
    // Another one was chosen meanwhile, or it is none.
    if (!photo || place.dataset.turn !== turn) return;
    const canvas = /** @type {HTMLCanvasElement} */ (place.querySelector("canvas"));
    const scale = Math.min(1, SHOWN_PX / Math.max(photo.width, photo.height));
    canvas.width = Math.round(photo.width * scale);
    canvas.height = Math.round(photo.height * scale);
    canvas.getContext("2d")?.drawImage(photo, 0, 0, canvas.width, canvas.height);
    photo.close();
    place.hidden = false;
    markPoint(place);
  };
  /** @param {HTMLElement} place */
  const fieldOf = (place) =>
    /** @type {HTMLInputElement} */ (document.getElementById(place.dataset.points ?? ""));
  /** Marks the point that is written, if it is one. @param {HTMLElement} place */
  const markPoint = (place) => {
    const mark = /** @type {HTMLElement} */ (place.querySelector(".focus-mark"));
    const [x = Number.NaN, y = Number.NaN] = fieldOf(place)
      .value.trim()
      .split(/[\s,;]+/)
      .map(Number);
    mark.hidden = !(x >= 0 && x <= 1 && y >= 0 && y <= 1);
    if (!mark.hidden) Object.assign(mark.style, { left: `${x * 100}%`, top: `${y * 100}%` });
  };
  const photoPlaces = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-points]")]);
  /** @param {string} address */
  const photoAt = async (address) => {
    const { origin, href } = new URL(address, location.href);
    if (origin !== location.origin) throw new Error("elsewhere");
    const answer = await fetch(href);
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.blob();
  };
  for (const place of photoPlaces()) {
    const { photo } = place.dataset;
    if (photo) void showPhoto(place, () => photoAt(photo));
  }
  // A part of the page that was exchanged has a place of its own.
  document.addEventListener("cardpress:added", ({ target }) => {
    if (!(target instanceof Element) || target === document.body) return;
    for (const place of photoPlaces()) {
      const { photo } = place.dataset;
      if (photo && target.contains(place)) void showPhoto(place, () => photoAt(photo));
    }
  });
  /**
   * Another photo, in which the point would be somebody else.
   * @param {HTMLElement} place @param {() => Blob | Promise<Blob>} read
   */
  const changePhoto = (place, read) => {
    const field = fieldOf(place);
    if (field.value !== "") {
      field.value = "";
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    void showPhoto(place, read);
  };
  document.addEventListener("change", ({ target }) => {
    const [place] = photoPlaces();
    if (!place || !(target instanceof HTMLInputElement)) return;
    const [file] = target.files ?? [];
    if (target.name === "file" && file) changePhoto(place, () => file);
    if (target.name === "source_image_url") changePhoto(place, () => photoAt(target.value));
  });
  document.addEventListener("input", ({ target }) => {
    for (const place of photoPlaces()) if (fieldOf(place) === target) markPoint(place);
  });
  document.addEventListener("click", ({ target, offsetX, offsetY }) => {
    const place = target instanceof HTMLCanvasElement && target.closest("[data-points]");
    if (!(place instanceof HTMLElement)) return;
    const { clientWidth, clientHeight } = /** @type {HTMLCanvasElement} */ (target);
    const fraction = (/** @type {number} */ part) => Math.min(1, Math.max(0, part)).toFixed(3);
    const field = fieldOf(place);
    field.value = `${fraction(offsetX / clientWidth)} ${fraction(offsetY / clientHeight)}`;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    // Where nothing else is asked, and nothing is charged.
    if (place.hasAttribute("data-sends")) field.form?.requestSubmit();
  });
})();
