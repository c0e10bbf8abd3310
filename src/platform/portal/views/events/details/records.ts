import type { CallRecord, DeliveryRecord } from "../../../../types.ts";
import { control } from "../../../api/control.ts";
import { type Live, useLive } from "../../../live/use-live.ts";

/** A record never changes: it is read again only where everything else is. */
const once = { concerns: () => false } as const;

export function useDelivery(id: string): Live<DeliveryRecord> {
  return useLive(() => control.delivery(id), { key: id, ...once });
}

export function useCall(id: string): Live<CallRecord> {
  return useLive(() => control.call(id), { key: id, ...once });
}
