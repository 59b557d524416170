/** @jsxImportSource preact */
import { type BrandKit, findKit, listKits } from "../../store/people/brand-kits.ts";
import { Field } from "../elements.tsx";
import type { MemberVisit } from "../visit.ts";

/** The kit that the page's address chooses; undefined without one. */
export async function chosenKit({ deps, account, query }: MemberVisit): Promise<BrandKit | undefined> {
  const id = query.get("kit");
  return id ? findKit(deps.store.read, { accountId: account.id, id }) : undefined;
}

/** The kits of a `<select>`. */
export function KitOptions({ kits, chosen }: { kits: readonly BrandKit[]; chosen: string }) {
  return (
    <>
      {kits.map(({ id, name }) => (
        <option key={id} value={id} selected={id === chosen}>
          {name}
        </option>
      ))}
    </>
  );
}

/**
 * A choice of the account's brand kits, which opens the page filled in with one, or with `form` sends that;
 * nothing without kits.
 */
export async function KitChoice({
  visit,
  chosen = visit.query.get("kit") ?? "",
  ...to
}: { visit: MemberVisit; chosen?: string } & ({ action: string } | { form: string })) {
  const kits = await listKits(visit.deps.store.read, visit.account.id);
  if (kits.length === 0) return null;
  const form = "form" in to ? { form: to.form } : {};
  const choice = (
    <>
      <Field label="Brand kit" id="kit" hint="Fills in colours, badge, template and composition.">
        <select id="kit" name="kit" data-submits aria-describedby="kit-hint" {...form}>
          <option value="">None</option>
          <KitOptions kits={kits} chosen={chosen} />
        </select>
      </Field>
      <noscript>
        <button type="submit" class="button" {...form}>
          Use
        </button>
      </noscript>
    </>
  );
  if ("form" in to) return <div class="row-form">{choice}</div>;
  return (
    <form class="row-form" method="get" action={to.action}>
      {choice}
    </form>
  );
}
