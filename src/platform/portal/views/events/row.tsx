import { go } from "../../live/route.ts";
import { clockOffset, ticking } from "../../live/second.ts";
import { Avatar, Time } from "../../parts/bits.tsx";
import { duration } from "../../parts/duration.ts";
import { Icon } from "../../parts/icon.tsx";
import {
  actOf,
  answerOf,
  callOf,
  changeOf,
  isTrouble,
  type OutcomeLabel,
  outcomeOf,
  SLOW_MS,
} from "./outcomes.ts";
import { Exchange } from "./records.tsx";
import { overview } from "./store.ts";
import { type Calls, keyOfEvent, type Thing } from "./stories.ts";
import { Trace } from "./trace.tsx";

export interface RowProps {
  readonly thing: Thing;
  readonly isOpen: boolean;
  /** Opens the event next to its conversation, with a brief trace. Default: navigates to the row's URL. */
  readonly onOpen?: (id: string) => void;
}

export function Row({ thing, isOpen, onOpen }: RowProps) {
  if (thing.kind === "change") {
    const { entry } = thing;
    const isOff = entry.kind === "webhook" && entry.change === "disabled";
    return (
      <li class="event-change">
        <span class={isOff ? "bad" : "hint"}>{changeOf(thing)}</span> <Time at={entry.at} />
      </li>
    );
  }
  const isEvent = thing.kind === "event";
  const { at, bot = "?" } = isEvent ? thing.event : { ...thing.call, at: thing.lastAt };
  const key = isEvent ? keyOfEvent(thing.event) : thing.call.id;
  return (
    <li class={isOpen ? "event open" : "event"}>
      <button
        type="button"
        class="event-row"
        aria-expanded={isOpen}
        onClick={() => (onOpen === undefined ? go("events", isOpen ? "" : key) : onOpen(key))}
      >
        <Avatar username={isEvent ? thing.event.from : bot} isBot={!isEvent} />
        {isEvent ? (
          <span class="event-what">
            <strong>@{thing.event.from}</strong> {actOf(thing.event)}
          </span>
        ) : (
          <span class="event-what mono">{callOf(thing)}</span>
        )}
        <OutcomeText outcome={isEvent ? outcomeOf(thing, overview.value) : outcomeOfCalls(thing)} />
        <Time at={at} />
      </button>
      {isOpen &&
        (isEvent ? <Trace id={key} isBrief={onOpen !== undefined} /> : <RowDetail id={key} />)}
    </li>
  );
}

function RowDetail({ id }: { readonly id: string }) {
  return (
    <div class="trace">
      <Exchange id={id} />
    </div>
  );
}

function outcomeOfCalls(calls: Calls): OutcomeLabel {
  const times = calls.count > 1 ? ` · ${calls.count} times` : "";
  const tone = isTrouble(calls, overview.value) ? "bad" : "plain";
  return { tone, text: answerOf(calls.call).text + times };
}

function OutcomeText({ outcome }: { readonly outcome: OutcomeLabel }) {
  const { tone, text, since } = outcome;
  return (
    <span class={`event-outcome ${tone}`}>
      {tone === "bad" && <Icon name="alert" />}{" "}
      <span>
        {text}
        {since !== undefined && <Elapsed since={since} />}
      </span>
    </span>
  );
}

/** Renders " for 12 s", or nothing for a short time. */
function Elapsed({ since }: { readonly since: string }) {
  const ms = ticking.value + clockOffset.value - Date.parse(since);
  return <>{ms >= SLOW_MS && ` for ${duration(ms)}`}</>;
}
