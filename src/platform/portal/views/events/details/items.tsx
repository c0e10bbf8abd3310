import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { statusWords } from "../../../../timeline/words.ts";
import type { CallSummary, DeliverySummary } from "../../../../types.ts";
import { Badge, Time } from "../../../parts/bits.tsx";
import { markOfCall, markOfDelivery } from "../lines.ts";
import { CallExchange, Guessed } from "./call-details.tsx";
import { DeliveryExchange } from "./delivery-details.tsx";
import { Loaded } from "./loaded.tsx";
import { useCall, useDelivery } from "./records.ts";
import { Why } from "./why.tsx";

interface ItemProps {
  readonly summary: ComponentChildren;
  /** What is read when it is opened. */
  readonly children: () => ComponentChildren;
}

function Item({ summary, children }: ItemProps) {
  const [opened, setOpened] = useState(false);
  return (
    <details
      class="item"
      onToggle={(event) => {
        if (event.currentTarget.open) setOpened(true);
      }}
    >
      <summary>{summary}</summary>
      {opened && children()}
    </details>
  );
}

/** One try to deliver an event. */
export function DeliveryItem({ delivery }: { readonly delivery: DeliverySummary }) {
  const { id, at, attempt, forced, status, ms, fault } = delivery;
  const { tone, text } = markOfDelivery(delivery);
  return (
    <li>
      <Item
        summary={
          <>
            <Time at={at} /> <Badge tone={tone}>{text}</Badge>{" "}
            <span class="mono">{statusWords(status)}</span> {ms} ms, attempt {attempt}
            {forced && ", asked for"}{" "}
            {fault !== undefined && <Badge tone="warn">fault: {fault}</Badge>}
          </>
        }
      >
        {() => <DeliveryRecordView id={id} />}
      </Item>
      <Why {...delivery} />
    </li>
  );
}

function DeliveryRecordView({ id }: { readonly id: string }) {
  return (
    <Loaded live={useDelivery(id)}>{(delivery) => <DeliveryExchange delivery={delivery} />}</Loaded>
  );
}

/** A request that the bot made because of an event. */
export function CallItem({ call }: { readonly call: CallSummary }) {
  const { id, at, method, path, status, ms, fault, guessed } = call;
  const { tone, text } = markOfCall(call);
  return (
    <li>
      <Item
        summary={
          <>
            <Time at={at} /> <Badge tone={tone}>{text}</Badge>{" "}
            <span class="mono">
              {method} {path} {statusWords(status)}
            </span>{" "}
            {ms} ms {fault !== undefined && <Badge tone="warn">fault: {fault}</Badge>}{" "}
            {guessed === true && <Guessed />}
          </>
        }
      >
        {() => <CallRecordView id={id} />}
      </Item>
    </li>
  );
}

function CallRecordView({ id }: { readonly id: string }) {
  return <Loaded live={useCall(id)}>{(call) => <CallExchange call={call} />}</Loaded>;
}
