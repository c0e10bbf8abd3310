import type { ServerResponse } from "node:http";
import { inject } from "vitest";
import { platformWithDownloads } from "../uploads/start.ts";
import { control, type World } from "./http.ts";

export type { World } from "./http.ts";

export type Respond = (response: ServerResponse, path: string) => void;

declare module "vitest" {
  interface ProvidedContext {
    /** Portal URL of the platform under test. If missing, each test starts its own platform. */
    conformanceUrl?: string;
    conformanceControlToken?: string;
  }
}

export type Scope = "read" | "posts:write" | "comments:write" | "dm";

export const everyScope: readonly Scope[] = ["read", "posts:write", "comments:write", "dm"];

/** True if the platform runs in another process. Tests can then set up only what is possible over HTTP. */
export const elsewhere: boolean = inject("conformanceUrl") !== undefined;

/** @param internet responds to the downloads of uploaded URLs. Ignored if the platform runs in another process */
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

/** Returns the platform in another process, or `undefined` if each test starts its own. */
function given(): Place | undefined {
  const url = inject("conformanceUrl");
  return url === undefined
    ? undefined
    : { url, fetch, controlToken: inject("conformanceControlToken") ?? "" };
}

/** Resets the platform. A reset restores the limits that the platform had on startup. */
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
