import type { Transporter } from "nodemailer";
import { MAIL_TIMEOUT_MS } from "../../core/limits.ts";
import type { MailTransport } from "./outbox.ts";

/**
 * An SMTP transport (CARDPRESS_SMTP_URL): smtps uses TLS from the start, smtp upgrades to it when the server
 * can.
 */
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
          // Suppresses automatic replies (RFC 3834).
          headers: { "Auto-Submitted": "auto-generated" },
        });
        return "sent";
      } catch (error) {
        const { responseCode, message } = error as Error & { responseCode?: number };
        // 5xx is permanent (RFC 5321, 4.2.1), except for credentials of ours that an operator can still
        // correct.
        const isFinal = responseCode !== undefined && responseCode >= 500 && !isAboutUs(responseCode);
        if (isFinal) return { refused: message };
        throw error;
      }
    },
    close: () => void opened?.then((transport) => transport.close()),
  };
}

/** Loaded with the first mail, so that a service without mail starts without it. */
async function openTransport(url: string): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    url,
    connectionTimeout: MAIL_TIMEOUT_MS,
    greetingTimeout: MAIL_TIMEOUT_MS,
    socketTimeout: MAIL_TIMEOUT_MS,
    // Mails never include files or remote content.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Authentication failed, missing or too weak (RFC 4954, 6). */
function isAboutUs(code: number): boolean {
  return [530, 534, 535, 538].includes(code);
}
