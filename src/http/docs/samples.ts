// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text.
import quickstartGo from "./samples/quickstart/card.go" with { type: "text" };
import quickstartPhp from "./samples/quickstart/card.php" with { type: "text" };
import quickstartPython from "./samples/quickstart/card.py" with { type: "text" };
import quickstartShell from "./samples/quickstart/card.sh" with { type: "text" };
import quickstartTypescript from "./samples/quickstart/card.ts" with { type: "text" };
import signedPhp from "./samples/signed/address.php" with { type: "text" };
import signedPython from "./samples/signed/address.py" with { type: "text" };
import signedTypescript from "./samples/signed/address.ts" with { type: "text" };
import webhookGo from "./samples/webhook/webhook.go" with { type: "text" };
import webhookPhp from "./samples/webhook/webhook.php" with { type: "text" };
import webhookPython from "./samples/webhook/webhook.py" with { type: "text" };
import webhookTypescript from "./samples/webhook/webhook.ts" with { type: "text" };

export interface Sample {
  /** The language's name, as readers know it. */
  tab: string;
  /** The fence's language. */
  language: string;
  /** The file's name, without a folder. */
  file: string;
  text: string;
}

/** Complete programs shown in the guides, each in every language it is written in. Tests run every one. */
export const SAMPLES: Readonly<Record<"quickstart" | "signed" | "webhook", readonly Sample[]>> = {
  quickstart: [
    { tab: "curl", language: "sh", file: "card.sh", text: quickstartShell },
    { tab: "TypeScript", language: "ts", file: "card.ts", text: quickstartTypescript },
    { tab: "Python", language: "python", file: "card.py", text: quickstartPython },
    { tab: "PHP", language: "php", file: "card.php", text: quickstartPhp },
    { tab: "Go", language: "go", file: "card.go", text: quickstartGo },
  ],
  signed: [
    { tab: "TypeScript", language: "ts", file: "address.ts", text: signedTypescript },
    { tab: "Python", language: "python", file: "address.py", text: signedPython },
    { tab: "PHP", language: "php", file: "address.php", text: signedPhp },
  ],
  webhook: [
    { tab: "TypeScript", language: "ts", file: "webhook.ts", text: webhookTypescript },
    { tab: "Python", language: "python", file: "webhook.py", text: webhookPython },
    { tab: "PHP", language: "php", file: "webhook.php", text: webhookPhp },
    { tab: "Go", language: "go", file: "webhook.go", text: webhookGo },
  ],
};

/** The programs of one sample as Markdown: a fence per language, which become tabs. */
export function sampleFences(name: keyof typeof SAMPLES): string {
  return SAMPLES[name]
    .map(
      ({ tab, language, file, text }) =>
        `\`\`\`${language} tab=${tab} title=${file}\n${text.trimEnd()}\n\`\`\``,
    )
    .join("\n\n");
}
