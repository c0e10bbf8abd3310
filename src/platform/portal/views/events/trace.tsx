import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { EntryOf, EventTrace } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { addressOf } from "../../live/route.ts";
import { useLive } from "../../live/use-live.ts";
import { Code, Loaded, Until } from "../../parts/bits.tsx";
import { span } from "../../parts/duration.ts";
import { Decisions, Uses } from "./actions.tsx";
import { answerOf, type OutcomeLabel } from "./outcomes.ts";
import { Exchange, FailedDelivery } from "./records.tsx";
import { ownFrames } from "./stack.ts";
import { overview } from "./store.ts";
import {
  codeOf,
  endOf,
  errorIn,
  findHeldRequest,
  isOwn,
  isTaken,
  keyOfEvent,
  type Part,
  type PlacedStep,
  readKey,
  textOfStep,
  withSteps,
} from "./stories.ts";

interface TraceProps {
  readonly id: string;
  /** Hides the payload, and all buttons except those for a dead letter. */
  readonly isBrief?: boolean;
}

export function Trace({ id, isBrief = false }: TraceProps) {
  const { id: eventId, bot } = readKey(id);
  const live = useLive(() => control.event(eventId, bot), {
    key: id,
    concerns: ({ kind }) => kind === "state",
  });
  return (
    <div class="trace">
      <Loaded live={live}>
        {(detail) => <Parts event={detail.event} bot={detail.bot} isBrief={isBrief} />}
      </Loaded>
    </div>
  );
}

interface PartsProps extends Pick<EventTrace, "event" | "bot"> {
  readonly isBrief: boolean;
}

function Parts({ event, bot, isBrief }: PartsProps) {
  const key = keyOfEvent({ bot, id: event.id });
  const parts = overview.value.stories.get(key)?.parts ?? [];
  const end = endOf(parts);
  const isDead = end?.kind === "run" && end.outcome === "dead";
  return (
    <>
      <p class="hint">
        <code>{event.type}</code>{" "}
        <a href={addressOf("events", key)}>
          <code>{event.id}</code>
        </a>{" "}
        for @{bot}, {new Date(event.createdAt).toLocaleString()}
      </p>
      <Trouble parts={parts} />
      {!isBrief && !isOwn(event.id) && (
        <Uses event={event} bot={bot} parts={parts} canRun={!isDead} />
      )}
      <ol class="parts" aria-label="Deliveries, runs and requests">
        {end?.kind === "run" ? (
          <Steps id={event.id} bot={bot} from={event.createdAt} parts={parts} />
        ) : (
          <Lines lines={parts} parts={parts} from={event.createdAt} />
        )}
        {!isBrief && !isOwn(event.id) && (
          <Line kind="Payload" what={event.type}>
            {() => <Code text={JSON.stringify(event.payload)} label={`Payload of ${event.id}`} />}
          </Line>
        )}
      </ol>
    </>
  );
}

function Trouble({ parts }: { readonly parts: readonly Part[] }) {
  const end = endOf(parts);
  const last = parts.findLast((part) => part.kind === "run" || isTaken(part) !== undefined);
  return (
    <>
      {end?.kind === "run" && end.error !== undefined && <FailedRun run={end} parts={parts} />}
      {last?.kind === "delivery" && last.error !== undefined && (
        <div class="failure">
          <FailedDelivery id={last.id} />
        </div>
      )}
    </>
  );
}

interface FailedRunProps {
  readonly run: EntryOf<"run">;
  readonly parts: readonly Part[];
}

function FailedRun({ run, parts }: FailedRunProps) {
  const { at, eventId, bot, outcome, error, retryInMs } = run;
  const code = error && codeOf(error);
  // A bot sends the stack only with the first of several identical errors.
  const withStack = parts.findLast(
    (part) => part.kind === "run" && part.error?.stack !== undefined,
  );
  const stack = withStack?.kind === "run" ? withStack.error?.stack : undefined;
  return (
    <div class={outcome === "released" ? "note warn" : "failure"}>
      <p>
        <strong>{error?.type}</strong>
        {code !== undefined && <code> {code}</code>}: {error?.message}
      </p>
      {stack !== undefined && outcome !== "released" && <Stack stack={stack} />}
      {retryInMs !== undefined && (
        <p>
          The next attempt is due <Until at={new Date(Date.parse(at) + retryInMs).toISOString()} />.
        </p>
      )}
      {outcome === "dead" && (
        <>
          <p>There are no more attempts. Fix the cause, then retry the event.</p>
          <Decisions eventId={eventId} bot={bot} />
        </>
      )}
    </div>
  );
}

/** Shows the first frames in the bot's own code. The full stack is collapsed. */
function Stack({ stack }: { readonly stack: string }) {
  return (
    <>
      <pre>
        {ownFrames(stack).map(({ before, file, after }) => [
          before,
          <strong key={before + file}>{file}</strong>,
          `${after}\n`,
        ])}
      </pre>
      <details>
        <summary>Stack</summary>
        <pre>{stack}</pre>
      </details>
    </>
  );
}

/** Returns `undefined` for a held request that was released. */
function describe(
  part: Part | PlacedStep,
  parts: readonly Part[],
): Omit<LineProps, "at" | "from"> | undefined {
  switch (part.kind) {
    case "step": {
      const { name, state, request } = part.step;
      const what = (
        <>
          <code>{name}</code> <span class="hint step-text">{textOfStep(request)}</span>
        </>
      );
      const children =
        request === "" ? undefined : () => <Code text={request} label={`Request of ${name}`} />;
      return { kind: "Step", what, result: stepResults[state], children };
    }
    case "delivery": {
      const { id, attempt, forced, eventIds, fault, ms } = part;
      const also = eventIds.length > 1 ? `, ${eventIds.length} events` : "";
      const what = `${forced ? "sent manually" : `attempt ${attempt}`}${also}`;
      const children = () => <Exchange id={id} />;
      return { kind: "Delivery", what, result: answerOf(part), ms, fault, children };
    }
    case "api": {
      const { id, method, path, fault, guessed, ms } = part;
      const children = () => <Exchange id={id} />;
      const what = <code>{`${method} ${path}`}</code>;
      return { kind: "API", what, guessed, result: answerOf(part), ms, fault, children };
    }
    case "run": {
      const { attempt, ms, retryInMs, outcome } = part;
      const error = errorIn(part, parts);
      const next = retryInMs === undefined ? "" : `, next attempt after ${span(retryInMs)}`;
      const why = error === undefined ? "" : `: ${error.type}: ${error.message}`;
      return { kind: "Run", what: `attempt ${attempt}${why}${next}`, result: ends[outcome], ms };
    }
    case "inbox":
      return { kind: "Inbox", what: `event ${part.change}` };
    case "fault":
      if (part !== findHeldRequest(parts)) return undefined;
      return {
        kind: "API",
        what: <code>{part.detail}</code>,
        result: { tone: "warn", text: "waits" },
      };
  }
}

const stepResults: Readonly<Record<PlacedStep["step"]["state"], OutcomeLabel>> = {
  open: { tone: "warn", text: "result unknown" },
  done: { tone: "plain", text: "done" },
};

const ends: Readonly<Record<EntryOf<"run">["outcome"], OutcomeLabel>> = {
  done: { tone: "plain", text: "handled" },
  retry: { tone: "bad", text: "failed" },
  released: { tone: "warn", text: "postponed" },
  dead: { tone: "bad", text: "dead letter" },
};

interface LineProps {
  readonly at?: string;
  /** Time of the event. ISO 8601. */
  readonly from?: string;
  readonly kind: string;
  readonly what: ComponentChildren;
  readonly fault?: string | undefined;
  readonly guessed?: true | undefined;
  readonly result?: OutcomeLabel;
  readonly ms?: number;
  /** Loaded when the line expands. */
  readonly children?: (() => ComponentChildren) | undefined;
}

function Line({ at, from, kind, what, fault, guessed, result, ms, children }: LineProps) {
  const [isOpen, setOpen] = useState(false);
  const cells = (
    <>
      {at === undefined || from === undefined ? <span /> : <Offset at={at} from={from} />}
      <span class="hint">{kind}</span>
      <span class="part-what">
        {what} {fault !== undefined && <span class="badge warn">fault: {fault}</span>}
        {guessed === true && (
          <span class="label" title="The bot did not name the event that caused this request.">
            guessed
          </span>
        )}
      </span>
      <span class={result?.tone}>{result?.text}</span>
      <span class="hint">{ms !== undefined && span(ms)}</span>
    </>
  );
  if (children === undefined) return <li class="part">{cells}</li>;
  return (
    <li>
      <button type="button" class="part" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {cells}
      </button>
      {isOpen && <div class="part-detail">{children()}</div>}
    </li>
  );
}

function Offset({ at, from }: { readonly at: string; readonly from: string }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      +{span(Math.max(Date.parse(at) - Date.parse(from), 0))}
    </time>
  );
}

interface LinesProps {
  readonly lines: readonly (Part | PlacedStep)[];
  readonly parts: readonly Part[];
  /** Time of the event. ISO 8601. */
  readonly from: string;
}

function Lines({ lines, parts, from }: LinesProps) {
  return lines.map((line) => {
    const shown = describe(line, parts);
    const key = line.kind === "step" ? line.step.name : line.seq;
    return shown && <Line key={key} {...shown} at={line.at} from={from} />;
  });
}

interface StepsProps extends Omit<LinesProps, "lines"> {
  readonly id: string;
  readonly bot: string;
}

/** Renders the parts without steps if the bot does not serve its inbox. */
function Steps({ id, bot, ...props }: StepsProps) {
  // The number of parts changes with each new entry, so that the steps reload.
  const key = `${bot} ${id} ${props.parts.length}`;
  const { data } = useLive(() => control.inbox.event(id, bot), { key, concerns: () => false });
  return <Lines lines={withSteps(props.parts, data?.steps ?? [])} {...props} />;
}
