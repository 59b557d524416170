import changelog from "../CHANGELOG.md" with { type: "text" };
import { VERSION } from "./version.ts";

/** Which release this is, and what its changelog says. */
export interface Release {
  version: string;
  changelog: string;
}

/** The one that runs: nothing is asked of anybody else. */
export const OWN_RELEASE: Release = { version: VERSION, changelog };
