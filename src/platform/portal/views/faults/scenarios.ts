import type { FaultsChange, FaultsState } from "../../../types.ts";
import { span } from "../../parts/duration.ts";
import type { FieldSpec } from "../../parts/fields.tsx";
import type { Values } from "../../parts/values.ts";

export type Target = "webhook" | "api" | "events";

export const targets: readonly Target[] = ["webhook", "api", "events"];

export interface Scenario {
  readonly title: string;
  /** The bot's reaction (docs/internals/guarantees.md). */
  readonly bot: string;
  readonly key?: string;
  /** The user can edit the fields before setting the fault. */
  readonly change: FaultsChange;
}

export const deliveries: readonly Scenario[] = [
  {
    // This shortcut works in every view.
    key: "f",
    title: "The next delivery fails",
    bot: "The platform retries the delivery after about 30 s, or the bot reads the events by polling.",
    change: { webhook: { mode: "status", status: 500, times: 1 } },
  },
  {
    key: "t",
    title: "The next delivery times out",
    bot: "The platform retries the delivery. The bot handles each event once.",
    change: { webhook: { mode: "timeout", times: 1 } },
  },
  {
    key: "x",
    title: "The webhook breaks",
    bot: "Each delivery fails. After 20 failures in a row, the platform disables the webhook, and the bot polls instead.",
    change: { webhook: { mode: "status", status: 500 } },
  },
  {
    key: "b",
    title: "Deliveries arrive twice",
    bot: "The bot recognizes duplicates and replies to each message once.",
    change: { webhook: { mode: "twice" } },
  },
  {
    key: "u",
    title: "Events arrive out of order",
    bot: "The bot orders a conversation's events by id. For a late event, ctx.late is true.",
    change: { webhook: { mode: "shuffle" } },
  },
  {
    title: "Deliveries are late",
    bot: "Later events wait too. A bot that gets no deliveries polls the event log.",
    change: { webhook: { mode: "delay", delayMs: 5_000 } },
  },
  {
    title: "Deliveries are dropped",
    bot: "The platform retries the delivery, or the bot reads the events from the event log.",
    change: { webhook: { mode: "drop" } },
  },
  {
    title: "Responses to deliveries are lost",
    bot: "The bot gets the events again, responds with 200 and handles no event twice.",
    change: { webhook: { mode: "lose-answer" } },
  },
  {
    title: "Events enter the log late",
    bot: "Late events appear behind newer ones. The bot rereads the last minute of the log, so it finds them.",
    change: { events: { mode: "late", lateMs: 5_000 } },
  },
  {
    title: "The bot receives its own events",
    bot: "The bot recognizes its own events and runs no handler.",
    change: { events: { mode: "own" } },
  },
  {
    title: "Events lack optional fields",
    bot: "Events lack excerpt, postId, another optional field or all of them, in rotation. Handlers must work without them.",
    change: { events: { mode: "sparse" } },
  },
];

export const requests: readonly Scenario[] = [
  {
    key: "y",
    title: "API requests fail at random",
    bot: "Requests get 429, 500, 503 or a connection reset. The bot retries until it has sent each message, and sends none twice.",
    change: { api: { mode: "mix", match: "all", rate: 0.3 } },
  },
  {
    key: "z",
    title: "The API is slow",
    bot: "Handlers wait for their requests. Other conversations continue.",
    change: { api: { mode: "slow", match: "all", delayMs: 3_000 } },
  },
  {
    key: "h",
    title: "The API does not respond",
    bot: "The bot gives up at its deadline, postpones the event, and checks whether a write succeeded before it repeats the write.",
    change: { api: { mode: "hold", match: "all" } },
  },
  {
    key: "g",
    title: "The next API requests are refused",
    bot: "After 429, 502, 503 or 504, the bot waits and retries without counting an attempt.",
    change: { api: { mode: "status", status: 429, retryAfterSeconds: 2, match: "all", times: 3 } },
  },
  {
    key: "l",
    title: "The response to the next write is lost",
    bot: "The bot does not know whether the write succeeded. It searches for its message before it sends it again.",
    change: { api: { mode: "lose-answer", match: "write", times: 1 } },
  },
  {
    title: "A gateway fails after the next write",
    bot: "The platform executes the write. The bot searches for its message before it sends it again.",
    change: {
      api: { mode: "gateway", status: 502, retryAfterSeconds: undefined, match: "write", times: 1 },
    },
  },
];

export const noFaults: FaultsChange = {
  webhook: { mode: "none" },
  api: { mode: "none" },
  events: { mode: "none" },
};

type FieldName = "status" | "delayMs" | "lateMs" | "retryAfterSeconds" | "match" | "times" | "rate";

type Fault = { readonly mode: string } & {
  readonly [K in FieldName]?: number | string | undefined;
};

interface FaultField extends Omit<FieldSpec, "name" | "value"> {
  readonly text: (value: number | string) => string;
}

const delay: FaultField = {
  label: "Delay, ms",
  kind: "number",
  min: 1,
  max: 86_400_000,
  required: true,
  text: (ms) => span(Number(ms)),
};

const matches = [
  { value: "all", label: "all" },
  { value: "write", label: "writes only" },
];

const fields: Readonly<Record<FieldName, FaultField>> = {
  status: {
    label: "Status",
    kind: "number",
    min: 300,
    max: 599,
    required: true,
    text: (status) => `status ${status}`,
  },
  delayMs: delay,
  lateMs: delay,
  retryAfterSeconds: {
    label: "Retry-After, s",
    kind: "number",
    min: 0,
    max: 86_400,
    placeholder: "none",
    text: (seconds) => `Retry-After ${seconds} s`,
  },
  match: {
    label: "Requests",
    kind: "select",
    text: (match) => (match === "write" ? "writes only" : ""),
  },
  times: {
    label: "How many",
    kind: "number",
    min: 1,
    max: 1_000_000,
    placeholder: "no end",
    text: (times) => `${times} left`,
  },
  rate: {
    label: "Share, %",
    kind: "number",
    min: 0.1,
    max: 100,
    step: "any",
    placeholder: "all",
    text: (rate) => `${percent(Number(rate))} % of them`,
  },
};

function percent(rate: number): number {
  return Math.round(rate * 1_000) / 10;
}

function faultOf({ change }: Scenario): { readonly target: Target; readonly fault: Fault } {
  const [target = "webhook"] = targets.filter((name) => change[name] !== undefined);
  return { target, fault: change[target] ?? { mode: "none" } };
}

function namesOf({ mode: _, ...fault }: Fault): readonly FieldName[] {
  const names = new Set([...Object.keys(fault), "times", "rate"]);
  return (Object.keys(fields) as FieldName[]).filter((name) => names.has(name));
}

export function fieldsOf(scenario: Scenario): readonly FieldSpec[] {
  const { fault } = faultOf(scenario);
  return namesOf(fault).map((name) => {
    const { text: _, ...spec } = fields[name];
    const value = fault[name];
    if (name === "match") {
      // The first option is the default.
      return { ...spec, name, options: value === "write" ? matches.toReversed() : matches };
    }
    const shown = name === "rate" && value !== undefined ? percent(Number(value)) : value;
    return { ...spec, name, value: String(shown ?? "") };
  });
}

/** Converts form values to a fault change. Drops empty fields. */
export function changeOf(scenario: Scenario, values: Values): FaultsChange {
  const { target, fault } = faultOf(scenario);
  const given = namesOf(fault).flatMap((name): [string, number | string][] => {
    const text = values.text(name);
    if (text === "") return [];
    if (name === "match") return [[name, text]];
    return [[name, Number(text) / (name === "rate" ? 100 : 1)]];
  });
  // The fields belong to the target, but the type cannot express this.
  return { [target]: { mode: fault.mode, ...Object.fromEntries(given) } } as FaultsChange;
}

/** The scenario and the fault must either both set `times` or both omit it. */
export function isActive(scenario: Scenario, faults: FaultsState): boolean {
  const { target, fault } = faultOf(scenario);
  const { mode, times } = faults[target];
  return mode === fault.mode && (times === undefined) === (fault.times === undefined);
}

export function endOf(scenario: Scenario): FaultsChange {
  return { [faultOf(scenario).target]: { mode: "none" } };
}

export function activeFault(target: Target, faults: FaultsState): string | undefined {
  const now: Fault = faults[target];
  const sameMode = [...deliveries, ...requests].filter((scenario) => {
    const own = faultOf(scenario);
    return own.target === target && own.fault.mode === now.mode;
  });
  const scenario = sameMode.find((each) => isActive(each, faults)) ?? sameMode[0];
  if (scenario === undefined) return undefined;
  const details = namesOf(faultOf(scenario).fault).map((name) => {
    const value = now[name];
    return value === undefined ? "" : fields[name].text(value);
  });
  const end = now.times === undefined ? "until stopped" : "";
  return `${scenario.title}: ${[...details, end].filter(Boolean).join(", ")}`;
}

/** Counts held requests and late events, even after the fault has ended. */
export function describeHeld(target: Target, faults: FaultsState): string | undefined {
  const held = target === "webhook" ? 0 : faults[target].held;
  if (held === 0) return undefined;
  return target === "events" ? `Events not in the log yet: ${held}` : `Held requests: ${held}`;
}
