import type { PostgresInbox } from "../../faces/inbox-postgres.ts";

export interface WakeUpsSeen {
  readonly calls: number;
  reached(n: number): Promise<void>;
}

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
