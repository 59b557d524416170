// Passkeys: the browser's own WebAuthn, in JSON. Without it, or without this script, the password remains.
(() => {
  const isThere =
    typeof PublicKeyCredential === "function" && "parseCreationOptionsFromJSON" in PublicKeyCredential;
  if (!isThere) return;
  for (const part of document.querySelectorAll("[data-passkey]")) part.removeAttribute("hidden");

  /** @param {string} path @param {Record<string, string>} fields */
  const ask = async (path, fields) => {
    const answer = await fetch(path, { method: "POST", body: new URLSearchParams(fields) });
    if (!answer.ok) throw new Error("refused");
    return answer.json();
  };

  /** @param {HTMLFormElement} form */
  const fieldsOf = (form) =>
    Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));

  /** @param {HTMLFormElement} form @param {string} path @param {(options: any) => Promise<Credential | null>} use */
  const run = async (form, path, use) => {
    const problem = form.querySelector("[data-problem]");
    try {
      const credential = await use(await ask(path, fieldsOf(form)));
      if (!(credential instanceof PublicKeyCredential)) return;
      const field = form.elements.namedItem("response");
      if (field instanceof HTMLInputElement) field.value = JSON.stringify(credential.toJSON());
      form.submit();
    } catch {
      // Also when the person closed the browser's own dialog: nothing is lost, the form is still there.
      if (problem) problem.textContent = "That did not work. Try again, or use your password.";
    }
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.dataset.passkey) return;
    event.preventDefault();
    delete form.dataset.sent;
    if (form.dataset.passkey === "add")
      run(form, "/console/profile/passkeys/options", (options) =>
        navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
        }),
      );
    if (form.dataset.passkey === "use")
      run(form, "/console/sign-in/passkey/options", (options) =>
        navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
      );
  });
})();
