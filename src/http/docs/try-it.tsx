/** @jsxImportSource preact */
import { Code } from "../../web/code.tsx";
import type { Json, Operation } from "./operations-of.ts";

/** Where a reader enters or creates a test key; the page's script inserts it into samples and requests. */
export function KeyBar() {
  return (
    <form class="key-bar" data-key-bar>
      <label for="docs-key">Your test key</label>
      <div class="copy">
        <input
          id="docs-key"
          class="mono"
          type="text"
          placeholder="sk_test_…"
          autoComplete="off"
          spellcheck={false}
          aria-describedby="docs-key-hint"
        />
        <button type="submit" class="button">
          Use it
        </button>
        <button type="button" class="button button-primary" data-make-key>
          Make me one
        </button>
      </div>
      <p class="hint" id="docs-key-hint">
        It is put into the samples and the calls you try here, and kept in this window only. Signed in to the
        console, one is made for your account: it costs nothing.
      </p>
    </form>
  );
}

/** A form that sends one request with the reader's test key; nothing for webhooks. */
export function TryIt({ entry: { id, method, path, operation, incoming } }: { entry: Operation }) {
  if (incoming || operation.security?.length === 0) return null;
  const parameters: Json[] = operation.parameters ?? [];
  const inputs = parameters.filter(({ in: place }) => place !== "header");
  const content: Json = operation.requestBody?.content ?? {};
  const form: Json = content["multipart/form-data"]?.schema?.properties ?? {};
  return (
    <details class="try">
      <summary>Try it with a test key</summary>
      <form
        class="form"
        data-try={method.toUpperCase()}
        data-path={path}
        data-idempotent={parameters.some(({ name }) => name === "Idempotency-Key")}
      >
        {inputs.map(({ name, in: place, required, example }) => (
          <Input
            key={name}
            id={`${id}-${name}`}
            name={name}
            place={place}
            required={required}
            value={example}
          />
        ))}
        {content["application/json"] && (
          <div class="field">
            <label for={`${id}-body`}>Body</label>
            <textarea id={`${id}-body`} class="mono" rows={12} spellcheck={false} data-body>
              {JSON.stringify(smallest(content["application/json"]), null, 2)}
            </textarea>
          </div>
        )}
        {Object.entries<Json>(form).map(([name, { contentMediaType, default: value }]) => (
          <Input
            key={name}
            id={`${id}-${name}`}
            name={name}
            place="form"
            required={contentMediaType !== undefined}
            type={contentMediaType ? "file" : "text"}
            value={value}
          />
        ))}
        <button type="submit" class="button button-primary">
          Send
        </button>
        <div class="try-answer" role="status" hidden>
          <Code text="" label="Answer" language="text" />
        </div>
      </form>
    </details>
  );
}

interface InputProps {
  id: string;
  name: string;
  /** `path`, `query` or `form`. */
  place: string;
  required?: boolean;
  type?: "text" | "file";
  value?: string;
}

function Input({ id, name, place, required = false, type = "text", value }: InputProps) {
  const shared = { id, name, required, "data-place": place };
  // The ids in the examples do not exist, so they are only hints. Required query parameters may be filled in.
  const given = required || place === "form" ? value : undefined;
  return (
    <div class="field">
      <label for={id}>
        <code>{name}</code>
      </label>
      {type === "file" ? (
        <input type="file" accept="image/*" {...shared} />
      ) : (
        <input
          type="text"
          {...shared}
          value={place === "path" ? undefined : given}
          placeholder={value}
          autoComplete="off"
        />
      )}
    </div>
  );
}

/** The example with the fewest fields: the required ones, as a starting point for readers to edit. */
function smallest({ example, examples = {} }: Json): unknown {
  return example ?? (examples.least ?? Object.values<Json>(examples)[0])?.value;
}
