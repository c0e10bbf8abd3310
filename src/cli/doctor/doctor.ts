import { OLDEST_NODE } from "../../core/process.ts";
import { type Command, defineCommand, UsageError } from "../command.ts";
import { printJson, printLine } from "../output.ts";
import { checkBot } from "./bot.ts";
import { checkEnvironment } from "./environment.ts";
import { type Check, type Finding, findingLines, findingsOf } from "./finding.ts";
import { checkInbox } from "./inbox.ts";
import { checkPlatform } from "./platform.ts";
import { checkWebhook } from "./webhook.ts";

/** Checks after the environment, in the order of the report. */
const checks: readonly Check[] = [checkPlatform, checkInbox, checkBot, checkWebhook];

export const doctor: Command = defineCommand({
  name: "doctor",
  summary: "checks Node, configuration, platform, clock, token, database, inbox, bot and webhook",
  flags: {
    webhook: {
      type: "string",
      value: "URL",
      help: "the address in the developer portal, to be tried from here as well",
    },
    json: {
      type: "boolean",
      help: 'one line: {"ok", "findings": [{"area", "level", "what", "remedy"}]}',
    },
  },
  notes: `Nothing is changed: the token is tried by reading and by writes that the platform must refuse for want of
content, the webhook by requests that are signed with a wrong secret. Exit code 1 when something fails.`,
  run: async ({ flags: given }) => {
    const findings = await examine(webhookAddress(given.webhook));
    const ok = findings.every(({ level }) => level !== "fail");
    if (given.json) printJson({ ok, findings });
    else for (const line of findings.flatMap(findingLines)) printLine(line);
    return ok ? 0 : 1;
  },
});

async function examine(webhook: URL | undefined): Promise<Finding[]> {
  const node = `Node ${process.versions.node} (${OLDEST_NODE} or newer is needed)`;
  const { findings, config } = checkEnvironment();
  const found = [findingsOf("node").ok(node), ...findings];
  for (const check of checks) found.push(...(await check({ config, webhook })));
  return found;
}

/** @throws {UsageError} */
function webhookAddress(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new UsageError(
    "--webhook takes the address in the portal, such as https://bot.example.org/webhook.",
  );
}
