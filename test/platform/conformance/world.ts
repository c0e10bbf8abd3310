import { inject } from "vitest";
import { runPlatform } from "../support/platform.ts";
import { startWithDownloads } from "../uploads/start.ts";
import { control } from "./http.ts";
import type { Respond } from "./rule.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The platform in another process that is to be shown; absent: one is started for each test. */
    conformanceUrl?: string;
  }
}

/** A platform in its first state, reached over HTTP alone. */
export interface World {
  readonly url: string;
  /** A token of the bot with every scope. */
  readonly token: string;
  /** Where the timeline was when the test began. */
  readonly startedAt: number;
}

export type Scope = "read" | "posts:write" | "comments:write" | "dm";

export const everyScope: readonly Scope[] = ["read", "posts:write", "comments:write", "dm"];

/** True when the platform runs in another process, where only what HTTP reaches can be set up. */
export const elsewhere: boolean = inject("conformanceUrl") !== undefined;

/** @param internet answers the downloads of uploads; only where the platform is started here */
export async function openWorld(internet?: Respond): Promise<World> {
  const given = inject("conformanceUrl");
  const url = given ?? (await start(internet));
  if (given !== undefined) await beginAnew({ url });
  const { apiKey } = await control<{ apiKey: string }>({ url }, "POST", "/tokens", {
    scopes: everyScope,
  });
  const { timelineSeq } = await control<{ timelineSeq: number }>({ url }, "GET", "/state");
  return { url, token: apiKey, startedAt: timelineSeq };
}

/** A reset leaves the limits that the platform was started with. */
async function beginAnew(world: Pick<World, "url">): Promise<void> {
  await control(world, "POST", "/reset");
  const names = Object.keys(await control<object>(world, "GET", "/limits"));
  await control(world, "PUT", "/limits", Object.fromEntries(names.map((name) => [name, null])));
}

async function start(internet: Respond | undefined): Promise<string> {
  const platform = await (internet === undefined ? runPlatform() : startWithDownloads(internet));
  return platform.url;
}
