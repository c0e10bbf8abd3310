import { useEffect, useRef } from "preact/hooks";
import { CallDetails } from "./call-details.tsx";
import { DeliveryDetails } from "./delivery-details.tsx";
import { EntryDetails } from "./entry-details.tsx";
import { EventDetails } from "./event-details.tsx";

const sorts = [
  ["dlv_", "Delivery", DeliveryDetails],
  ["call_", "API call", CallDetails],
  ["seq_", "Entry", EntryDetails],
  ["", "Event", EventDetails],
] as const;

export interface DetailsProps {
  /** Of an event, a delivery, a call; `seq_7` is an entry that has no record of its own. */
  readonly id: string;
  readonly takesFocus: boolean;
  readonly onClose: () => void;
}

/** All that is known about what is open. */
export function Details({ id, takesFocus, onClose }: DetailsProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (takesFocus) heading.current?.focus();
    // Where it stands below the list, it is to be seen as well.
    heading.current?.scrollIntoView({ block: "start" });
  }, [takesFocus]);
  const [, sort, Content] = sorts.find(([prefix]) => id.startsWith(prefix)) ?? sorts[3];
  return (
    <section class="event-details card" aria-label="Details">
      <header>
        <h2 ref={heading} tabIndex={-1}>
          {sort} <span class="mono">{id}</span>
        </h2>
        <button type="button" class="quiet" aria-keyshortcuts="Escape" onClick={onClose}>
          Close
        </button>
      </header>
      <Content id={id} />
    </section>
  );
}
