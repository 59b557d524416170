// Photos of a squad list: a folder, a ZIP or single files, dropped or chosen, are sent one after the other.
// ZIP files are unpacked here, entry by entry, so that the service only ever sees single photos.
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the scope that keeps the names of a classic script its own.
(() => {
  /** @type {HTMLFormElement | null} */
  const form = document.querySelector("[data-photo-drop]");
  if (!form) return;
  const input = /** @type {HTMLInputElement} */ (form.querySelector('input[type="file"]'));
  const folder = /** @type {HTMLButtonElement} */ (form.querySelector("[data-photo-folder]"));
  const progress = /** @type {HTMLElement} */ (form.querySelector("[data-photo-progress]"));
  const bar = /** @type {HTMLProgressElement} */ (progress.querySelector("progress"));
  const counter = /** @type {HTMLElement} */ (form.querySelector("[data-photo-count]"));
  const problems = /** @type {HTMLElement} */ (form.querySelector("[data-photo-problems]"));
  const maxBytes = Number(form.dataset.maxBytes);
  const maxFiles = Number(form.dataset.maxFiles);
  const maxMb = Math.round(maxBytes / 1024 ** 2);
  /** Files left out that are named: more are counted. */
  const MAX_NAMED = 5;
  /** @typedef {{ path: string, size: number, blob: () => Promise<Blob> }} Photo */

  input.multiple = true;
  input.accept = "image/jpeg,image/png,image/webp,.zip";
  folder.hidden = !("webkitdirectory" in input);

  /** @type {AbortController | undefined} */
  let sending;

  /** @param {string} text */
  const complain = (text) => {
    const line = document.createElement("p");
    line.className = "field-problem";
    line.textContent = text;
    problems.append(line);
  };

  /** Names what is not sent, and why. @param {Photo[]} files @param {string} reason */
  const leftOut = (files, reason) => {
    for (const { path } of files.slice(0, MAX_NAMED)) complain(`${path} is left out: ${reason}.`);
    if (files.length > MAX_NAMED) complain(`${files.length - MAX_NAMED} more are left out: ${reason}.`);
  };

  const isHidden = (/** @type {string} */ path) => /(^|\/)(\.|__MACOSX\/|Thumbs\.db$)/.test(path);
  const isPhoto = (/** @type {string} */ path) => /\.(jpe?g|jfif|png|webp)$/i.test(path);

  /** The little-endian numbers of a ZIP's records. @param {Blob} blob */
  const view = async (blob) => new DataView(await blob.arrayBuffer());

  // The letters of code page 850, which has those of 437 in the same places and more.
  const DOS_CHARS =
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤" +
    "ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0";

  /**
   * An entry's name: UTF-8 where the ZIP says so, or where it happens to be, since some forget to say so;
   * else as Windows writes it.
   * @param {Uint8Array} bytes @param {boolean} isUtf8
   */
  const nameOf = (bytes, isUtf8) => {
    try {
      return new TextDecoder("utf-8", { fatal: !isUtf8 }).decode(bytes);
    } catch {
      return [...bytes].map((byte) => DOS_CHARS[byte - 128] ?? String.fromCharCode(byte)).join("");
    }
  };

  /**
   * The entries of a ZIP by its directory, without unpacking any.
   * @param {File} zip @returns {Promise<Photo[]>}
   */
  const entriesOf = async (zip) => {
    // The end record, behind which stands a comment of at most 64 KB.
    const tailAt = Math.max(0, zip.size - 65_557);
    const tail = await view(zip.slice(tailAt));
    let at = tail.byteLength - 22;
    while (at >= 0 && tail.getUint32(at, true) !== 0x06054b50) at -= 1;
    if (at < 0) throw new Error(`${zip.name} is not a whole ZIP file. Make it anew, or drop the folder.`);
    const entries = tail.getUint16(at + 10, true);
    const [size, start] = [tail.getUint32(at + 12, true), tail.getUint32(at + 16, true)];
    if (start === 0xffffffff || entries === 0xffff || size > 16 * 1024 ** 2)
      throw new Error(`${zip.name} is too large a ZIP. Unpack it and drop its folder.`);
    const directory = await view(zip.slice(start, start + size));
    /** @type {Photo[]} */
    const found = [];
    for (let n = 0, place = 0; n < entries && place + 46 <= directory.byteLength; n += 1) {
      const number = (/** @type {number} */ offset) => directory.getUint32(place + offset, true);
      const [flags, method] = [directory.getUint16(place + 8, true), directory.getUint16(place + 10, true)];
      const [packed, unpacked, header] = [number(20), number(24), number(42)];
      const [name = 0, extra = 0, comment = 0] = [28, 30, 32].map((offset) =>
        directory.getUint16(place + offset, true),
      );
      const path = nameOf(new Uint8Array(directory.buffer, place + 46, name), (flags & 0x800) !== 0);
      place += 46 + name + extra + comment;
      if (path.endsWith("/")) continue;
      found.push({ path, size: unpacked, blob: () => unpack(zip, { path, flags, method, packed, header }) });
    }
    return found;
  };

  /**
   * One entry's bytes; no more than a photo may have, whatever the ZIP says of its size.
   * @param {File} zip
   * @param {{ path: string, flags: number, method: number, packed: number, header: number }} entry
   */
  const unpack = async (zip, { flags, method, packed, header }) => {
    if (flags & 1) throw new Error("is locked with a password. Make the ZIP without one.");
    if (method !== 0 && method !== 8) throw new Error("is packed in a way that browsers cannot unpack.");
    const local = await view(zip.slice(header, header + 30));
    const start = header + 30 + local.getUint16(26, true) + local.getUint16(28, true);
    const bytes = zip.slice(start, start + packed);
    if (method === 0) return bytes;
    const reader = bytes.stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const pieces = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return new Blob(pieces);
      size += value.length;
      if (size > maxBytes) {
        await reader.cancel();
        throw new Error(`has more than ${maxMb} MB.`);
      }
      pieces.push(value);
    }
  };

  /** @param {File} file @param {string} path @returns {Promise<Photo[]>} */
  const photosIn = async (file, path) =>
    /\.zip$/i.test(path) ? entriesOf(file) : [{ path, size: file.size, blob: async () => file }];

  /** Everything in a dropped folder. @param {FileSystemEntry} entry @returns {Promise<[File, string][]>} */
  const filesIn = async (entry) => {
    const path = entry.fullPath.replace(/^\//, "");
    if (isHidden(path)) return [];
    if (entry instanceof FileSystemFileEntry)
      return [[await new Promise((resolve, reject) => entry.file(resolve, reject)), path]];
    if (!(entry instanceof FileSystemDirectoryEntry)) return [];
    const reader = entry.createReader();
    /** @type {[File, string][]} */
    const files = [];
    // It hands out a hundred at a time.
    for (;;) {
      /** @type {FileSystemEntry[]} */
      const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (some.length === 0 || files.length > maxFiles) return files;
      for (const one of some) files.push(...(await filesIn(one)));
    }
  };

  /**
   * Sends one photo; says what is wrong with it, or nothing.
   * @param {Photo} photo @param {AbortSignal} signal
   */
  const send = async (photo, signal) => {
    if (photo.size > maxBytes) return `has more than ${maxMb} MB. Save it smaller.`;
    const body = new FormData();
    body.append("_csrf", String(new FormData(form).get("_csrf")));
    body.append("path", photo.path);
    const name = photo.path.split("/").pop() ?? "photo";
    try {
      body.append("file", await photo.blob(), name);
    } catch (error) {
      return error instanceof Error ? error.message : "cannot be read.";
    }
    const answer = await fetch(form.action, {
      method: "POST",
      headers: { Accept: "application/json" },
      body,
      signal,
      redirect: "manual",
    });
    if (answer.ok) return "";
    const { problem, code } = await answer.json().catch(() => ({}));
    if (answer.type === "opaqueredirect") throw new Error("You are signed out. Sign in again.");
    // What is wrong is not this photo: the others would fare alike.
    if (!problem || code !== "UNSUPPORTED_IMAGE_SOURCE")
      throw new Error(problem ?? `The service answered ${answer.status}. Try again in a moment.`);
    return String(problem);
  };

  /** The table as it is now. */
  const refresh = () => {
    const { htmx } = /** @type {any} */ (window);
    const target = "#photo-table";
    return htmx.ajax("GET", location.pathname + location.search, {
      target,
      select: target,
      // How many have a photo stands above.
      selectOOB: "#photo-head",
      swap: "outerHTML",
    });
  };

  /** @param {[File, string][]} files */
  const sendAll = async (files) => {
    if (sending || files.length === 0) return;
    sending = new AbortController();
    problems.textContent = "";
    progress.hidden = false;
    counter.textContent = "Reading the files";
    bar.removeAttribute("value");
    try {
      /** @type {Photo[]} */
      const all = [];
      for (const [file, path] of files) all.push(...(await photosIn(file, path)));
      const seen = all.filter(({ path }) => !isHidden(path));
      const readable = seen.filter(({ path }) => isPhoto(path));
      const photos = readable.slice(0, maxFiles);
      const isHeic = (/** @type {string} */ path) => /\.(heic|heif)$/i.test(path);
      const heic = seen.filter(({ path }) => isHeic(path)).length;
      if (heic > 0)
        complain(
          `${heic} in HEIC, which cannot be read. Save them as JPEG, as phones do when they share one.`,
        );
      leftOut(
        seen.filter(({ path }) => !isPhoto(path) && !isHeic(path)),
        "no JPEG, PNG or WebP",
      );
      leftOut(readable.slice(maxFiles), `a list takes at most ${maxFiles} photos`);
      for (const [at, photo] of photos.entries()) {
        counter.textContent = `${at + 1} of ${photos.length}: ${photo.path}`;
        bar.value = at / photos.length;
        const problem = await send(photo, sending.signal);
        if (problem) complain(`${photo.path} ${problem}`);
      }
    } catch (error) {
      if (!sending.signal.aborted) complain(error instanceof Error ? error.message : String(error));
    } finally {
      progress.hidden = true;
      sending = undefined;
      input.value = "";
      await refresh();
    }
  };

  /** @param {FileList | null} files @returns {[File, string][]} */
  const chosen = (files) => [...(files ?? [])].map((file) => [file, file.webkitRelativePath || file.name]);

  input.addEventListener("change", () => {
    sendAll(chosen(input.files));
    input.webkitdirectory = false;
  });
  folder.addEventListener("click", () => {
    input.webkitdirectory = true;
    input.click();
    // A user who changes their mind may choose single files next.
    addEventListener("focus", () => setTimeout(() => (input.webkitdirectory = false)), { once: true });
  });
  form.querySelector("[data-photo-stop]")?.addEventListener("click", () => sending?.abort());
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("drop", async (event) => {
    event.preventDefault();
    // They are gone once this returns: asked for before anything is awaited.
    const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
    const files = await Promise.all(entries.map((entry) => (entry ? filesIn(entry) : [])));
    sendAll(files.flat());
  });
})();
