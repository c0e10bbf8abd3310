import type { DeliveryContent } from "../../types.ts";
import { control } from "../api/control.ts";
import { say } from "../parts/toast.tsx";
import { isRepeat, reasonOf } from "./body.ts";

/** @param bot default: the selected bot */
export async function sendAgain(what: DeliveryContent, bot?: string): Promise<void> {
  const deliveries = await control.deliver(what, bot);
  for (const { id, status, ms, error } of deliveries) {
    const { response } = await control.delivery(id);
    const answer = status === null ? "no response" : `${status} in ${ms} ms`;
    if (error !== undefined)
      say(`Delivery failed: ${answer}, ${reasonOf(response?.body) ?? error}`, "bad");
    else if (isRepeat(response?.body))
      say(`The bot recognized the delivery as a duplicate, so no handler ran: ${answer}.`);
    else say(`Delivered: ${answer}.`);
  }
}
