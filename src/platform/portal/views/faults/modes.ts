import type { FaultsChange, FaultsState } from "../../../types.ts";
import { span } from "../../parts/duration.ts";
import type { FieldSpec } from "../../parts/fields.tsx";
import type { Values } from "../../parts/values.ts";

/** Parts of the platform that can fail. */
export type Target = "webhook" | "api" | "events";

export const targetTitles: Readonly<Record<Target, string>> = {
  webhook: "Deliveries",
  api: "API requests",
  events: "Events",
};

export const targets: readonly Target[] = ["webhook", "api", "events"];

type ModeOf<T extends Target> = Exclude<NonNullable<FaultsChange[T]>["mode"], "none">;

export interface ModeInfo<M extends string = string> {
  readonly mode: M;
  /** Predicate of the part: "Deliveries time out". */
  readonly label: string;
  /** Reaction of the bot (docs/guarantees.md). */
  readonly bot: string;
  /** Fields besides those that every mode has. */
  readonly fields?: readonly FieldSpec[];
}

const status = (value: string): FieldSpec => {
  return { name: "status", label: "Status", kind: "number", min: 300, max: 599, value };
};

const retryAfter: FieldSpec = {
  ...{ name: "retryAfterSeconds", label: "Retry-After, s", kind: "number" },
  ...{ min: 0, max: 86_400, placeholder: "none" },
};

const delay = (name: "delayMs" | "lateMs"): FieldSpec => {
  const range = { min: 1, max: 86_400_000, required: true };
  return { name, label: "Delay, ms", kind: "number", value: "3000", ...range };
};

const match: FieldSpec = {
  ...{ name: "match", label: "Requests", kind: "select" },
  options: [
    { value: "all", label: "all" },
    { value: "write", label: "writes only" },
  ],
};

const webhook: readonly ModeInfo<ModeOf<"webhook">>[] = [
  {
    mode: "status",
    label: "fail",
    fields: [status("500")],
    bot: "The platform sends the events again after about 30 s, or the bot reads them by polling.",
  },
  {
    mode: "timeout",
    label: "time out",
    bot: "The platform sends the events again. The bot handles each event once.",
  },
  {
    mode: "drop",
    label: "are dropped",
    bot: "The platform sends the events again, or the bot reads them from the event log.",
  },
  {
    mode: "lose-answer",
    label: "arrive, but their answers are lost",
    bot: "The bot gets the events again, answers with 200 and handles no event twice.",
  },
  {
    mode: "twice",
    label: "arrive twice",
    bot: "The bot recognises repeats and answers each message once.",
  },
  {
    mode: "shuffle",
    label: "arrive out of order",
    bot: "In a conversation the bot goes by the ids. An event that comes too late has ctx.late.",
  },
  {
    mode: "delay",
    label: "are late",
    fields: [delay("delayMs")],
    bot: "Later events wait, too. A bot that gets no deliveries for long reads the event log instead.",
  },
];

const api: readonly ModeInfo<ModeOf<"api">>[] = [
  {
    mode: "status",
    label: "are refused",
    fields: [status("503"), retryAfter, match],
    bot: "After 429, 502, 503 and 504 the bot waits and tries again, without counting an attempt.",
  },
  {
    mode: "lose-answer",
    label: "are executed, but their answers are lost",
    fields: [match],
    bot: "The bot cannot know the result. It looks for its message before it sends again.",
  },
  {
    mode: "gateway",
    label: "are executed, but a gateway answers with an error",
    fields: [status("503"), retryAfter, match],
    bot: "The bot cannot know the result. It looks for its message before it sends again.",
  },
  {
    mode: "mix",
    label: "fail at random with 429, 500, 503 or a reset",
    fields: [match],
    bot: "The bot retries until each message is sent, and sends none twice.",
  },
  {
    mode: "slow",
    label: "are slow",
    fields: [delay("delayMs"), match],
    bot: "Handlers wait for their requests. Other conversations go on meanwhile.",
  },
  {
    mode: "hold",
    label: "hang",
    fields: [match],
    bot: "The bot gives up after its deadline, postpones the event, and looks before it repeats.",
  },
];

const events: readonly ModeInfo<ModeOf<"events">>[] = [
  {
    mode: "late",
    label: "enter the event log late, below newer events",
    fields: [delay("lateMs")],
    bot: "The bot keeps its cursor about a minute behind, so the next read of the log finds them.",
  },
  {
    mode: "own",
    label: "include those of the bot itself",
    bot: "The bot knows its own name. It passes over such an event without a handler.",
  },
  {
    mode: "sparse",
    label: "lack optional fields",
    bot: "By turns excerpt, postId, commentId and all three are missing. Handlers must do without.",
  },
];

/** Faults of each part. The first one is the default of the form. */
export const modes: Readonly<Record<Target, readonly ModeInfo[]>> = { webhook, api, events };

const times: FieldSpec = {
  ...{ name: "times", label: "How many", kind: "number", value: "1" },
  ...{ min: 1, max: 1_000_000, placeholder: "no end" },
};

const share: FieldSpec = {
  ...{ name: "share", label: "Share, %", kind: "number", placeholder: "all" },
  ...{ min: 0.1, max: 100, step: "any" },
};

/** Lists the fields of a fault. */
export function fieldsOf({ fields = [] }: ModeInfo): readonly FieldSpec[] {
  return [...fields, times, share];
}

/** Converts a form into a change of the platform. Empty fields are left out. */
export function changeOf(target: Target, info: ModeInfo, values: Values): FaultsChange {
  const given = fieldsOf(info).flatMap(({ name, kind }) => {
    const text = values.text(name);
    if (text === "") return [];
    if (name === "share") return [["rate", Number(text) / 100]];
    return [[name, kind === "number" ? Number(text) : text]];
  });
  // The modes of a target are those that the platform takes for it.
  return { [target]: { mode: info.mode, ...Object.fromEntries(given) } } as FaultsChange;
}

/** Describes the fault of a part, with its details. `undefined` without a fault. */
export function activeFault(target: Target, faults: FaultsState): string | undefined {
  const fault: FaultValues = faults[target];
  const info = modes[target].find(({ mode }) => mode === fault.mode);
  if (info === undefined) return undefined;
  const details = [
    ...(info.fields ?? []).map(({ name }) => texts[name]?.(fault)),
    fault.rate && `${Math.round(fault.rate * 1_000) / 10} % of them`,
    fault.times === undefined ? "until stopped" : `${fault.times} left`,
  ];
  return `${info.label}: ${details.filter(Boolean).join(", ")}`;
}

/** Fields of a fault of any part. */
interface FaultValues {
  readonly mode: string;
  readonly status?: number;
  readonly delayMs?: number;
  readonly lateMs?: number;
  readonly match?: string;
  readonly retryAfterSeconds?: number | undefined;
  readonly rate?: number | undefined;
  readonly times?: number | undefined;
}

const texts: Readonly<Record<string, (fault: FaultValues) => string | undefined>> = {
  status: (fault) => `status ${fault.status}`,
  delayMs: ({ delayMs = 0 }) => `by ${span(delayMs)}`,
  lateMs: ({ lateMs = 0 }) => `by ${span(lateMs)}`,
  match: (fault) => (fault.match === "write" ? "writes only" : undefined),
  retryAfterSeconds: ({ retryAfterSeconds: wait }) => {
    return wait === undefined ? undefined : `Retry-After ${wait} s`;
  },
};

/** Counts the requests or events that a fault holds back, even after its end. `undefined` without any. */
export function heldBack(target: Target, faults: FaultsState): string | undefined {
  const held = target === "webhook" ? 0 : faults[target].held;
  if (held === 0) return undefined;
  return target === "events" ? `${held} not in the log yet` : `${held} held until you stop it`;
}
