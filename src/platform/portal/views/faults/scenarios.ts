import type { FaultsChange, FaultsState } from "../../../types.ts";

/** A fault that is often tried. */
export interface Scenario {
  readonly title: string;
  /** What the bot does then (docs/guarantees.md). */
  readonly bot: string;
  readonly change: FaultsChange;
  /** Key in the Faults view. */
  readonly key?: string;
}

/** The first one has a key in every view. */
export const scenarios: readonly Scenario[] = [
  {
    key: "f",
    title: "The next delivery fails",
    bot: "It is sent again after about 30 s, or the bot reads the event by polling.",
    change: { webhook: { mode: "status", times: 1 } },
  },
  {
    key: "t",
    title: "The next delivery times out",
    bot: "It is sent again, and the bot handles the event once.",
    change: { webhook: { mode: "timeout", times: 1 } },
  },
  {
    key: "x",
    title: "The webhook breaks",
    bot: "Each delivery fails. After 20 failures in a row the platform disables the webhook. The bot polls.",
    change: { webhook: { mode: "status" } },
  },
  {
    key: "b",
    title: "The platform repeats itself",
    bot: "Each delivery arrives twice. The bot recognises repeats and answers once.",
    change: { webhook: { mode: "twice" } },
  },
  {
    key: "u",
    title: "Events arrive out of order",
    bot: "In a conversation the bot goes by the ids. An event that comes too late has ctx.late.",
    change: { webhook: { mode: "shuffle" } },
  },
  {
    key: "y",
    title: "The API is flaky",
    bot: "30 % of the requests fail. Everything is said in the end, and nothing twice.",
    change: { api: { mode: "mix", rate: 0.3 } },
  },
  {
    key: "z",
    title: "The API is slow",
    bot: "Each request takes 3 s longer. Other conversations go on meanwhile.",
    change: { api: { mode: "slow", delayMs: 3_000 } },
  },
  {
    key: "h",
    title: "The API does not answer",
    bot: "Requests hang. The bot gives up after its deadline, puts the event off, and looks before it repeats.",
    change: { api: { mode: "hold" } },
  },
  {
    key: "g",
    title: "The API refuses the next 3 requests with 429",
    bot: "The bot waits as told, and counts no attempt.",
    change: { api: { mode: "status", status: 429, retryAfterSeconds: 2, times: 3 } },
  },
  {
    key: "l",
    title: "The answer to the next write is lost",
    bot: "The bot cannot know the result. It looks for its message before it sends again.",
    change: { api: { mode: "lose-answer", match: "write", times: 1 } },
  },
];

/** True while the fault of a scenario is set. */
export function isActive({ change }: Scenario, faults: FaultsState): boolean {
  const parts = [
    [change.webhook, faults.webhook],
    [change.api, faults.api],
    [change.events, faults.events],
  ] as const;
  return parts.every(([wanted, now]) => {
    if (wanted === undefined) return true;
    return wanted.mode === now.mode && (wanted.times === undefined) === (now.times === undefined);
  });
}

/** The end of a scenario's fault. */
export function endOf({ change }: Scenario): FaultsChange {
  return Object.fromEntries(Object.keys(change).map((target) => [target, { mode: "none" }]));
}

/** The end of every fault. */
export const nothingWrong: FaultsChange = {
  webhook: { mode: "none" },
  api: { mode: "none" },
  events: { mode: "none" },
};
