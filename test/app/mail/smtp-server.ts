import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

export interface MailBox {
  url: string;
  /** Whole mails as they came over the wire. */
  received: string[];
  /** The answer to the next mails: undefined takes them. */
  refuse: { code: number; message: string } | undefined;
  close(): Promise<void>;
}

/** A real SMTP server on this machine, with one user. */
export async function mailBox(): Promise<MailBox> {
  const box: Pick<MailBox, "received" | "refuse"> = { received: [], refuse: undefined };
  const server = new SMTPServer({
    authOptional: false,
    allowInsecureAuth: true,
    disabledCommands: ["STARTTLS"],
    onAuth: ({ username, password }, _session, done) =>
      username === "cards" && password === "secret"
        ? done(null, { user: username })
        : done(Object.assign(new Error("Bad credentials"), { responseCode: 535 })),
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { refuse } = box;
        if (refuse) return done(Object.assign(new Error(refuse.message), { responseCode: refuse.code }));
        box.received.push(Buffer.concat(chunks).toString());
        done();
      });
    },
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as AddressInfo;
  return Object.assign(box, {
    url: `smtp://cards:secret@127.0.0.1:${port}`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}
