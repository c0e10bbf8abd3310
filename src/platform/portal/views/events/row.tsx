import { go } from "../../live/route.ts";
import { Avatar, Time } from "../../parts/bits.tsx";
import { Icon } from "../../parts/icon.tsx";
import { CallItem } from "./items.tsx";
import { overview } from "./store.ts";
import {
  actOf,
  answerOf,
  type Calls,
  type Change,
  callOf,
  changeOf,
  isTrouble,
  type Outcome,
  outcomeOf,
  type Story,
  type Thing,
} from "./stories.ts";
import { Trace } from "./trace.tsx";

export interface RowProps {
  readonly thing: Thing;
  readonly isOpen: boolean;
}

/** A thing of the list. An event and a failed request open below their row. */
export function Row({ thing, isOpen }: RowProps) {
  if (thing.kind === "change") return <ChangeRow change={thing} />;
  const isEvent = thing.kind === "event";
  const id = isEvent ? thing.event.id : thing.call.id;
  return (
    <li id={`row-${id}`} class={isOpen ? "event open" : "event"}>
      <button
        type="button"
        class="event-row"
        aria-expanded={isOpen}
        onClick={() => go("events", isOpen ? "" : id)}
      >
        {isEvent ? <EventCells story={thing} /> : <CallCells calls={thing} />}
      </button>
      {isOpen && (isEvent ? <Trace id={id} /> : <CallItem call={thing.call} isOpen />)}
    </li>
  );
}

function EventCells({ story }: { readonly story: Story }) {
  const { event } = story;
  return (
    <>
      <Avatar username={event.from} />
      <span class="event-what">
        <strong>@{event.from}</strong> {actOf(event)}
      </span>
      <OutcomeCell outcome={outcomeOf(story, overview.value)} />
      <Time at={event.at} />
    </>
  );
}

function CallCells({ calls }: { readonly calls: Calls }) {
  const { call, count, lastAt } = calls;
  const { text } = answerOf(call);
  const tone = isTrouble(calls, overview.value) ? "bad" : "plain";
  const times = count > 1 ? ` · ${count} times` : "";
  return (
    <>
      <Avatar username={call.bot ?? "?"} isBot />
      <span class="event-what mono">{callOf(calls)}</span>
      <OutcomeCell outcome={{ tone, text: text + times }} />
      <Time at={lastAt} />
    </>
  );
}

function OutcomeCell({ outcome: { tone, text } }: { readonly outcome: Outcome }) {
  return (
    <span class={`event-outcome ${tone}`}>
      {tone === "bad" && <Icon name="alert" />} <span>{text}</span>
    </span>
  );
}

function ChangeRow({ change }: { readonly change: Change }) {
  const tone = isTrouble(change, overview.value) ? "bad" : "hint";
  return (
    <li class="event-change">
      <span class={tone}>{changeOf(change)}</span> <Time at={change.entry.at} />
    </li>
  );
}

/** One line for all polls that found nothing. */
export function IdleLine() {
  const { idle } = overview.value;
  if (idle === undefined) return null;
  return (
    <p class="hint">
      Polling: {idle.count} {idle.count === 1 ? "request" : "requests"} found nothing new, the last{" "}
      <Time at={idle.lastAt} />.
    </p>
  );
}
