import { inject } from "vitest";
import { platformWithDownloads } from "../uploads/start.ts";
import { control } from "./http.ts";
import type { Respond } from "./rule.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The platform in another process that is to be shown; absent: one is started for each test. */
    conformanceUrl?: string;
    /** Its control token. */
    conformanceControlToken?: string;
  }
}

/** A platform in its first state, reached by requests alone. */
export interface World {
  readonly url: string;
  /** Sends a request: to the platform in this process, or over the network. */
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** A token of the bot with every scope. */
  readonly token: string;
  /** The token of the control API. */
  readonly controlToken: string;
  /** Where the timeline was when the test began. */
  readonly startedAt: number;
}

export type Scope = "read" | "posts:write" | "comments:write" | "dm";

export const everyScope: readonly Scope[] = ["read", "posts:write", "comments:write", "dm"];

/** True when the platform runs in another process, where only what HTTP reaches can be set up. */
export const elsewhere: boolean = inject("conformanceUrl") !== undefined;

/** @param internet answers the downloads of uploads; only where the platform is started here */
export async function openWorld(internet?: Respond): Promise<World> {
  const place = given() ?? start(internet);
  if (elsewhere) await beginAnew(place);
  const { apiKey } = await control<{ apiKey: string }>(place, "POST", "/tokens", {
    scopes: everyScope,
  });
  const { timelineSeq } = await control<{ timelineSeq: number }>(place, "GET", "/state");
  return { ...place, token: apiKey, startedAt: timelineSeq };
}

type Place = Pick<World, "url" | "controlToken" | "fetch">;

/** The platform in another process; `undefined` if one is started for each test. */
function given(): Place | undefined {
  const url = inject("conformanceUrl");
  return url === undefined
    ? undefined
    : { url, fetch, controlToken: inject("conformanceControlToken") ?? "" };
}

/** A reset leaves the limits that the platform was started with. */
async function beginAnew(world: Place): Promise<void> {
  await control(world, "POST", "/reset");
  const names = Object.keys(await control<object>(world, "GET", "/limits"));
  await control(world, "PUT", "/limits", Object.fromEntries(names.map((name) => [name, null])));
}

function start(internet: Respond | undefined): Place {
  const platform = platformWithDownloads(internet);
  const { url, controlToken } = platform;
  return { url, controlToken, fetch: platform.fetch };
}
