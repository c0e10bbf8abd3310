import { Client } from "../../client/client.ts";
import { ApiError } from "../../client/errors.ts";
import { asDoctor } from "../../client/scopes.ts";
import type { Config } from "../../config.ts";
import { messageOf } from "../../errors.ts";
import { examineClock } from "./clock.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { examineScopes } from "./scopes.ts";

const { ok, fail } = findingsOf("platform");

/** Is it there, does it know the token, what may the token do, and what time is it there? */
export async function examinePlatform(config: Config): Promise<Finding[]> {
  const { baseUrl, apiKey } = config;
  const client = new Client({ baseUrl, apiKey, fetch: asDoctor });
  const found = await examineToken(client, baseUrl);
  const clock = examineClock(client);
  if (found.level === "fail") return [found, ...clock];
  return [found, ...clock, ...(await examineScopes(config, client))];
}

async function examineToken(client: Client, baseUrl: string): Promise<Finding> {
  try {
    const { username } = await client.me();
    const who = username === undefined ? "" : ` as @${username}`;
    return ok(`${baseUrl} answers, and knows the token${who}`);
  } catch (error) {
    // Which scope the profile needs is not documented: a token without it is known all the same.
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
