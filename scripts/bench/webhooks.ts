/**
 * Sends events to many endpoints, of which some hang and some fail, and prints how long events took from
 * commit to arrival at the healthy ones. Events come at the given rate, or with --rate 0 all at once.
 *
 *     bun scripts/bench/webhooks.ts [--events 1000] [--endpoints 20] [--hanging 1] [--failing 1] [--rate 100]
 */

import { parseArgs } from "node:util";
import { offerHelp } from "../help.ts";
import { benchWebhooks } from "./webhook-storm.ts";

offerHelp(import.meta);

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "1000" },
    endpoints: { type: "string", default: "20" },
    hanging: { type: "string", default: "1" },
    failing: { type: "string", default: "1" },
    rate: { type: "string", default: "100" },
  },
});
const { events, endpoints, hanging, failing, rate } = values;
const report = await benchWebhooks({
  events: Number(events),
  endpoints: Number(endpoints),
  hanging: Number(hanging),
  failing: Number(failing),
  eventsPerSecond: Number(rate) || Number.POSITIVE_INFINITY,
});
console.log(JSON.stringify(report, null, 2));
