import { OLDEST_NODE } from "../../core/process.ts";
import { type Command, defineCommand, UsageError } from "../command.ts";
import { printJson, printStyled } from "../output.ts";
import { checkBot } from "./bot.ts";
import { checkEnvironment } from "./environment.ts";
import { type Check, type Finding, findingLines, findingsOf } from "./finding.ts";
import { checkInbox } from "./inbox.ts";
import { checkPlatform } from "./platform.ts";
import { checkWebhook } from "./webhook.ts";

const checks: readonly Check[] = [checkPlatform, checkInbox, checkBot, checkWebhook];

export const doctor: Command = defineCommand({
  name: "doctor",
  summary: "Checks configuration, platform, clock, token, inbox, bot and webhook",
  flags: {
    webhook: {
      type: "string",
      value: "URL",
      help: "also check the webhook URL set in the developer portal",
    },
    json: {
      type: "boolean",
      help: 'print one line of JSON: {"ok", "findings": [{"area", "level", "what", "remedy"}]}',
    },
  },
  notes:
    "The doctor changes nothing. It tests the token with reads and empty writes, and the webhook with requests " +
    "that have a wrong signature. The exit code is 1 if any check fails.",
  run: async ({ flags: given }) => {
    const findings = await examine(webhookAddress(given.webhook));
    const ok = findings.every(({ level }) => level !== "fail");
    if (given.json) printJson({ ok, findings });
    else for (const line of findings.flatMap(findingLines)) printStyled(line);
    return ok ? 0 : 1;
  },
});

async function examine(webhook: URL | undefined): Promise<Finding[]> {
  const node = `Node ${process.versions.node} (required: ${OLDEST_NODE} or newer)`;
  const { findings, config } = checkEnvironment();
  const found = [findingsOf("node").ok(node), ...findings];
  for (const check of checks)
    for (const finding of await check({ config, webhook })) found.push(finding);
  return found;
}

function webhookAddress(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new UsageError("--webhook takes a URL, such as https://bot.example.org/webhook.");
}
