import Sqlite from "better-sqlite3";
import type { Fetch } from "../../faces/client.ts";
import { SqliteInbox } from "../../faces/inbox-sqlite.ts";
import { notifyDriver } from "./protocol.ts";

/** Places at which the bot under test kills itself. The state on disk differs between any two of them. */
export const failpoints = [
  "before put",
  "after put",
  "before commit",
  "after commit",
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
export type Failpoint = (typeof failpoints)[number];

export interface FailpointSetting {
  readonly at: Failpoint;
  /** Counts the passes, from 1 up. */
  readonly hit: number;
}

/** Methods of the inbox between a failpoint before and one after. */
const methods = {
  put: ["put"],
  claim: ["claim"],
  intent: ["beginStep"],
  record: ["finishStep"],
  complete: ["complete", "advance"],
} as const satisfies Readonly<Record<string, readonly (keyof SqliteInbox)[]>>;

/** Sets the trap. Returns the `fetch` that the bot must use. */
export function armFailpoint(setting: FailpointSetting): Fetch {
  let left = setting.hit;
  const pass = (at: string) => {
    if (at !== setting.at) return;
    left -= 1;
    if (left > 0) return;
    notifyDriver({ failpoint: at });
    process.kill(process.pid, "SIGKILL");
  };
  for (const [name, around] of Object.entries(methods)) {
    for (const method of around) aroundMethod(name, method, pass);
  }
  aroundCommit(pass);
  return aroundFetch(pass);
}

function aroundMethod(
  name: string,
  method: keyof SqliteInbox,
  pass: (at: string) => void,
): void {
  // One shape for five signatures: the arguments are only handed on.
  const prototype: Record<string, (...given: unknown[]) => Promise<unknown>> =
    SqliteInbox.prototype as never;
  const real = prototype[method];
  if (real === undefined) throw new Error(`the inbox has no ${method}`);
  prototype[method] = async function around(this: SqliteInbox, ...given) {
    pass(`before ${name}`);
    const result = await real.apply(this, given);
    // An empty claim leaves nothing behind that could be lost.
    if (!Array.isArray(result) || result.length > 0) pass(`after ${name}`);
    return result;
  };
}

function aroundCommit(pass: (at: string) => void): void {
  const { exec } = Sqlite.prototype;
  Sqlite.prototype.exec = function around(this: Sqlite.Database, sql) {
    if (sql === "COMMIT") pass("before commit");
    const result = exec.call(this, sql);
    if (sql === "COMMIT") pass("after commit");
    return result;
  };
}

function aroundFetch(pass: (at: string) => void): Fetch {
  return async (url, init) => {
    const write = init.method === "POST";
    if (write) pass("before send");
    const response = await fetch(url, init);
    if (write) pass("after answer");
    return response;
  };
}
