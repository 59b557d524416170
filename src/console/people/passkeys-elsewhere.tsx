/** @jsxImportSource preact */
import type { PasskeyService } from "../../app/people/passkeys.ts";
import { Card } from "../elements.tsx";
import type { Visit } from "../visit.ts";

/** Passkeys as usable under the address of this page: at 127.0.0.1 those of localhost do not work. */
export function passkeysAt(passkeys: PasskeyService, url: URL): PasskeyService {
  const { hostname } = new URL(passkeys.origin);
  // Any other name may belong to a proxy, about which only the base address knows.
  return {
    ...passkeys,
    isPossible: passkeys.isPossible && (hostname !== "localhost" || url.hostname === hostname),
  };
}

/**
 * Shown on the profile page instead of passkeys: why they are unavailable at this address, and what to do.
 */
export function PasskeysElsewhere({ visit }: { visit: Visit }) {
  if (visit.passkeys.isPossible) return null;
  const { origin } = visit.passkeys;
  const isLocal = new URL(origin).hostname === "localhost";
  return (
    <Card
      title="Passkeys"
      note="Sign in with your fingerprint, face or security key instead of the password."
    >
      {isLocal ? (
        <p>
          Browsers make no passkeys for a bare address such as {visit.exchange.url.host}. Open{" "}
          <a href={`${origin}/console/profile`}>{origin}</a>, the same console by its name, and sign in there.
        </p>
      ) : (
        <p>
          Browsers make passkeys only for a name, and over HTTPS; this service's address is{" "}
          <code>{visit.deps.config.baseUrl}</code>. Its operator can put a proxy with TLS in front and set{" "}
          <code>CARDPRESS_BASE_URL</code> to the address people open, such as https://cards.example.com.
        </p>
      )}
    </Card>
  );
}
