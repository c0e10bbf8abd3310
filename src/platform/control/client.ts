import type { Snapshots } from "../snapshots.ts";
import type { TimelineEntry } from "../timeline/entries.ts";
import { type Argument, bot, type ControlRoute, type Part, routes, type Served } from "./routes.ts";
import type { PlatformState } from "./shapes.ts";

/** The methods and properties of a class as requests. Bytes are sent and received as a Blob. */
export type Remote<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => infer R
    ? (...args: Sent<A>) => Promise<Received<Awaited<R>>>
    : T[K] extends Part
      ? Remote<T[K]>
      : () => Promise<T[K]>;
};

type Sent<A extends readonly unknown[]> = {
  [I in keyof A]: A[I] extends Uint8Array ? Blob : A[I];
};

type Received<R> = R extends Uint8Array ? Blob : R;

/** A page of the timeline. Pass `last` to read the next one. */
export interface TimelinePage {
  readonly entries: readonly TimelineEntry[];
  readonly last: number;
}

/** The control API of a platform in another process. */
export interface RemoteControl extends Omit<Remote<Served>, "snapshots"> {
  readonly snapshots: Omit<Remote<Snapshots>, "restore"> & {
    restore(id: string): Promise<PlatformState>;
  };
  /** Returns the entries after a given one. If there are none, waits up to `waitMs` milliseconds. */
  timeline(after: number, waitMs?: number): Promise<TimelinePage>;
}

/** A request of the control API. */
export interface ControlRequest {
  readonly method: ControlRoute["method"];
  /** Path below `/control/v1`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly json: unknown;
  readonly bytes: Blob | undefined;
}

/** Returns the path and query of a request. */
export function targetOf({ path, query }: ControlRequest): string {
  return `/control/v1${path}${query.size === 0 ? "" : `?${query}`}`;
}

/** Sends a request, and returns the JSON of its response, or a Blob. Rejects if the platform refuses the request. */
export type Send = (request: ControlRequest) => Promise<unknown>;

/**
 * Creates a client for the control API.
 *
 * @param defaultBot returns the username of the bot for requests that name none
 */
export function remoteControl(send: Send, defaultBot?: () => string | undefined): RemoteControl {
  const call = async (route: ControlRoute, values: readonly unknown[]) => {
    const answer = await send(requestOf(route, values, defaultBot?.()));
    return route.result === undefined ? answer : Reflect.get(Object(answer), route.result);
  };
  const methods = (table: object): object =>
    mapValues(table, (entry) =>
      isRoute(entry) ? (...values: unknown[]) => call(entry, values) : methods(entry),
    );
  // Trust the types, because the compiler compares the table with them.
  return methods(routes) as RemoteControl;
}

export function isRoute(entry: object): entry is ControlRoute {
  return "args" in entry;
}

function mapValues(table: object, map: (entry: object) => unknown): object {
  return Object.fromEntries(Object.entries(table).map(([name, entry]) => [name, map(entry)]));
}

interface Draft {
  path: string;
  readonly query: URLSearchParams;
  json: unknown;
  bytes: Blob | undefined;
}

/** Puts an argument in its place in the request. */
const put: Readonly<
  Record<Argument["in"], (draft: Draft, argument: Argument, value: unknown) => void>
> = {
  path: (draft, { key }, value) => {
    draft.path = draft.path.replace(`:${key}`, encodeURIComponent(String(value)));
  },
  query: ({ query }, { key, fields }, value) => {
    const given = fields === undefined ? { [key]: value } : Object(value);
    for (const name of fields ?? [key]) {
      if (given[name] !== undefined) query.set(name, String(given[name]));
    }
  },
  field: (draft, { key }, value) => {
    draft.json = { ...Object(draft.json), [key]: value };
  },
  body: (draft, _, value) => {
    draft.json = value;
  },
  bytes: (draft, _, value) => {
    if (value instanceof Blob) draft.bytes = value;
  },
};

function requestOf(
  { method, path, args }: ControlRoute,
  values: readonly unknown[],
  defaultBot: string | undefined,
): ControlRequest {
  const draft: Draft = { path, query: new URLSearchParams(), json: undefined, bytes: undefined };
  for (const [nth, argument] of args.entries()) {
    const value = values[nth] ?? (argument === bot ? defaultBot : undefined);
    put[argument.in](draft, argument, value);
  }
  return { method, ...draft };
}
