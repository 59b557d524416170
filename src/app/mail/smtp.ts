import type { Transporter } from "nodemailer";
import { MAIL_TIMEOUT_MS } from "../../core/limits.ts";
import type { MailTransport } from "./outbox.ts";

/** A transport over SMTP (CARDPRESS_SMTP_URL): smtps speaks TLS from the start, smtp changes to it where the server can. */
export function smtpTransport({ smtpUrl, from }: { smtpUrl: string; from: string }): MailTransport {
  let opened: Promise<Transporter> | undefined;
  const host = /@([^\s>]+?)>?$/.exec(from)?.[1] ?? "localhost";
  return {
    send: async ({ id, to, text }) => {
      try {
        opened ??= openTransport(smtpUrl);
        await (await opened).sendMail({
          from,
          to,
          subject: text.subject,
          text: text.body,
          messageId: `<${id}@${host}>`,
          // No answering machine shall answer a machine (RFC 3834).
          headers: { "Auto-Submitted": "auto-generated" },
        });
        return "sent";
      } catch (error) {
        const { responseCode, message } = error as Error & { responseCode?: number };
        // 5xx is for good (RFC 5321, 4.2.1), but not for a password of ours that an operator has yet to set right.
        const isFinal = responseCode !== undefined && responseCode >= 500 && !isAboutUs(responseCode);
        if (isFinal) return { refused: message };
        throw error;
      }
    },
    close: () => void opened?.then((transport) => transport.close()),
  };
}

/** Loaded with the first mail: who sends none starts without it. */
async function openTransport(url: string): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    url,
    connectionTimeout: MAIL_TIMEOUT_MS,
    greetingTimeout: MAIL_TIMEOUT_MS,
    socketTimeout: MAIL_TIMEOUT_MS,
    // Nothing of a mail of ours comes from a file or an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Authentication that fails, is missing or too weak (RFC 4954, 6). */
function isAboutUs(code: number): boolean {
  return [530, 534, 535, 538].includes(code);
}
