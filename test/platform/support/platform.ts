import { onTestFinished } from "vitest";
import { systemClock } from "../../faces/core.ts";
import {
  type ActInput,
  type ActResult,
  type EntryOf,
  endpointsOf,
  type ListenOptions,
  type Platform,
  type Scope,
  startPlatform,
  Timeline,
  type WaitOptions,
} from "../../faces/platform.ts";
import { type Answer, answer, type World } from "../conformance/http.ts";
import type { Refusal } from "../conformance/wire.ts";

export type { Answer } from "../conformance/http.ts";
export type { Refusal as ErrorBody } from "../conformance/wire.ts";

export interface CallOptions {
  readonly body?: unknown;
  readonly token?: string;
  readonly signal?: AbortSignal;
}

export async function runPlatform(options: ListenOptions = {}): Promise<Platform> {
  const platform = await startPlatform(options);
  onTestFinished(() => platform.stop());
  return platform;
}

export function withControlToken({ controlToken }: Platform): Record<string, string> {
  return { "X-Control-Token": controlToken };
}

/** Sends and receives JSON. `path` begins with /api/v1 or /control/v1. */
export async function request<T = Refusal>(
  platform: Platform,
  method: string,
  path: string,
  { body, token = platform.apiKey, signal }: CallOptions = {},
): Promise<Answer<T>> {
  return await answer<T>(worldOf(platform), path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...withControlToken(platform),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  });
}

/** The platform as the conformance rules use it, through its port. */
export function worldOf({ url, apiKey: token, controlToken }: Platform): World {
  return { url, fetch, token, controlToken, startedAt: 0 };
}

export function tokenWith(platform: Platform, ...scopes: Scope[]): string {
  return platform.control.createToken(scopes).apiKey;
}

/** Performs an action as ada, unless `more` names another user. */
export function act(
  platform: Platform,
  type: ActInput["type"],
  more: Partial<ActInput> = {},
): ActResult {
  return platform.control.act({ type, from: "ada", ...more });
}

export function ids(result: ActResult): string[] {
  return result.events.map((event) => event.id);
}

/** Waits for the scheduled delivery attempt that last contained this event. */
export function deliveryOf(
  platform: Platform,
  eventId: string,
  options: WaitOptions & { attempt?: number } = {},
): Promise<EntryOf<"delivery">> {
  const { attempt = 1, ...wait } = options;
  return platform.waitFor(
    "delivery",
    (entry) => !entry.forced && entry.eventIds.at(-1) === eventId && entry.attempt === attempt,
    wait,
  );
}

export async function timeline(platform: Platform): Promise<EntryOf<"event">[]> {
  const { body } = await request<{ entries: EntryOf<"event">[] }>(
    platform,
    "GET",
    "/control/v1/timeline",
  );
  return body.entries;
}

export function routesOf({ control }: Platform): readonly (readonly [string, string])[] {
  const endpoints = endpointsOf(control, new Timeline(systemClock));
  return endpoints.map(({ method, path }) => [method, path]);
}
