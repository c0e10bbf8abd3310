import type { FaultsChange } from "../../../types.ts";

/** The three kinds of faults. */
export type Target = "webhook" | "api" | "events";
export const targets: readonly Target[] = ["webhook", "api", "events"];

type ModeOf<T extends Target> = Exclude<NonNullable<FaultsChange[T]>["mode"], "none">;
export type Mode = { [T in Target]: ModeOf<T> }[Target];

export interface ModeInfo<M extends string = Mode> {
  readonly value: M;
  readonly label: string;
  /** What happens, and what the bot should make of it (docs/guarantees.md). */
  readonly bot: string;
  /** Which of the fields it has besides how many. */
  readonly fields?: readonly ("status" | "delay" | "retryAfter")[];
}

const webhook: readonly ModeInfo<ModeOf<"webhook">>[] = [
  {
    value: "status",
    label: "fails with a status",
    fields: ["status"],
    bot: "The bot sees nothing of it; the events come again in about 30 s, or are read from the log before.",
  },
  {
    value: "timeout",
    label: "times out",
    bot: "As if the bot were too slow: the events come again, and it handles each of them once.",
  },
  {
    value: "drop",
    label: "is dropped",
    bot: "As if the network were gone: the events come again, or are read from the log.",
  },
  {
    value: "lose-answer",
    label: "arrives, and its answer is lost",
    bot: "The bot has the events and gets them again: it answers with 200 and handles none of them twice.",
  },
  {
    value: "twice",
    label: "arrives twice",
    bot: "The second one is a repeat: the bot takes it with 200, and answers each message once.",
  },
  {
    value: "shuffle",
    label: "has its events in random order",
    bot: "In a conversation the bot goes by the order of the ids; what comes too late has ctx.late set.",
  },
  {
    value: "delay",
    label: "is late",
    fields: ["delay"],
    bot: "What happens meanwhile waits, too; a bot that misses events for long reads the log instead.",
  },
];

const api: readonly ModeInfo<ModeOf<"api">>[] = [
  {
    value: "status",
    label: "answered with a status",
    fields: ["status", "retryAfter"],
    bot: "With 429, 502, 503 and 504 the bot waits as told and tries again, without counting an attempt.",
  },
  {
    value: "lose-answer",
    label: "executed, then reset",
    bot: "The bot cannot know what came of it: before it sends again it looks whether its message is there.",
  },
  {
    value: "gateway",
    label: "executed, then a gateway's status",
    fields: ["status", "retryAfter"],
    bot: "A gateway's page says nothing about the platform: before the bot sends again it looks whether its message is there.",
  },
  {
    value: "mix",
    label: "429, 500, 503 or reset, at random",
    bot: "Everything is said in the end, and nothing twice.",
  },
  {
    value: "slow",
    label: "slow",
    fields: ["delay"],
    bot: "Handlers wait for their requests. Other conversations go on meanwhile.",
  },
  {
    value: "hold",
    label: "held until this ends",
    bot: "Requests have a deadline: the bot gives up on one, puts the event off, and looks before it repeats.",
  },
];

const events: readonly ModeInfo<ModeOf<"events">>[] = [
  {
    value: "late",
    label: "are in the log late, below newer ones",
    fields: ["delay"],
    bot: "The bot keeps its cursor about a minute behind, so the next read of the log still finds them.",
  },
  {
    value: "own",
    label: "are also of what the bot writes itself",
    bot: "The bot knows its own name: such an event is done without a handler and without an answer.",
  },
  {
    value: "sparse",
    label: "lack optional fields",
    bot: "By turns excerpt, postId, commentId and all three are missing: handlers must do without.",
  },
];

/** What can go wrong, by what it goes wrong with; the first one is what is chosen at first. */
export const modes: Readonly<Record<Target, readonly ModeInfo[]>> = { webhook, api, events };

export const targetTitles: Readonly<Record<Target, string>> = {
  webhook: "Deliveries",
  api: "API requests",
  events: "Events",
};
