// <cardpress-card>: a card that tilts, shines and turns over. MIT, see LICENSE. No dependencies, nothing
// inline: its styles are a constructed sheet, which a page's Content-Security-Policy needs not allow.

/** How far a card leans, in degrees. */
const LEAN = 15;
/** The spring that everything moves by, a little short of critical damping: a card rests after one nod. */
const STIFFNESS = 130;
const DAMPING = 17;
/** A pointer that moved by more than this many pixels has dragged, not tapped. */
const TAP_PX = 8;
/** So many degrees that a device is turned lean a card fully. */
const DEVICE_DEGREES = 22;
/** How far the foremost layer moves, as a share of the card. */
const PARALLAX = 0.022;

const FOILS = ["sheen", "rainbow", "sparkle"];

const CSS = `
:host { display: inline-block; position: relative; max-width: 100%; touch-action: pan-y;
  -webkit-tap-highlight-color: transparent; }
:host([hidden]) { display: none; }
.stage { position: relative; max-width: 100%; perspective: 1100px; }
.card { position: relative; width: 100%; height: 100%; transform-style: preserve-3d; outline: none; }
.face { position: relative; width: 100%; height: 100%; isolation: isolate; backface-visibility: hidden;
  -webkit-backface-visibility: hidden; }
.back { position: absolute; inset: 0; transform: rotateY(180deg); }
.face > img, ::slotted(img), .layers, .foil, .glare { border-radius: var(--cardpress-radius, 0); }
.face > img, ::slotted(img) { display: block; min-width: 100%; max-width: 100%; height: auto; user-select: none; }
.back > img { height: 100%; object-fit: contain; }
.layers, .foil, .glare { position: absolute; inset: 0; overflow: hidden; pointer-events: none;
  -webkit-mask: center / 100% 100% no-repeat; mask: center / 100% 100% no-repeat; }
.layered > img, .layered ::slotted(img) { visibility: hidden; }
.broken .foil, .broken .glare { display: none; }
.layers > img { position: absolute; inset: 0; width: 100%; height: 100%; }
.foil, .glare { opacity: 0; }
.foil i, .glare i { position: absolute; inset: -100%; }
.foil { mix-blend-mode: color-dodge; }
.glare { mix-blend-mode: soft-light; }
.glare i { background: radial-gradient(closest-side, #fff 0, #fffc 12%, #fff3 34%, #0000 52%, #0006 88%); }
.drop { position: absolute; inset: 8% 4% -5%; opacity: 0; pointer-events: none;
  background: radial-gradient(closest-side, #0009, #0000); }
.foil.sheen { mix-blend-mode: screen; }
.foil.sheen i { background: linear-gradient(112deg, #0000 38%, #ffdf9c14 41%, #fff0c84d 45%, #fffdf2a6 46.4%,
  #fff0c84d 47.6%, #e9e4ff24 49.5%, #ff9ee81f 51%, #9ecbff2e 52.5%, #e6f3ff8c 54%, #cfe4ff3d 55%, #a9c8ff14 58%, #0000 62%); }
.foil.rainbow i { background: repeating-linear-gradient(118deg, #7c2a54 0, #7a5a22 2.6%, #4d7a2a 5.2%, #1f7a6c 7.8%,
  #2a4f86 10.4%, #5b2f86 13%, #7c2a54 15.6%); }
.foil.rainbow i + i { mix-blend-mode: multiply; background: repeating-linear-gradient(64deg, #fff 0, #555 1.1%,
  #e8e8e8 2.3%, #222 3.9%, #fff 5%); }
.foil.sparkle i { background: linear-gradient(112deg, #0000 36%, #8e3d6e66 42%, #8a7a3d77 47%, #3d8a7277 53%,
  #3d568e66 58%, #0000 64%); }
.foil.sparkle i + i { background:
  radial-gradient(circle, #fff 0, #fff 0.7px, #0000 1.9px) 3px 11px / 31px 43px,
  radial-gradient(circle, #ffe9b0 0, #ffe9b0 1px, #0000 2.6px) 17px 29px / 53px 37px,
  radial-gradient(circle, #cfe6ff 0, #cfe6ff 0.6px, #0000 1.7px) 8px 5px / 23px 61px; }
.foil.sparkle i + i + i { background:
  radial-gradient(circle, #fff 0, #fff 1.1px, #0000 3px) 21px 7px / 67px 47px,
  radial-gradient(circle, #ffd6f2 0, #ffd6f2 0.7px, #0000 1.8px) 5px 19px / 29px 41px; }
.foil.sparkle i + i + i + i { background:
  radial-gradient(circle, #fff 0, #fff 0.8px, #0000 2.2px) 11px 23px / 37px 59px,
  radial-gradient(circle, #d6ffe9 0, #d6ffe9 1px, #0000 2.4px) 29px 3px / 71px 33px; }
.card:focus-visible { outline: 3px solid var(--cardpress-focus, #2f6df6); outline-offset: 4px;
  border-radius: var(--cardpress-radius, 0); }
.flip { position: absolute; left: 50%; bottom: -24px; width: 44px; height: 44px; margin-left: -22px; padding: 0;
  border: 0; border-radius: 50%; background: none; color: #fff; cursor: pointer; opacity: 0; transition: opacity 0.15s; }
.flip svg { display: block; width: 18px; height: 18px; margin: auto; padding: 8px; border-radius: 50%;
  background: #10141ce0; box-shadow: 0 0 0 1px #ffffff59; fill: none; stroke: currentColor;
  stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.flip:focus-visible { opacity: 1; outline: 3px solid var(--cardpress-focus, #2f6df6); outline-offset: 2px; }
:host(:hover) .flip, .card:focus-visible ~ .flip { opacity: 1; }
@media (hover: none) { .flip { opacity: 1; } }
@media (forced-colors: active) { .foil, .glare, .drop { display: none; } }
`;

/** Everything in motion is drawn by one loop, which sleeps when nothing moves. */
const moving = new Set();
let frame = 0;
let before = 0;
function wake(card) {
  moving.add(card);
  if (frame !== 0) return;
  before = 0;
  frame = requestAnimationFrame(tick);
}
function tick(now) {
  // A tab that was away goes on where it was.
  const seconds = before === 0 ? 1 / 60 : Math.min((now - before) / 1000, 0.05);
  before = now;
  for (const card of moving) if (!card.step(seconds)) moving.delete(card);
  frame = moving.size > 0 ? requestAnimationFrame(tick) : 0;
}

// A server that renders pages may import this too, and does nothing with it.
const media = (query) => globalThis.matchMedia?.(query) ?? { matches: false, addEventListener() {} };
const still = media("(prefers-reduced-motion: reduce)");
const handheld = media("(hover: none)");
const connected = new Set();
still.addEventListener("change", () => {
  for (const card of connected) card.lean(0, 0, 0);
  for (const card of seen) card.dress();
});

/** Cards that can be seen: only they move, and only for them the device is asked how it is held. */
const seen = new Set();
let watcher;
function watch(card) {
  watcher ??= new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) {
        seen.add(target);
        target.dress();
      } else if (seen.delete(target)) target.lean(0, 0, 0);
    }
    if (seen.size > 0 && handheld.matches) listen();
  });
  watcher.observe(card);
}

/** Safari on iOS tells only once its reader was asked, which takes a tap; others at once, or likewise. */
let asked = false;
function ask() {
  const { DeviceOrientationEvent: event } = globalThis;
  if (asked || !handheld.matches || !event?.requestPermission) return;
  asked = true;
  event.requestPermission().then(
    (answer) => answer === "granted" && listen(),
    () => {},
  );
}

/** Listens anew: a listener that was added before the reader gave permission may get no events. */
function listen() {
  // A frame that is not allowed to would only complain.
  if (document.featurePolicy?.allowsFeature("accelerometer") === false) return;
  removeEventListener("deviceorientation", turned);
  addEventListener("deviceorientation", turned);
}

/** How the device is held when nothing happens: it follows slowly, so that no way of holding it is wrong. */
let held;
function turned({ beta, gamma }) {
  if (beta === null || gamma === null || still.matches) return;
  held ??= { beta, gamma };
  held.beta += (beta - held.beta) * 0.02;
  held.gamma += (gamma - held.gamma) * 0.02;
  const angle = ((screen.orientation?.angle ?? 0) * Math.PI) / 180;
  const across = (gamma - held.gamma) / DEVICE_DEGREES;
  const along = (beta - held.beta) / DEVICE_DEGREES;
  const x = across * Math.cos(angle) + along * Math.sin(angle);
  const y = along * Math.cos(angle) - across * Math.sin(angle);
  for (const card of seen) if (!card.isHeld) card.lean(x, y, Math.min(1, Math.hypot(x, y) * 2));
}

function make(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** Two arrows around a card. */
function arrows() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(svg.namespaceURI, "path");
  path.setAttribute("d", "M4 9a8 8 0 0 1 14-3l2 2m0-5v5h-5M20 15a8 8 0 0 1-14 3l-2-2m0 5v-5h5");
  svg.append(path);
  return svg;
}

const clamp = (value) => Math.max(-1, Math.min(1, value));
const maskOf = (address) => (address ? `url(${JSON.stringify(address)})` : "none");

let sheet;

class CardpressCard extends (globalThis.HTMLElement ?? class {}) {
  static observedAttributes = [
    ...["src", "back", "alt", "back-alt", "flip-label", "foil", "foil-mask", "layers"],
    ...["width", "height", "flipped"],
  ];

  /** Whether a pointer or key leans it, which comes before how the device is held. */
  isHeld = false;
  /** What moves: the lean across and along, how far it is lifted, how far it is turned over. */
  #at = [0, 0, 0, 0];
  #speed = [0, 0, 0, 0];
  #to = [0, 0, 0, 0];
  #parts;
  #masks = [];
  #pressedAt;

  connectedCallback() {
    this.#build();
    connected.add(this);
    watch(this);
    this.#show();
  }

  disconnectedCallback() {
    for (const cards of [connected, seen, moving]) cards.delete(this);
    watcher.unobserve(this);
  }

  attributeChangedCallback(name) {
    if (!this.#parts) return;
    if (name === "flipped") this.#turn();
    else this.#show();
  }

  /** Whether its back is shown. */
  get flipped() {
    return this.hasAttribute("flipped") && this.hasAttribute("back");
  }
  set flipped(on) {
    this.toggleAttribute("flipped", Boolean(on));
  }

  /** Turns it over, if it has a back. */
  flip() {
    if (!this.hasAttribute("back")) return;
    this.flipped = !this.flipped;
    this.dispatchEvent(
      new CustomEvent("cardpress-flip", { detail: { flipped: this.flipped }, bubbles: true, composed: true }),
    );
  }

  /** Leans it: across and along from -1 to 1, lifted from 0 to 1. */
  lean(x, y, lift = 1) {
    const to = still.matches ? [0, 0, 0] : [clamp(x), clamp(y), lift];
    if (to.every((value, i) => value === this.#to[i])) return;
    this.#to.splice(0, 3, ...to);
    if (this.#parts) wake(this);
  }

  /** Moves on by so many seconds; false when it has come to rest. */
  step(seconds) {
    let isMoving = false;
    const steps = Math.ceil(seconds / 0.008);
    for (let i = 0; i < 4; i++) {
      const to = this.#to[i];
      for (let n = 0; n < steps; n++) {
        this.#speed[i] += (STIFFNESS * (to - this.#at[i]) - DAMPING * this.#speed[i]) * (seconds / steps);
        this.#at[i] += this.#speed[i] * (seconds / steps);
      }
      if (Math.abs(to - this.#at[i]) > 0.001 || Math.abs(this.#speed[i]) > 0.01) isMoving = true;
      else [this.#at[i], this.#speed[i]] = [to, 0];
    }
    this.#paint(isMoving);
    return isMoving;
  }

  #build() {
    if (this.#parts) return;
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(CSS);
    }
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheet];
    const slot = make("slot");
    const layers = make("div", "layers");
    const foil = make("div", "foil");
    const glares = [1, 2].map(() => make("div", "glare", make("i")));
    const front = make("div", "face", slot, layers, foil, glares[0]);
    const back = make("div", "face back", glares[1]);
    const card = make("div", "card", front);
    card.setAttribute("role", "img");
    const flip = make("button", "flip", arrows());
    flip.type = "button";
    const drop = make("div", "drop");
    const stage = make("div", "stage", drop, card);
    root.append(stage);
    this.#parts = { root, slot, layers, foil, glares, front, back, card, flip, drop, stage };
    // A link's own element is what is focused and pressed.
    if (!this.closest("a")) card.tabIndex = 0;
    this.#listen();
  }

  #listen() {
    const { card, flip, slot } = this.#parts;
    const follow = ({ clientX, clientY }) => {
      const { left, top, width, height } = this.getBoundingClientRect();
      this.isHeld = true;
      this.lean(((clientX - left) / width) * 2 - 1, ((clientY - top) / height) * 2 - 1);
    };
    const release = () => {
      this.isHeld = false;
      this.lean(0, 0, 0);
    };
    this.addEventListener("pointerenter", (event) => {
      this.#loadBack();
      if (event.pointerType === "mouse") follow(event);
    });
    this.addEventListener("pointermove", follow);
    this.addEventListener("pointerdown", (event) => {
      this.#pressedAt = event;
      follow(event);
    });
    for (const name of ["pointerleave", "pointercancel"]) this.addEventListener(name, release);
    this.addEventListener("pointerup", (event) => event.pointerType !== "mouse" && release());
    card.addEventListener("click", ({ clientX, clientY }) => {
      ask();
      const { clientX: x, clientY: y } = this.#pressedAt ?? { clientX, clientY };
      if (Math.hypot(clientX - x, clientY - y) < TAP_PX && !this.closest("a")) this.flip();
    });
    flip.addEventListener("click", () => {
      ask();
      this.flip();
    });
    this.addEventListener("dragstart", (event) => event.preventDefault());
    this.addEventListener("keydown", (event) => this.#key(event));
    this.addEventListener("focusin", () => this.#loadBack());
    for (const element of [card, flip]) element.addEventListener("blur", release);
    slot.addEventListener("slotchange", () => this.#show());
    // What cannot be shown does not shine either.
    this.#parts.front.addEventListener("error", () => this.#parts.front.classList.add("broken"), true);
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const [x, y] = this.#to;
    const leans = {
      ArrowLeft: [x - 0.5, y],
      ArrowRight: [x + 0.5, y],
      ArrowUp: [x, y - 0.5],
      ArrowDown: [x, y + 0.5],
    };
    const to = leans[event.key];
    const isOnCard = event.composedPath()[0] === this.#parts.card;
    if (to) {
      this.isHeld = true;
      this.lean(...to);
    } else if (event.key === "Escape") this.lean(0, 0, 0);
    else if (isOnCard && this.hasAttribute("back") && (event.key === "Enter" || event.key === " "))
      this.flip();
    else return;
    event.preventDefault();
  }

  /** The picture in the page itself, which is there without this script too. */
  get #still() {
    return this.querySelector(":scope > img, :scope > picture > img, :scope > a > img");
  }

  /** Puts the attributes into effect. */
  #show() {
    const { slot, front, stage, card, flip, foil, glares, back } = this.#parts;
    const picture = this.#still;
    // Empty until the browser has chosen among the addresses of a picture that is still to come.
    const src = this.getAttribute("src") ?? (picture?.currentSrc || picture?.src || "");
    let own = front.querySelector(":scope > img");
    if (!picture && src) {
      own ??= make("img");
      own.alt = "";
      if (own.getAttribute("src") !== src) own.src = src;
      front.prepend(own);
    } else own?.remove();
    slot.hidden = !picture;
    const [width, height] = ["width", "height"].map((name) =>
      Number(this.getAttribute(name) ?? picture?.getAttribute(name)),
    );
    if (width > 0 && height > 0) {
      stage.style.aspectRatio = `${width} / ${height}`;
      if (!picture) stage.style.width = `${width}px`;
    }
    const look = this.getAttribute("foil") ?? "sheen";
    foil.className = FOILS.includes(look) ? `foil ${look}` : "foil";
    const rays = { sheen: 1, rainbow: 2, sparkle: 4 }[look] ?? 0;
    foil.replaceChildren(...Array.from({ length: rays }, () => make("i")));
    // Light falls on what there is of the picture; one in JPEG is there from edge to edge.
    const shape = /\.jpe?g(\?|$)/i.test(src) ? "" : src;
    this.#masks = [
      [foil, this.getAttribute("foil-mask") ?? shape],
      [glares[0], shape],
    ];
    if (seen.has(this)) this.dress();
    if (this.hasAttribute("back")) {
      card.append(back);
      this.shadowRoot.querySelector(".stage").append(flip);
      if (connected.has(this) && this.hasAttribute("flipped")) this.#loadBack();
    } else {
      back.remove();
      flip.remove();
    }
    this.#turn();
    this.#at[3] = this.#to[3];
    this.#paint(false);
  }

  /**
   * Gives it what only its moving shows, each fetched apart: foil and glare cut to the card's shape, and its
   * layers. They wait until the card is seen, and are not fetched for who asked for less motion.
   */
  dress() {
    this.#showLayers();
    if (still.matches) return;
    for (const [element, mask] of this.#masks) {
      element.style.webkitMaskImage = maskOf(mask);
      element.style.maskImage = maskOf(mask);
    }
  }

  /** Layers take the still's place when all of them are there. */
  async #showLayers() {
    const { layers } = this.#parts;
    const addresses = (still.matches ? "" : (this.getAttribute("layers") ?? "")).split(/\s+/).filter(Boolean);
    const wanted = addresses.join(" ");
    if (layers.dataset.of === wanted) return;
    layers.dataset.of = wanted;
    layers.replaceChildren();
    layers.parentNode.classList.remove("layered");
    const pictures = addresses.map((address) => {
      const picture = make("img");
      picture.alt = "";
      picture.src = address;
      return picture;
    });
    const loaded = await Promise.all(pictures.map((picture) => picture.decode())).catch(() => null);
    if (loaded === null || layers.dataset.of !== wanted) return;
    layers.replaceChildren(...pictures);
    layers.parentNode.classList.toggle("layered", pictures.length > 0);
    this.#paint(false);
  }

  /** The back is fetched when somebody comes near. */
  #loadBack() {
    const { back } = this.#parts;
    const address = this.getAttribute("back");
    const known = back.querySelector("img");
    if (!address || known?.getAttribute("src") === address) return;
    const picture = make("img");
    picture.alt = "";
    picture.src = address;
    known?.remove();
    back.prepend(picture);
    const mask = maskOf(/\.jpe?g(\?|$)/i.test(address) ? "" : address);
    this.#parts.glares[1].style.webkitMaskImage = mask;
    this.#parts.glares[1].style.maskImage = mask;
  }

  #turn() {
    const { card, flip } = this.#parts;
    const { flipped } = this;
    if (flipped) this.#loadBack();
    const alt = this.getAttribute("alt") ?? this.#still?.alt ?? "";
    const backAlt = this.getAttribute("back-alt") ?? (alt ? `${alt}: the back` : "The back of a card");
    card.setAttribute("aria-label", flipped ? backAlt : alt || "A card");
    flip.setAttribute("aria-label", this.getAttribute("flip-label") ?? "Show the back");
    flip.setAttribute("aria-pressed", String(flipped));
    this.#to[3] = flipped ? 1 : 0;
    if (still.matches || !connected.has(this)) {
      this.#at[3] = this.#to[3];
      this.#paint(false);
    } else wake(this);
  }

  #paint(isMoving) {
    const { card, front, back, foil, glares, drop, layers } = this.#parts;
    const [x, y, lift, over] = this.#at;
    // Browsers that draw without a graphics processor may show the side that faces away, mirrored.
    const isAway = Math.cos(((x * LEAN + over * 180) * Math.PI) / 180) < 0;
    front.style.visibility = isAway ? "hidden" : "";
    back.style.visibility = isAway ? "" : "hidden";
    card.style.willChange = isMoving ? "transform" : "";
    card.style.transform =
      isMoving || x || y || lift || over
        ? `rotateX(${-y * LEAN}deg) rotateY(${x * LEAN + over * 180}deg) scale(${1 + lift * 0.03})`
        : "";
    const shine = Math.min(1, lift + Math.abs(over > 0.5 ? 1 - over : over));
    drop.style.opacity = lift * 0.8;
    drop.style.transform = `translate(${-x * 4}%, ${2 - y * 2}%)`;
    glares.forEach((glare, i) => {
      glare.style.opacity = shine * 0.85;
      glare.firstChild.style.transform = `translate(${(i === 0 ? x : -x) * 22}%, ${y * 22}%)`;
    });
    foil.style.opacity = shine;
    [...foil.children].forEach((ray, i) => {
      const way = i % 2 === 0 ? 1 : -0.6;
      ray.style.transform = `translate(${x * 13 * way}%, ${y * 9 * way}%)`;
      // Three sets of grains, of which each is lit from other sides.
      if (foil.classList.contains("sparkle") && i > 0)
        ray.style.opacity = 0.12 + 0.88 * Math.max(0, Math.sin(x * 5 + y * 4 + i * 2.1)) ** 2;
    });
    const last = layers.children.length - 1;
    [...layers.children].forEach((layer, i) => {
      // The rearmost is the card's own shape and stays; so a card at rest is its picture.
      const shift = last === 0 ? 0 : (i / last) * PARALLAX * 100;
      layer.style.transform = `translate(${x * shift}%, ${y * shift}%)`;
    });
  }
}

// Without constructed sheets (browsers before 2023), the page's own picture stays as it is.
if (
  globalThis.Document &&
  "adoptedStyleSheets" in Document.prototype &&
  !customElements.get("cardpress-card")
)
  customElements.define("cardpress-card", CardpressCard);

export { CardpressCard };
