import Sqlite from "better-sqlite3";
import type { Fetch } from "../../faces/client.ts";
import { SqliteInbox } from "../../faces/inbox-sqlite.ts";

/** Points in the life of an event. The state on disk differs between any two of them. */
export const failpoints = [
  "before put",
  "before commit",
  "after commit",
  "after put",
  "before claim",
  "after claim",
  "before intent",
  "after intent",
  "before send",
  "after answer",
  "before record",
  "after record",
  "before complete",
  "after complete",
] as const;
/** Points in the life of a due timer. */
export const timerFailpoints = ["before fire", "after fire"] as const;
export type Failpoint = (typeof failpoints)[number] | (typeof timerFailpoints)[number];

const METHODS = {
  put: ["put"],
  claim: ["claim"],
  intent: ["beginStep"],
  record: ["finishStep"],
  complete: ["complete", "advance", "bury"],
  fire: ["fireTimers"],
} as const satisfies Readonly<Record<string, readonly (keyof SqliteInbox)[]>>;

export interface FailpointWatch {
  /** Inboxes that have passed a failpoint. */
  readonly inboxes: ReadonlySet<SqliteInbox>;
  watchFetch(fetch: Fetch): Fetch;
  remove(): void;
}

/** Sets the failpoints in every SQLite inbox of this process. An error thrown by `pass` aborts the operation. */
export function watchFailpoints(pass: (at: Failpoint) => void): FailpointWatch {
  const names: readonly (keyof typeof METHODS)[] = [
    "put",
    "claim",
    "intent",
    "record",
    "complete",
    "fire",
  ];
  const inboxes = new Set<SqliteInbox>();
  const removals = names.flatMap((name) =>
    METHODS[name].map((method) => encloseMethod(name, method, pass, inboxes)),
  );
  removals.push(encloseCommit(pass));
  return {
    inboxes,
    watchFetch: (fetch) => async (url, init) => {
      const isWrite = init.method === "POST";
      if (isWrite) pass("before send");
      const response = await fetch(url, init);
      if (isWrite) pass("after answer");
      return response;
    },
    remove: () => {
      for (const remove of removals) remove();
    },
  };
}

function encloseMethod(
  name: keyof typeof METHODS,
  method: keyof SqliteInbox,
  pass: (at: Failpoint) => void,
  inboxes: Set<SqliteInbox>,
): () => void {
  // The arguments are only passed on, so methods with different signatures can share this type.
  const prototype: Record<string, (...given: unknown[]) => Promise<unknown>> =
    SqliteInbox.prototype as never;
  const original = prototype[method];
  if (original === undefined) throw new Error(`the inbox has no method ${method}`);
  prototype[method] = async function enclosed(this: SqliteInbox, ...given) {
    inboxes.add(this);
    pass(`before ${name}`);
    const result = await original.apply(this, given);
    if (!isEmpty(result)) pass(`after ${name}`);
    return result;
  };
  return () => {
    prototype[method] = original;
  };
}

/** Returns true for a claim that found no lane, or a check that found no due timer. Neither changes the disk. */
function isEmpty(result: unknown): boolean {
  const { length, fired }: { length?: number; fired?: number } = Object(result);
  return length === 0 || fired === 0;
}

function encloseCommit(pass: (at: Failpoint) => void): () => void {
  const { exec } = Sqlite.prototype;
  Sqlite.prototype.exec = function enclosed(this: Sqlite.Database, sql) {
    if (sql === "COMMIT") pass("before commit");
    const result = exec.call(this, sql);
    if (sql === "COMMIT") pass("after commit");
    return result;
  };
  return () => {
    Sqlite.prototype.exec = exec;
  };
}
