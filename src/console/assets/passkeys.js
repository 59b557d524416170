// Passkeys: the browser's own WebAuthn, in JSON. Without it, or without this script, the password remains.
(() => {
  const isThere =
    typeof PublicKeyCredential === "function" && "parseCreationOptionsFromJSON" in PublicKeyCredential;
  if (!isThere) return;
  for (const part of document.querySelectorAll("[data-passkey]")) part.removeAttribute("hidden");

  /** What the service refused, in its own words. */
  class Refusal extends Error {}

  /** @param {string} path @param {Record<string, string>} fields */
  const post = async (path, fields) => {
    const basePath = document.documentElement.dataset.base ?? "";
    const answer = await fetch(basePath + path, { method: "POST", body: new URLSearchParams(fields) });
    if (answer.ok) return answer.json();
    const { problem } = await answer.json().catch(() => ({}));
    throw new Refusal(problem ?? "That did not work. Reload the page and try again.");
  };

  /** @param {HTMLFormElement} form */
  const fieldsOf = (form) =>
    Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));

  /** @param {HTMLFormElement} form @param {string} name @param {string} value */
  const fill = (form, name, value) => {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement) field.value = value;
  };

  /** @param {Credential | null} credential */
  const asText = (credential) =>
    credential instanceof PublicKeyCredential ? JSON.stringify(credential.toJSON()) : "";

  /** Has a passkey sign that this is its person. @param {HTMLFormElement} form */
  const use = async (form) => {
    const options = await post("/console/sign-in/passkey/options", fieldsOf(form));
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    return asText(await navigator.credentials.get({ publicKey }));
  };

  /**
   * Makes a passkey, for a user who shows the password or a passkey once more.
   * @param {HTMLFormElement} form
   */
  const add = async (form) => {
    const fields = fieldsOf(form);
    if (!fields.password) fields.response = await use(form);
    const options = await post("/console/profile/passkeys/options", fields);
    // It has done its work, and need not be sent a second time.
    fill(form, "password", "");
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return asText(await navigator.credentials.create({ publicKey }));
  };

  /** @param {HTMLFormElement} form */
  const run = async (form) => {
    const problem = form.querySelector("[data-problem]");
    try {
      const response = await (form.dataset.passkey === "add" ? add(form) : use(form));
      if (response === "") return;
      fill(form, "response", response);
      form.submit();
    } catch (error) {
      // Also when the person closed the browser's own dialog: nothing is lost, the form is still there.
      if (problem)
        problem.textContent =
          error instanceof Refusal ? error.message : "That did not work. Try again, or use your password.";
    }
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.dataset.passkey) return;
    event.preventDefault();
    delete form.dataset.sent;
    run(form);
  });
})();
