// Mail vocabulary: the messages sent to people, and when each becomes pointless.

export const MAIL_KINDS = [
  "invitation",
  "password_reset",
  "credits_low",
  "credits_out",
  "usage_alert",
  "endpoint_failing",
  "endpoint_disabled",
  "digest",
] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

export const MAIL_STATES = ["pending", "sent", "failed"] as const;

/** A mail as its reader sees it. */
export interface MailText {
  subject: string;
  /** Plain text with full URLs; nothing is loaded from elsewhere. */
  body: string;
}

/**
 * Anyone who has the link can set the password, so the mail says how long it lasts and what to do if it was
 * not requested.
 */
export function invitation(to: { place: string; url: string; days: number }): MailText {
  return {
    subject: `You are invited to ${to.place} on cardpress`,
    body: paragraphs(
      `You can sign in to ${to.place} once you have set a password:`,
      to.url,
      `The link works once, within ${to.days} days. Anyone who has it can use it: do not pass it on.`,
    ),
  };
}

/** For services where people sign in at a provider alone: the mail holds no secret. */
export function invitationToProvider(to: { place: string; url: string; provider: string }): MailText {
  return {
    subject: `You are invited to ${to.place} on cardpress`,
    body: paragraphs(
      `You can sign in to ${to.place} with ${to.provider}:`,
      to.url,
      "Use the account there that has this email address.",
    ),
  };
}

export function passwordReset(to: { url: string; within: string }): MailText {
  return {
    subject: "Set a new password on cardpress",
    body: paragraphs(
      "Somebody asked for a link to set a new password for this email address:",
      to.url,
      `It works once, within ${to.within}. If it was not you, do nothing: your password stays as it is.`,
    ),
  };
}

export function creditsLow(of: { account: string; left: number; limit: number; url: string }): MailText {
  const isOut = of.left === 0;
  const left = credits(of.left);
  const limit = of.limit.toLocaleString("en-US");
  return {
    subject: isOut ? `${of.account} has no credits left` : `${of.account} has ${left} left`,
    body: paragraphs(
      isOut
        ? `All credits of ${of.account} are used: creates with live keys are answered 402 until there are new ones.`
        : `${of.account} has ${left} left of this month's ${limit}.`,
      "The plan's credits are granted again at the start of each month (UTC). Write to the operator of the service for more.",
      of.url,
    ),
  };
}

export function usageAlert(of: {
  account: string;
  percent: number;
  used: number;
  budget: number;
  /** Such as 2026-11. */
  period: string;
  url: string;
}): MailText {
  const part = `${of.percent} % of`;
  return {
    subject: `${of.account} has used ${part} its budget`,
    body: paragraphs(
      `${of.account} has used ${credits(of.used)} in ${of.period}: ${part} its budget of ${of.budget.toLocaleString("en-US")} a month.`,
      "The budget stops nothing: cards are made while there are credits. The months are those of UTC.",
      of.url,
    ),
  };
}

export function endpointTrouble(of: {
  account: string;
  receiver: string;
  since: string;
  reason: string | null;
  url: string;
}): MailText {
  const isDisabled = of.reason !== null;
  return {
    subject: isDisabled
      ? `A webhook endpoint of ${of.account} was disabled`
      : `A webhook endpoint of ${of.account} fails`,
    body: paragraphs(
      `${of.receiver} has not taken any event since ${of.since}.`,
      of.reason ?? "Every delivery is tried again for up to five days; then the endpoint is disabled.",
      "Nothing is lost: once it answers, what was missed can be sent again from its page.",
      of.url,
    ),
  };
}

export function digest(of: { day: string; lines: string[]; attention: string[]; url: string }): MailText {
  const sections = [
    of.lines.join("\n"),
    of.attention.length === 0
      ? "Nothing needs you."
      : ["Needs attention:", ...of.attention.map((line) => `- ${line}`)].join("\n"),
    of.url,
  ];
  const many = of.attention.length === 1 ? "1 thing needs" : `${of.attention.length} things need`;
  return {
    subject: `cardpress on ${of.day}: ${of.attention.length === 0 ? "all well" : `${many} somebody`}`,
    body: paragraphs(...sections),
  };
}

/** Such as "1 credit" and "1,250 credits". */
export function credits(count: number): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? "credit" : "credits"}`;
}

function paragraphs(...texts: string[]): string {
  return `${texts.join("\n\n")}\n`;
}
