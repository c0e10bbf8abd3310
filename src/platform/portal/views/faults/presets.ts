import type { FaultsChange } from "../../../types.ts";

export interface Preset {
  readonly key: string;
  readonly label: string;
  readonly change: FaultsChange;
  /** What is said when it is set. */
  readonly said: string;
}

/** What is often tried. The first one is a key of every view, and is listed there. */
export const presets: readonly Preset[] = [
  {
    key: "f",
    label: "Next delivery fails",
    change: { webhook: { mode: "status", times: 1 } },
    said: "The next delivery will fail.",
  },
  {
    key: "t",
    label: "Next delivery times out",
    change: { webhook: { mode: "timeout", times: 1 } },
    said: "The next delivery will time out.",
  },
  {
    key: "b",
    label: "Every delivery twice",
    change: { webhook: { mode: "twice" } },
    said: "Every delivery is sent twice.",
  },
  {
    key: "u",
    label: "Shuffle every delivery",
    change: { webhook: { mode: "shuffle" } },
    said: "Events of a delivery are in random order.",
  },
  {
    key: "g",
    label: "API 429 for the next 3",
    change: { api: { mode: "status", status: 429, retryAfterSeconds: 2, times: 3 } },
    said: "The next 3 requests are answered with 429.",
  },
  {
    key: "y",
    label: "API flaky at 30 %",
    change: { api: { mode: "mix", rate: 0.3 } },
    said: "30 % of the requests go wrong.",
  },
];

/** The end of every fault. */
export const nothingWrong: FaultsChange = {
  webhook: { mode: "none" },
  api: { mode: "none" },
  events: { mode: "none" },
};
