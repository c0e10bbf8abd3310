import type { CallRecord } from "../../../../types.ts";
import { Badge } from "../../../parts/bits.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { markOfCall } from "../lines.ts";
import { Exchange } from "./exchange.tsx";
import { Loaded } from "./loaded.tsx";
import { EventLink, Moment } from "./parts.tsx";
import { useCall } from "./records.ts";

/** One request of a bot to the API, with its answer. */
export function CallDetails({ id }: { readonly id: string }) {
  return (
    <Loaded live={useCall(id)}>
      {(call) => (
        <>
          <Summary call={call} />
          <CallExchange call={call} />
        </>
      )}
    </Loaded>
  );
}

function Summary({ call }: { readonly call: CallRecord }) {
  const { tone, text } = markOfCall(call);
  const { at, ms, status, bot, fault, eventId, guessed } = call;
  const because = eventId && (
    <>
      <EventLink id={eventId} /> {guessed === true && <Guessed />}
    </>
  );
  return (
    <Facts
      of={[
        ["Outcome", <Badge tone={tone}>{text}</Badge>],
        ["Came", <Moment at={at} />],
        ["Answered", status === null ? "no" : `with ${status} after ${ms} ms`],
        ["From", bot && `@${bot}`],
        ["Fault", fault],
        ["Because of", because],
      ]}
    />
  );
}

/** The bot did not say for which event it calls. */
export function Guessed() {
  return (
    <span
      class="label"
      title="The bot did not say so: it is the newest event of this conversation or post."
    >
      guessed
    </span>
  );
}

export function CallExchange({ call }: { readonly call: CallRecord }) {
  const { id, method, request, response } = call;
  return (
    <Exchange id={id} request={request} target={`${method} ${request.url}`} response={response} />
  );
}
