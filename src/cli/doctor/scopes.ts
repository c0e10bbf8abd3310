import type { Client } from "../../client/client.ts";
import { ApiError } from "../../client/errors.ts";
import { Http } from "../../client/http.ts";
import { commentsPath } from "../../client/paths.ts";
import type { Config } from "../../config.ts";
import { messageOf } from "../../errors.ts";
import { asDoctor } from "./as-doctor.ts";
import { type Finding, findingsOf } from "./finding.ts";

const { ok, note, fail } = findingsOf("scopes");

/** What a bot cannot do without a scope. */
const without = {
  read: "nothing but direct messages comes in",
  dm: "direct messages neither come in nor are answered",
  "comments:write": "mentions, comments and replies cannot be answered",
  "posts:write": "the bot cannot make posts",
} as const;

type Scope = keyof typeof without;

const REMEDY = "Add it to the token in the developer portal, unless the bot has no use for it.";

/** No post has this id; and there is nothing in what is sent. */
const NO_POST = "service-bot-doctor";

/** Which scopes the token has (section 5, rules 2 and 3), by requests that change nothing. */
export async function examineScopes(config: Config, client: Client): Promise<Finding[]> {
  const { baseUrl, apiKey } = config;
  const http = new Http({ baseUrl, apiKey, retries: 0, fetch: asDoctor });
  const probes: Readonly<Record<Scope, () => Promise<unknown>>> = {
    read: () => client.feed({ limit: 1 }).then(),
    dm: () => client.dms.conversations({ limit: 1 }).then(),
    // Neither text nor images: what the scope does not refuse, the content does (section 4).
    "comments:write": () => http.request("POST", commentsPath(NO_POST), { json: {} }),
    "posts:write": () => http.request("POST", "/posts", { json: {} }),
  };
  const scopes = Object.keys(probes) as Scope[];
  const answers = await Promise.all(scopes.map((scope) => has(probes[scope])));
  const having = (wanted: Answer) => scopes.filter((_, n) => answers[n] === wanted);
  return [
    ok(`the token has the scopes ${having("yes").join(", ") || "(none)"}`),
    ...having("no").map((scope) => note(`it has not ${scope}: ${without[scope]}`, REMEDY)),
    ...having("unknown").map((scope) =>
      note(`whether it has ${scope} cannot be told now`, "Try again later."),
    ),
    ...(await examineLog(config, client)),
  ];
}

type Answer = "yes" | "no" | "unknown";

async function has(probe: () => Promise<unknown>): Promise<Answer> {
  try {
    await probe();
    return "yes";
  } catch (error) {
    if (!(error instanceof ApiError)) return "unknown";
    if (error.status === 403) return "no";
    return error.status < 500 && error.status !== 429 ? "yes" : "unknown";
  }
}

/** An empty `since` reads no event and moves no cursor (section 4, rule 5 of GET /events). */
async function examineLog({ delivery }: Config, client: Client): Promise<Finding[]> {
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
