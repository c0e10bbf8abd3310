import type { DeliveryRecord } from "../../../../types.ts";
import { Badge } from "../../../parts/bits.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Actions } from "../actions/actions.tsx";
import { markOfDelivery } from "../lines.ts";
import { Exchange } from "./exchange.tsx";
import { Loaded } from "./loaded.tsx";
import { EventLink, Moment } from "./parts.tsx";
import { useDelivery } from "./records.ts";
import { Why } from "./why.tsx";

/** One delivery, as it was sent and answered. */
export function DeliveryDetails({ id }: { readonly id: string }) {
  return (
    <Loaded live={useDelivery(id)}>
      {(delivery) => (
        <>
          <Summary delivery={delivery} />
          <Actions what={resendable(delivery)} bot={delivery.bot} />
          <Why {...delivery} body={delivery.response?.body ?? ""} />
          <DeliveryExchange delivery={delivery} />
        </>
      )}
    </Loaded>
  );
}

/** The bytes of the delivery, where all of them are known, else the events that were in it. */
function resendable({ request, eventIds }: DeliveryRecord) {
  if (request === null || request.truncated) return { eventIds };
  return { body: request.body };
}

function Summary({ delivery }: { readonly delivery: DeliveryRecord }) {
  const { tone, text } = markOfDelivery(delivery);
  const { at, ms, attempt, forced, fault, status, bot, eventIds } = delivery;
  return (
    <Facts
      of={[
        ["Outcome", <Badge tone={tone}>{text}</Badge>],
        ["Sent", <Moment at={at} />],
        ["Answered", status === null ? "no" : `with ${status} after ${ms} ms`],
        ["Attempt", forced ? `${attempt}, asked for, beside the schedule` : attempt],
        ["Fault", fault],
        ["To", `@${bot}`],
        ["Events", eventIds.map((id) => <EventLink key={id} id={id} />)],
      ]}
    />
  );
}

export function DeliveryExchange({ delivery }: { readonly delivery: DeliveryRecord }) {
  const { id, request, response } = delivery;
  return (
    <Exchange id={id} request={request} target={`POST ${request?.url ?? ""}`} response={response} />
  );
}
