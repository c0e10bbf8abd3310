import { expect } from "vitest";
import type { Refusal } from "./wire.ts";

/** A platform in its initial state, accessed only through requests. */
export interface World {
  readonly url: string;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  readonly token: string;
  readonly controlToken: string;
  /** Position in the timeline when the test began. */
  readonly startedAt: number;
}

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

export interface Sending {
  /** Sent as JSON, unless it is a form. */
  readonly body?: unknown;
  /** Default: the token that has every scope. */
  readonly token?: string;
}

/** Calls the API. `path` is relative to /api/v1. */
export function call<T = Refusal>(
  world: World,
  method: string,
  path: string,
  { body, token = world.token }: Sending = {},
): Promise<Answer<T>> {
  const json = { "content-type": "application/json" };
  return answer<T>(world, `/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined || body instanceof FormData ? {} : json),
    },
    body: body instanceof FormData ? body : body === undefined ? null : JSON.stringify(body),
  });
}

export function get<T = Refusal>(world: World, path: string, token?: string): Promise<Answer<T>> {
  return call<T>(world, "GET", path, token === undefined ? {} : { token });
}

export function post<T = Refusal>(
  world: World,
  path: string,
  body: unknown,
  token?: string,
): Promise<Answer<T>> {
  return call<T>(world, "POST", path, { body, ...(token === undefined ? {} : { token }) });
}

export async function read<T>(world: World, path: string, token?: string): Promise<T> {
  return succeeded(await get<T>(world, path, token));
}

export async function write<T>(
  world: World,
  path: string,
  body: unknown,
  token?: string,
): Promise<T> {
  return succeeded(await post<T>(world, path, body, token));
}

/** Calls the control API. The call must succeed. `path` is relative to /control/v1. */
export async function control<T = unknown>(
  world: Pick<World, "url" | "fetch" | "controlToken">,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  return succeeded(
    await answer<T>(world, `/control/v1${path}`, {
      method,
      headers: { "content-type": "application/json", "x-control-token": world.controlToken },
      body: body === undefined ? null : JSON.stringify(body),
    }),
  );
}

export function expectRefusal(
  { status, body }: Answer<unknown>,
  expected: number,
  code: string,
): void {
  expect({ status, body }).toEqual({
    status: expected,
    body: { error: { code, message: expect.stringMatching(/\w/) } },
  });
}

export async function answer<T>(
  world: Pick<World, "url" | "fetch">,
  path: string,
  init: RequestInit,
): Promise<Answer<T>> {
  const response = await world.fetch(world.url + path, init);
  const text = await response.text();
  // Trust the type, because each test asserts the body.
  const body = (text === "" ? undefined : JSON.parse(text)) as T;
  return { status: response.status, headers: response.headers, body };
}

function succeeded<T>({ status, body }: Answer<T>): T {
  if (status >= 200 && status <= 299) return body;
  throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
}
