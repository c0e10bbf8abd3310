import { Client } from "../../client/client.ts";
import { ApiError } from "../../client/errors.ts";
import { asDoctor, probeScopes, type ScopeAnswer } from "../../client/scopes.ts";
import type { Config } from "../../config.ts";
import type { Scope } from "../../core/platform-contract.ts";
import { messageOf } from "../../errors.ts";
import { TOLERANCE_SECONDS } from "../../signature/signature.ts";
import { type Check, type Finding, findingsOf, withConfig } from "./finding.ts";

/** Checks the platform's connection, the token and its scopes, and the clock. */
export const checkPlatform: Check = withConfig(async (config) => {
  const { baseUrl, apiKey } = config;
  const client = new Client({ baseUrl, apiKey, fetch: asDoctor });
  const token = await checkToken(client, baseUrl);
  const clock = checkClock(client);
  if (token.level === "fail") return [token, ...clock];
  return [token, ...clock, ...(await checkScopes(config)), ...(await checkLog(config, client))];
});

async function checkToken(client: Client, baseUrl: string): Promise<Finding> {
  const { ok, fail } = findingsOf("platform");
  try {
    const { username } = await client.me();
    const who = username === undefined ? "" : ` as @${username}`;
    return ok(`${baseUrl} answers, and knows the token${who}`);
  } catch (error) {
    // The platform's document does not name the scope of the profile. This error still proves that the platform accepts
    // the token.
    if (error instanceof ApiError && error.code === "AGENT_SCOPE_MISSING") {
      return ok(`${baseUrl} answers, and knows the token`);
    }
    return fail(messageOf(error), remedyFor(error));
  }
}

function remedyFor(error: unknown): string {
  if (!(error instanceof ApiError)) {
    return "Set SERVICE_BASE_URL to the platform's address. The local one is started by: service-bot dev";
  }
  const { status } = error;
  if (status === 401) return "Set SERVICE_API_KEY to the bot's token from the developer portal.";
  if (status === 403) return "Look in the developer portal whether the app is enabled.";
  if (status === 404)
    return "Set SERVICE_BASE_URL to the platform's address as far as /api/v1: is this the platform?";
  if (status === 429) return "Another program uses up the limit of this app: wait a minute.";
  return "Try again later; the bot waits for the platform as well.";
}

/** In seconds. A clock synchronized by NTP differs by less, even if the answer was slow. */
const MAX_KEPT_SECONDS = 10;

const NTP = "Let NTP set the clock of this machine.";

/** Compares the clock with the `Date` of the platform's last answer, which has a resolution of seconds. */
function checkClock(client: Client): Finding[] {
  const { ok, note, fail } = findingsOf("clock");
  if (client.platformNow() === undefined) return [];
  const seconds = Math.round(client.clockOffsetMs / 1000);
  const away = Math.abs(seconds);
  const what = `the clock is ${away} s ${seconds > 0 ? "behind" : "ahead of"} the platform's`;
  // Compares with the tolerance of signatures (section 5, rule 7).
  if (away >= TOLERANCE_SECONDS) return [fail(`${what}, so every signature is refused`, NTP)];
  if (away < MAX_KEPT_SECONDS) return [ok(`the clock is ${away} s from the platform's`)];
  return [note(`${what}; from ${TOLERANCE_SECONDS} s every signature is refused`, NTP)];
}

const scopes = findingsOf("scopes");

/** Consequence for a bot whose token lacks a scope. */
const without = {
  read: "nothing but direct messages comes in",
  dm: "direct messages neither come in nor are answered",
  "comments:write": "mentions, comments and replies cannot be answered",
  "posts:write": "the bot cannot make posts",
} as const satisfies Readonly<Record<Scope, string>>;

const ADD_SCOPE = "Add it to the token in the developer portal, unless the bot has no use for it.";

/** Determines the scopes of the token (section 5, rules 2 and 3) with requests that change nothing. */
async function checkScopes({ baseUrl, apiKey }: Config): Promise<Finding[]> {
  const { ok, note } = scopes;
  const answers = await probeScopes({ baseUrl, apiKey });
  const having = (...wanted: ScopeAnswer[]) =>
    (Object.keys(without) as Scope[]).filter((scope) => wanted.includes(answers[scope]));
  return [
    ok(`the token has the scopes ${having("yes").join(", ") || "(none)"}`),
    ...having("no").map((scope) => note(`it has not ${scope}: ${without[scope]}`, ADD_SCOPE)),
    ...having("unknown", "refused").map((scope) =>
      note(`whether it has ${scope} is not known now`, "Try again later."),
    ),
  ];
}

/** An empty `since` reads no event and moves no cursor (section 4, rule 5 of GET /events). */
async function checkLog({ delivery }: Config, client: Client): Promise<Finding[]> {
  const { ok, fail } = scopes;
  if (delivery === "webhook") return [];
  try {
    await client.events({ since: "" });
    return [ok("the token may read the event log")];
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) {
      return [
        fail(
          "the token may not read the event log, so there is no polling: it needs the scope read or dm",
          "Add one to the token in the developer portal, or set DELIVERY=webhook.",
        ),
      ];
    }
    return [fail(`the event log cannot be read: ${messageOf(error)}`, "Try again later.")];
  }
}
