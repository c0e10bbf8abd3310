import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { CallSummary, DeliverySummary, RecordedResponse } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { useLive } from "../../live/use-live.ts";
import { Code, Loaded, Time } from "../../parts/bits.tsx";
import { remedyOf } from "./remedy.ts";
import { answerOf } from "./stories.ts";

interface ItemProps {
  readonly summary: ComponentChildren;
  readonly isOpen?: boolean;
  /** Read once it is opened. */
  readonly children: () => ComponentChildren;
}

/** A part that opens. */
export function Item({ summary, isOpen = false, children }: ItemProps) {
  const [opened, setOpened] = useState(isOpen);
  return (
    <details
      class="item"
      open={isOpen}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open) setOpened(true);
      }}
    >
      <summary>{summary}</summary>
      {opened && children()}
    </details>
  );
}

/** One try to deliver an event. */
export function DeliveryItem({ delivery }: { readonly delivery: DeliverySummary }) {
  const { id, at, attempt, forced, status, ms, fault, error, eventIds } = delivery;
  const { tone, text } = answerOf({ status, ...(error === undefined ? {} : { error }) });
  const remedy = remedyOf(delivery);
  return (
    <li>
      <Item
        summary={
          <>
            <Time at={at} /> <span class="item-kind">Delivery</span>{" "}
            <span class={tone}>{text}</span> in {ms} ms,{" "}
            {forced ? "sent by hand" : `attempt ${attempt}`}
            {eventIds.length > 1 && `, ${eventIds.length} events`}{" "}
            {fault !== undefined && <Fault name={fault} />}
          </>
        }
      >
        {() => <DeliveryRecord id={id} />}
      </Item>
      {error !== undefined && (
        <p class={fault === undefined ? "bad item-note" : "hint item-note"}>
          {error}. {remedy}
        </p>
      )}
    </li>
  );
}

function Fault({ name }: { readonly name: string }) {
  return <span class="badge warn">fault: {name}</span>;
}

/** A record does not change. */
const once = { concerns: () => false } as const;

function DeliveryRecord({ id }: { readonly id: string }) {
  const live = useLive(() => control.delivery(id), { key: id, ...once });
  return (
    <Loaded live={live}>
      {({ request, response }) => (
        <Exchange {...{ id, request, response }} target={`POST ${request?.url ?? ""}`} />
      )}
    </Loaded>
  );
}

interface CallItemProps {
  readonly call: CallSummary;
  readonly isOpen?: boolean;
}

/** A request that the bot made. */
export function CallItem({ call, isOpen = false }: CallItemProps) {
  const { id, at, method, path, ms, fault, guessed } = call;
  const { tone, text } = answerOf(call);
  const Frame = isOpen ? "div" : "li";
  return (
    <Frame>
      <Item
        isOpen={isOpen}
        summary={
          <>
            <Time at={at} /> <span class="item-kind">API</span>{" "}
            <code>
              {method} {path}
            </code>{" "}
            <span class={tone}>{text}</span> in {ms} ms{" "}
            {fault !== undefined && <Fault name={fault} />}
            {guessed === true && (
              <span class="label" title="The bot did not name the event of this request.">
                guessed
              </span>
            )}
          </>
        }
      >
        {() => <CallRecord id={id} method={method} />}
      </Item>
    </Frame>
  );
}

function CallRecord({ id, method }: { readonly id: string; readonly method: string }) {
  const live = useLive(() => control.call(id), { key: id, ...once });
  return (
    <Loaded live={live}>
      {({ request, response }) => (
        <Exchange {...{ id, request, response }} target={`${method} ${request.url}`} />
      )}
    </Loaded>
  );
}

interface Message {
  readonly headers: RecordedResponse["headers"];
  readonly body: string;
  readonly truncated: boolean;
}

interface ExchangeProps {
  /** Names the parts for screen readers. */
  readonly id: string;
  /** Null if nothing was sent. */
  readonly request: Message | null;
  /** Method and address. */
  readonly target: string;
  /** Null without an answer. */
  readonly response: RecordedResponse | null;
}

/** A request and its answer, as they went over the wire. */
export function Exchange({ id, request, target, response }: ExchangeProps) {
  return (
    <div class="stack">
      {request === null ? (
        <p class="hint">No request was sent.</p>
      ) : (
        <>
          <p class="mono">{target}</p>
          <Part {...request} name={`of the request ${id}`} />
        </>
      )}
      {response === null ? (
        <p class="hint">There was no answer.</p>
      ) : (
        <>
          <p class="mono">Answer {response.status}</p>
          <Part {...response} name={`of the answer ${id}`} />
        </>
      )}
    </div>
  );
}

function Part({ headers, body, truncated, name }: Message & { readonly name: string }) {
  const entries = Object.entries(headers);
  return (
    <>
      <details>
        <summary>Headers ({entries.length})</summary>
        <table class="mono" aria-label={`Headers ${name}`}>
          <tbody>
            {entries.map(([header, value]) => (
              <tr key={header}>
                <th scope="row">{header}</th>
                <td>{[value].flat().join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
      {body !== "" && <Code text={body} label={`Body ${name}`} />}
      {truncated && <p class="hint">Only the beginning is kept.</p>}
    </>
  );
}
