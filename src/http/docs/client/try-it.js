// The reader's test key in samples, and calls that can be tried. Nothing is sent anywhere but to this
// service.
{
  const KEY = "cardpress-docs-key";
  const PLACEHOLDER = "sk_test_...";
  /** The path of its host that the service has. */
  const basePath = document.documentElement.dataset.base ?? "";

  /** @param {string} text */
  const say = (text) => document.dispatchEvent(new CustomEvent("cardpress:say", { detail: text }));
  const keyInput = /** @type {HTMLInputElement | null} */ (document.getElementById("docs-key"));

  /** The places of the samples where a key belongs. @type {Element[]} */
  const places = [...document.querySelectorAll(".code .hljs-variable, .code .hljs-string")].filter(
    ({ textContent }) => textContent === "$CARDPRESS_KEY" || textContent?.includes(PLACEHOLDER),
  );
  // Where a sample sets the variable, the others go on reading it: with another key there, they are sent with
  // that one.
  const setsVariable = places.some(({ textContent }) => textContent?.includes(PLACEHOLDER));
  const originals = places.map(({ textContent }) => textContent ?? "");

  const keyNow = () => sessionStorage.getItem(KEY) ?? "";
  const showKey = () => {
    const key = keyNow();
    if (keyInput) keyInput.value = key;
    for (const [at, place] of places.entries()) {
      const original = originals[at] ?? "";
      place.textContent =
        key === "" ? original : original.replace(setsVariable ? PLACEHOLDER : "$CARDPRESS_KEY", key);
    }
  };

  /** @param {string} key */
  const useKey = (key) => {
    if (key !== "" && !key.startsWith("sk_test_")) {
      say("Only test keys here: they begin with sk_test_ and cost nothing.");
      return;
    }
    sessionStorage.setItem(KEY, key);
    showKey();
    say(key === "" ? "The key is gone from this window" : "The key is in the samples of this window");
  };

  const makeKey = async () => {
    // Who is not signed in is led to the sign-in, which is no JSON.
    const asked = await fetch(`${basePath}/console/documentation`, { redirect: "manual" });
    if (!asked.ok) return say("Sign in to the console in this browser, then come back and make a test key.");
    const { csrf, may_create } = await asked.json();
    if (!may_create) return say("You are looking at this account read-only: no key can be made.");
    const made = await fetch(`${basePath}/console/documentation/key`, {
      method: "POST",
      body: new URLSearchParams({ _csrf: csrf }),
      redirect: "manual",
    });
    if (!made.ok) return say("No key could be made. The console's page of API keys says why.");
    useKey((await made.json()).key);
  };

  document.querySelector("[data-key-bar]")?.addEventListener("submit", (event) => {
    event.preventDefault();
    useKey(keyInput?.value.trim() ?? "");
  });
  document
    .querySelector("[data-make-key]")
    ?.addEventListener("click", () => void makeKey().catch(() => say("No connection. Try it again.")));

  /** @param {HTMLFormElement} form */
  const requestOf = (form) => {
    const inputs = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input[data-place]")]);
    const at = (/** @type {string} */ place) => inputs.filter((input) => input.dataset.place === place);
    const path = at("path").reduce(
      (whole, { name, value }) => whole.replace(`{${name}}`, encodeURIComponent(value.trim())),
      basePath + form.dataset.path,
    );
    const given = at("query").filter(({ value }) => value !== "");
    const query = new URLSearchParams(given.map(({ name, value }) => [name, value])).toString();
    /** @type {Record<string, string>} */
    const headers = { "X-API-Key": keyNow() };
    const idempotencyKey = `docs-${Date.now()}-${Math.random().toString(36).slice(2)}`;
    if (form.dataset.idempotent !== undefined && form.dataset.idempotent !== "false")
      headers["Idempotency-Key"] = idempotencyKey;
    const text = form.querySelector("textarea")?.value;
    if (text !== undefined) headers["Content-Type"] = "application/json";
    const parts = at("form");
    const body = new FormData();
    for (const { name, value, files } of parts) {
      const file = files?.[0];
      if (file) body.set(name, file);
      else body.set(name, value);
    }
    return {
      address: query === "" ? path : `${path}?${query}`,
      init: { method: form.dataset.try ?? "GET", headers, body: text ?? (parts.length > 0 ? body : null) },
    };
  };

  /** @param {Response} response */
  const answerText = async (response) => {
    const type = response.headers.get("content-type") ?? "";
    if (!type.includes("json")) return `${(await response.blob()).size} bytes of ${type}`;
    return JSON.stringify(await response.json(), null, 2);
  };

  /** An image that was made is what the next calls are about. @param {string} text */
  const carryId = (text) => {
    const id = /"(image_id|batch_id)": "(\w+)"/.exec(text);
    for (const input of document.querySelectorAll(`input[data-place="path"][name="${id?.[1]}"]`))
      if (input instanceof HTMLInputElement && id) input.value = id[2] ?? "";
  };

  /** @param {HTMLFormElement} form */
  const send = async (form) => {
    if (keyNow() === "") {
      keyInput?.scrollIntoView({ block: "center" });
      keyInput?.focus();
      return say("First put a test key here, or let one be made.");
    }
    const { address, init } = requestOf(form);
    const response = await fetch(address, init);
    const text = await answerText(response);
    const place = /** @type {HTMLElement} */ (form.querySelector(".try-answer"));
    /** @type {HTMLElement} */ (place.querySelector(".code-head span")).textContent =
      `${response.status}: ${init.method} ${address}`;
    /** @type {HTMLElement} */ (place.querySelector("code")).textContent = text;
    place.hidden = false;
    carryId(text);
  };
  for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form[data-try]")))
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void send(form).catch(() => say("No connection. Try it again."));
    });
  showKey();
}
