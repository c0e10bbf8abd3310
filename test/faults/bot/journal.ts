import { openSync, writeSync } from "node:fs";
import type { Effects } from "../../faces/inbox.ts";
import { PostgresInbox } from "../../faces/inbox-postgres.ts";
import type { JournalEntry } from "../driver/leases.ts";

type Methods = Record<string, (...given: never[]) => Promise<unknown>>;

/**
 * Records this process's calls to its inbox and their results. All processes append to the same file. Writes are
 * synchronous because the process may be killed or frozen right afterwards.
 */
export function keepJournal(file: string, pid: number): void {
  const journal = openSync(file, "a");
  const note = (entry: Omit<JournalEntry, "pid">) =>
    writeSync(journal, `${JSON.stringify({ pid, ...entry })}\n`);
  const inbox: Methods = PostgresInbox.prototype as never;
  around(inbox, "claim", {
    after: (_given, claims) => {
      for (const { id, lane, fence } of claims as Claimed[])
        note({ what: "claim", id, lane, fence });
    },
  });
  // An end can also record the result of a step.
  const noteEnd = (claim: unknown, effects: unknown, held: boolean) => {
    const { result } = (effects ?? {}) as Partial<Effects>;
    if (result !== undefined) note({ what: "record", ...partsOf(claim), step: result.step });
    note({ what: "end", ...partsOf(claim), held });
  };
  around(inbox, "complete", {
    after: ([claim, effects], held) => noteEnd(claim, effects, held === true),
  });
  around(inbox, "bury", {
    after: ([claim, , effects], held) => noteEnd(claim, effects, held === true),
  });
  around(inbox, "advance", {
    after: ([claim, effects], result) => {
      const { held, next } = result as { held: boolean; next?: Claimed };
      noteEnd(claim, effects, held);
      if (next !== undefined) note({ what: "claim", ...partsOf(next) });
    },
  });
  for (const method of ["beginStep", "restartStep"]) {
    around(inbox, method, {
      before: ([claim, step, request]) =>
        note({ what: "intend", ...partsOf(claim), step: String(step), request: String(request) }),
      after: ([claim, step], begun) => {
        if (isNew(begun)) return;
        note({ what: "record", ...partsOf(claim), step: String(step) });
      },
    });
  }
  for (const method of ["finishStep", "reconcileStep", "dropStep"]) {
    around(inbox, method, {
      after: ([claim, step]) => note({ what: "record", ...partsOf(claim), step: String(step) }),
    });
  }
  around(inbox, "heal", {
    after: (_given, lanes) => note({ what: "heal", lanes: Number(lanes) }),
  });
}

function isNew(begun: unknown): boolean {
  if (begun === true) return true;
  const { state } = (begun ?? {}) as { readonly state?: string };
  return state === "new" || state === "absent";
}

interface Claimed {
  readonly id: string;
  readonly lane: string;
  readonly fence: number;
}

function partsOf(claim: unknown): Claimed {
  const { id, lane, fence } = claim as Claimed;
  return { id, lane, fence };
}

function around(
  methods: Methods,
  name: string,
  watch: {
    readonly before?: (given: readonly unknown[]) => void;
    readonly after?: (given: readonly unknown[], result: unknown) => void;
  },
): void {
  const real = methods[name];
  if (real === undefined) throw new Error(`the inbox has no ${name}`);
  methods[name] = async function watched(this: PostgresInbox, ...given) {
    watch.before?.(given);
    const result = await real.apply(this, given);
    watch.after?.(given, result);
    return result;
  };
}

export function limitDatabaseTime(timeoutMs: number): void {
  const { open } = PostgresInbox;
  PostgresInbox.open = (options) => open.call(PostgresInbox, { ...options, timeoutMs });
}
