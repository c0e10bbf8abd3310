import type { PostgresInbox } from "../../faces/inbox-postgres.ts";

export interface WakeUpsSeen {
  readonly calls: number;
  /** Resolves once there were so many. */
  reached(n: number): Promise<void>;
}

/** Counts how often an inbox says that there may be something to do, and lets a test wait for it. */
export function wakeUpsOf(inbox: PostgresInbox): WakeUpsSeen {
  let calls = 0;
  const waiting = new Set<() => void>();
  inbox.onReady(() => {
    calls += 1;
    for (const look of waiting) look();
  });
  return {
    get calls() {
      return calls;
    },
    reached: (n) =>
      new Promise<void>((resolve) => {
        const look = () => calls >= n && resolve();
        waiting.add(look);
        look();
      }),
  };
}
